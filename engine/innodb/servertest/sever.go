package servertest

import (
	"context"
	"database/sql"
	"errors"

	"filewise/engine/innodb/dialect"
)

// Sever has the server end the connections that there are and that work in the
// database, or load it, and waits until they are gone: of one that is just busy the
// list of processes does not report the database, so it is looked at until it is empty.
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
