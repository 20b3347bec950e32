// Package result reads SQL Server's results by column name.
package result

import (
	"context"
	"strconv"

	"filewise/engine/internal/sqlrows"
)

// Row is one row of a result.
type Row map[string]any

// Text returns a text, or "" for NULL.
func (r Row) Text(name string) string {
	switch v := r[name].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

// Number returns a whole number; ok is false for NULL.
func (r Row) Number(name string) (n int64, ok bool) {
	n, ok = r[name].(int64)
	return n, ok
}

// Int returns a whole number, or 0 for NULL.
func (r Row) Int(name string) int64 {
	n, _ := r.Number(name)
	return n
}

// Whole returns a whole number that the server can send as numeric.
func (r Row) Whole(name string) (int64, bool) {
	if n, ok := r.Number(name); ok {
		return n, true
	}
	n, err := strconv.ParseInt(r.Text(name), 10, 64)
	return n, err == nil
}

// Yes reports whether a column is 1.
func (r Row) Yes(name string) bool { return r.Int(name) == 1 }

// Query returns a statement's rows. It always reads them all: if a result is closed early, the driver cancels the
// statement on the server.
func Query(ctx context.Context, on sqlrows.Querier, statement string, args ...any) ([]Row, error) {
	var all []Row
	err := sqlrows.Each(ctx, on, func(columns []string, values []any) {
		r := Row{}
		for i, name := range columns {
			r[name] = values[i]
		}
		all = append(all, r)
	}, statement, args...)
	return all, err
}
