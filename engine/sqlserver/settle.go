package sqlserver

import (
	"context"
	"fmt"
	"hash/crc32"
	"strconv"

	mssql "github.com/microsoft/go-mssqldb"

	"filewise"
	"filewise/engine/internal/sqlrows"
	"filewise/workload"
)

// varCharMax is a parameter of one byte a letter.
func varCharMax(text string) any { return mssql.VarCharMax(text) }

type settler struct{ build *build }

// Settle writes everything dirty of our database to its files, which the server
// opens write-through: CHECKPOINT returns when they are written.
func (s settler) Settle(ctx context.Context) error {
	d := s.build.design
	text, err := d.batch("settle", d.vars())
	if err != nil {
		return err
	}
	if err := exec(ctx, s.build.inside, text); err != nil {
		return s.build.server.login.explain(fmt.Errorf("checkpoint: %w", err))
	}
	return nil
}

type querier struct{ build *build }

// Query runs a section of the workload. T-SQL has no CRC-32: for section check the
// rows themselves are read, and counted and summed here.
func (q querier) Query(ctx context.Context, section string) ([][]any, error) {
	d := q.build.design
	if !sections[d.program.Workload].Has(section) {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "section %q: %w", section, filewise.ErrUnsupported)
	}
	statements, err := d.batches(section, d.ofWorker(0))
	if err != nil {
		return nil, err
	}
	var all [][]any
	for _, statement := range statements {
		if section == workload.SectionCheck && !d.phased() {
			var rows, crc int64
			if rows, crc, err = q.sum(ctx, statement); err == nil {
				all = append(all, []any{rows, crc})
			}
		} else {
			var found [][]any
			found, err = q.rows(ctx, statement)
			all = append(all, found...)
		}
		if err != nil {
			return nil, q.build.server.login.explain(fmt.Errorf("%s: %w", short(statement), err))
		}
	}
	return all, nil
}

// sum reads a table and returns its rows and the sum of the CRC-32 (IEEE) of
// "id,payload" over them, as package workload wants them.
func (q querier) sum(ctx context.Context, statement string) (n, total int64, err error) {
	rows, err := q.build.inside.QueryContext(ctx, statement)
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close()
	var id int64
	var payload string
	var line []byte
	for rows.Next() {
		if err := rows.Scan(&id, &payload); err != nil {
			return 0, 0, err
		}
		line = append(strconv.AppendInt(line[:0], id, 10), ',')
		line = append(line, payload...)
		n++
		total += int64(crc32.ChecksumIEEE(line))
	}
	return n, total, rows.Err()
}

func (q querier) rows(ctx context.Context, statement string) ([][]any, error) {
	return sqlrows.Query(ctx, q.build.inside, statement)
}
