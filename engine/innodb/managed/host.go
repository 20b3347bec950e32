package managed

import (
	"database/sql"

	"filewise/engine/innodb/dialect"
)

// Link is the running server. With Pool and Touched it makes an instance an
// dialect.Host.
func (i *instance) Link() (dialect.Link, error) {
	p, control, err := i.running()
	if err != nil {
		return dialect.Link{}, err
	}
	return dialect.Link{Control: control, Alive: p.Died, Explain: func(err error) error { return i.why(p, err) }}, nil
}

// Pool opens the connection of a session.
func (i *instance) Pool() *sql.DB { return i.pool(Database) }

// Touched: what was settled is so no longer.
func (i *instance) Touched() { i.settled.Store(false) }
