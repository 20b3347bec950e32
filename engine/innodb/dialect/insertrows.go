package dialect

import (
	"context"
	"database/sql"

	"filewise"
	"filewise/engine/internal/insertrows"
)

// sendInserts inserts a batch by prepared statements of many rows, for servers
// that take no file of the client's.
func (b *Bulk) sendInserts(ctx context.Context, conn *sql.Conn, t filewise.TableData, batch int64) error {
	table, err := b.table(t)
	if err != nil {
		return err
	}
	var many *sql.Stmt
	defer func() {
		if many != nil {
			_ = many.Close() // ends with its connection at the latest
		}
	}()
	return insertrows.Load(t, batch, table+" "+columnList(t.Columns), func(statement string, values []any) (err error) {
		if many == nil {
			if many, err = conn.PrepareContext(ctx, statement); err != nil { //nolint:sqlclosecheck // the function above closes it
				return err
			}
		}
		_, err = many.ExecContext(ctx, values...)
		return err
	}, func(statement string, values []any) error {
		_, err := conn.ExecContext(ctx, statement, values...)
		return err
	})
}
