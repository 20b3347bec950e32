package dialect

import (
	"database/sql"

	"filewise/internal/exchange"
)

// Host is a server that a program's sessions and queries go to: a managed one, or
// one by URL.
type Host interface {
	// Link is the server as it runs now; an error when it is stopped or has died.
	Link() (Link, error)
	// Pool opens the one connection of a session, with the schema's database as the
	// current one. The session closes it.
	Pool() *sql.DB
	// Touched is called before and after work of a session: what was settled is so
	// no longer.
	Touched()
}

// Link is a running server.
type Link struct {
	// Control are a few connections that all sessions share: to interrupt, to look
	// up, to check.
	Control *sql.DB
	// Explain adds to an error of talking to the server what it means and what can
	// be done; it hides secrets. nil stays nil.
	Explain func(error) error
	// Alive explains why the server that the link was made to is gone. If nil, it is not,
	// or that cannot be found out.
	Alive func() error
	// Busy returns how many of the server's threads run or wait for a device; nil of a server elsewhere.
	Busy func() (int, error)
}

// Dialing has the driver's connections made cheap. Their protocol allows it: the
// server answers each command, except for the closing of a statement or of the connection,
// which can wait for the next one (MariaDB's and MySQL's client/server protocol,
// “Command phase”).
func Dialing(dial exchange.Dial) exchange.Dial { return exchange.Dialing(dial, true) }
