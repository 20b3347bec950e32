package servertest

import (
	"context"
	"database/sql"
	"errors"

	"filewise/engine/innodb/dialect"
)

// Sever has the server end the present connections that work in the database or load it, and waits until they are gone.
// The process list does not report the database of a connection that is just busy, so Sever looks again until the list
// is empty.
func Sever(ctx context.Context, db *sql.DB, database string) error {
	var newest int64
	if err := db.QueryRowContext(ctx, "SELECT MAX(ID) FROM information_schema.PROCESSLIST").Scan(&newest); err != nil {
		return err
	}
	for looks := 0; ; looks++ {
		ids, err := dialect.Column(ctx, db, "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <= ? AND ID <> CONNECTION_ID() AND "+
			"(DB = ? OR INFO LIKE 'LOAD DATA%')", newest, database)
		switch {
		case err != nil:
			return err
		case len(ids) == 0 && looks == 0:
			return errors.New("there is no connection to sever")
		case len(ids) == 0:
			return nil
		}
		for _, id := range ids {
			_, err := db.ExecContext(ctx, "KILL CONNECTION "+id)
			if n, _ := dialect.Number(err); err != nil && n != dialect.ErrNoThread {
				return err
			}
		}
	}
}
