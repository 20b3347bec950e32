package dialect

import (
	"database/sql"

	"filewise/internal/exchange"
)

// Host is the managed or external server to which a program's sessions and queries go.
type Host interface {
	// Link returns the running server, or an error if the server is stopped or has died.
	Link() (Link, error)
	// Pool returns a pool for a session's only connection, with the schema's database as the current one. The session
	// closes the pool.
	Pool() *sql.DB
	// Touched is called before and after a session's work, because what was settled no longer is.
	Touched()
}

// Link is a running server.
type Link struct {
	// Control is a pool of a few connections that all sessions share, for interrupts, look-ups and checks.
	Control *sql.DB
	// Explain adds to an error what it means and what to do, and hides secrets. Of nil it returns nil.
	Explain func(error) error
	// Alive returns an error if the server that the link was made to is gone. It returns nil if the server runs, or if
	// that cannot be found out.
	Alive func() error
	// Busy returns how many of the server's threads run or wait for a device. It is nil if the server is elsewhere.
	Busy func() (int, error)
}

// Dialing makes the driver's connections cheaper. The protocol allows that: the server answers each command, except
// closing a statement or the connection. Such a command can be held back and sent with the next one (MariaDB's and
// MySQL's client/server protocol, “Command phase”).
func Dialing(dial exchange.Dial) exchange.Dial { return exchange.Dialing(dial, true) }
