package innodb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"filewise"
)

// Querier runs sections of a workload's SQL. It implements filewise.Querier.
type Querier struct {
	Host   Host
	Schema Schema
}

// Query runs a section of the workload's SQL, for all tables.
func (q Querier) Query(ctx context.Context, section string) ([][]any, error) {
	link, err := q.Host.Link()
	if err != nil {
		return nil, err
	}
	statements, err := q.Schema.Statements(section, q.Schema.Tables[0])
	if err != nil {
		return nil, err
	}
	conn, err := link.Control.Conn(ctx)
	if err != nil {
		return nil, link.Explain(err)
	}
	defer conn.Close()
	var all [][]any
	for _, s := range statements {
		rows, err := readRows(ctx, conn, s)
		if err != nil {
			return nil, link.Explain(fmt.Errorf("%s: %w", Short(s), err))
		}
		all = append(all, rows...)
	}
	return all, nil
}

// Exec executes statements one after the other on one control connection.
func (l Link) Exec(ctx context.Context, statements ...string) error {
	conn, err := l.Control.Conn(ctx)
	if err != nil {
		return l.Explain(err)
	}
	defer conn.Close()
	for _, s := range statements {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return l.Explain(fmt.Errorf("%s: %w", Short(s), err))
		}
	}
	return nil
}

// readRows reads a statement's rows; texts and decimals are strings.
func readRows(ctx context.Context, conn *sql.Conn, statement string) ([][]any, error) {
	rows, err := conn.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var all [][]any
	for rows.Next() {
		row := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				row[i] = string(b)
			}
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// Short is a statement's beginning, for messages.
func Short(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if len(line) > 100 {
		line, more = line[:100], true
	}
	if more {
		line += " …"
	}
	return line
}

// ShortenPool cuts the long text of a statement that payloads are cut from.
func ShortenPool(statement string) string {
	const keep = 40
	from := strings.Index(statement, "CONVERT('")
	to := strings.LastIndex(statement, "'")
	if from < 0 || to-from < 2*keep+9 {
		return statement
	}
	return statement[:from+9+keep] + "…" + statement[to:]
}

var (
	_ filewise.Querier   = Querier{}
	_ filewise.Connector = Connector{}
)
