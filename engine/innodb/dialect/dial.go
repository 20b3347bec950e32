package dialect

import "filewise/internal/exchange"

// Dialing has the driver's connections made cheap. Their protocol allows it: the
// server answers each command, but for the closing of a statement or of the connection,
// which may wait for the next one (MariaDB's and MySQL's client/server protocol,
// “Command phase”).
func Dialing(dial exchange.Dial) exchange.Dial { return exchange.Dialing(dial, true) }
