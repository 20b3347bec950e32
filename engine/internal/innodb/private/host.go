package private

import (
	"database/sql"

	"filewise/engine/internal/innodb"
)

// Link is the running server. With Pool and Touched it makes an instance an
// innodb.Host.
func (i *instance) Link() (innodb.Link, error) {
	p, control, err := i.running()
	if err != nil {
		return innodb.Link{}, err
	}
	return innodb.Link{Control: control, Alive: p.Died, Explain: func(err error) error { return i.why(p, err) }}, nil
}

// Pool opens the connection of a session.
func (i *instance) Pool() *sql.DB { return i.pool(Database) }

// Touched: what was settled is so no longer.
func (i *instance) Touched() { i.settled.Store(false) }
