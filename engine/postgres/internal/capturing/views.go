package capturing

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
	"filewise/engine/postgres/internal/client"
)

// throughView copies to a view's columns the facts of the table columns that they show, because the server has no
// statistics of views. It learns those columns from a statement that the server prepares.
func (w *watcher) throughView(ctx context.Context, quoted string, columns []filewise.ColumnFacts, withhold func(string) bool) error {
	var definition string
	if err := w.link.Scan(ctx, "SELECT pg_get_viewdef(to_regclass($1))", []any{quoted}, &definition); err != nil {
		return err
	}
	var fields []pgconn.FieldDescription
	if err := w.link.With(ctx, func(conn *pgx.Conn) error {
		told, err := conn.PgConn().Prepare(ctx, "", definition, nil)
		if err == nil {
			fields = told.Fields
		}
		return w.link.Done(ctx, definition, err)
	}); err != nil {
		return err
	}
	shown := map[uint32]filewise.TableFacts{}
	for i, f := range fields[:min(len(fields), len(columns))] {
		c := &columns[i]
		c.View = true
		rows, err := w.link.Rows(ctx, "SELECT attrelid::regclass::text, attname::text FROM pg_attribute WHERE attrelid = $1 AND attnum = $2",
			f.TableOID, int16(f.TableAttributeNumber))
		if err != nil {
			return err
		}
		if len(rows) == 0 { // the column is an expression
			continue
		}
		if _, is := shown[f.TableOID]; !is {
			if shown[f.TableOID], err = w.tableOf(ctx, client.Text(rows[0][0]), withhold); err != nil {
				return err
			}
		}
		of := shown[f.TableOID].Columns
		at := slices.IndexFunc(of, func(o filewise.ColumnFacts) bool { return o.Name == client.Text(rows[0][1]) })
		if at < 0 {
			continue
		}
		name := c.Name
		*c = of[at]
		if c.Name, c.View = name, true; withhold(name) && !c.Closed {
			c.Low, c.High, c.Common, c.Shares = "", "", nil, nil
		}
	}
	return nil
}
