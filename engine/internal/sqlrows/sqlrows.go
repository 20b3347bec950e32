// Package sqlrows reads the rows of a database/sql query, whatever its columns.
package sqlrows

import (
	"context"
	"database/sql"
)

// Querier is implemented by *sql.DB, *sql.Conn and *sql.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Query returns all rows of a query. Texts and decimals, which drivers return as bytes, become strings.
func Query(ctx context.Context, on Querier, query string, args ...any) ([][]any, error) {
	var all [][]any
	err := Each(ctx, on, func(_ []string, values []any) {
		for i, v := range values {
			if b, ok := v.([]byte); ok {
				values[i] = string(b)
			}
		}
		all = append(all, values)
	}, query, args...)
	return all, err
}

// Each calls row with every row of a query, as the driver returns it, and with the columns' names.
func Each(ctx context.Context, on Querier, row func(columns []string, values []any), query string, args ...any) error {
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	var limit Limit
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := limit.Row(values...); err != nil {
			return err
		}
		row(columns, values)
	}
	return rows.Err()
}
