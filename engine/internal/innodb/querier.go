package innodb

import (
	"context"
	"filewise/engine/internal/sqlfile"
	"filewise/engine/internal/sqlrows"
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
	var statements []string
	if q.Schema.Program.Own != nil {
		statements, err = q.queryOwn(section)
	} else {
		statements, err = q.Schema.Statements(section, q.Schema.Tables[0])
	}
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
		rows, err := sqlrows.Query(ctx, conn, s)
		if err != nil {
			return nil, Classify(link.Explain(fmt.Errorf("%s: %w", sqlfile.Short(s), err)))
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
			return Classify(l.Explain(fmt.Errorf("%s: %w", sqlfile.Short(s), err)))
		}
	}
	return nil
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
