package servertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"filewise/engine/internal/innodb"
)

// Sever has the server end the connections that there are and that work in the
// database, or load it, and waits until they are gone: of one that is just busy the
// list of processes does not tell the database, so it is looked at until it is empty.
func Sever(ctx context.Context, db *sql.DB, database string) error {
	var newest int64
	if err := db.QueryRowContext(ctx, "SELECT MAX(ID) FROM information_schema.PROCESSLIST").Scan(&newest); err != nil {
		return err
	}
	for looks := 0; ; looks++ {
		ids, err := connectionsOf(ctx, db, database, newest)
		switch {
		case err != nil:
			return err
		case len(ids) == 0 && looks == 0:
			return errors.New("there is no connection to sever")
		case len(ids) == 0:
			return nil
		}
		for _, id := range ids {
			_, err := db.ExecContext(ctx, fmt.Sprintf("KILL CONNECTION %d", id))
			if n, _ := innodb.Number(err); err != nil && n != innodb.ErrNoThread {
				return err
			}
		}
	}
}

// connectionsOf are the numbers of those connections, up to the newest.
func connectionsOf(ctx context.Context, db *sql.DB, database string, newest int64) ([]int64, error) {
	rows, err := db.QueryContext(ctx, "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <= ? AND ID <> CONNECTION_ID() AND (DB = ? OR INFO LIKE 'LOAD DATA%')", newest, database)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
