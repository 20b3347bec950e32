package sqlserver

import (
	"context"
	"database/sql"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"filewise"
	"filewise/engine/internal/script"
	"filewise/engine/internal/sqlrows"
	"filewise/engine/sqlserver/dialect"
	"filewise/lab/workload"
)

// varCharMax returns a parameter with one byte per letter.
func varCharMax(text string) any { return mssql.VarCharMax(text) }

// Settle writes all dirty pages of the build's database to its files. The server opens these write-through, and
// CHECKPOINT returns when the pages are written.
func (b *build) Settle(ctx context.Context) error {
	if err := b.steps.At(filewise.StageSettle).Of("settle").Run(ctx, b.do); err != nil {
		return b.server.login.explain(fmt.Errorf("checkpoint: %w", err))
	}
	return nil
}

// Cool removes the build's pages from the buffer pool. Filewise's own sessions, the keeper's too, leave the database
// for that and return. So Cool is completed once begun, even if the context ends.
func (b *build) Cool(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := b.server.mayCool(b.design.program); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), coolPatience)
	defer cancel()
	b.away()
	cool := func(ctx context.Context, x script.Step) error {
		return b.server.insist(ctx, x.Text, "emptying the buffer pool of "+b.design.name,
			"ALTER DATABASE "+dialect.Ident(b.design.name)+" SET ONLINE")
	}
	if err := b.steps.Of("cool").Run(ctx, cool); err != nil {
		return err
	}
	return b.steps.At(filewise.StageBuild).Of("keep").Run(ctx, b.do)
}

// cools reports whether a program takes its build offline and online, to empty the buffer pool of its pages or to time
// that.
func cools(p filewise.Program) bool {
	return p.Cycles || slices.ContainsFunc(p.Phases, func(p filewise.Phase) bool { return p.Cache == filewise.CacheBufferCold })
}

// mayCool returns an error if the build would stay offline. SET OFFLINE needs ALTER on the database, which its owner
// has. SET ONLINE needs ALTER ANY DATABASE on the server ("ALTER DATABASE SET options", permissions).
func (s *externalServer) mayCool(p filewise.Program) error {
	if !cools(p) || s.may.online {
		return nil
	}
	return unsupported(grantTo(grantOnline, s.identity.login), "the account may not bring a database back online, so the buffer pool "+
		"cannot be emptied")
}

// coolPatience limits going offline and online, including recovery.
const coolPatience = 2 * time.Minute

// away closes the build's idle sessions.
func (b *build) away() {
	b.server.idle.end(b)
	b.mu.Lock()
	keeper := b.keeper
	b.keeper = nil
	b.mu.Unlock()
	if keeper != nil {
		_ = keeper.Close()
	}
	for pool, idle := range map[*sql.DB]int{b.inside: insides, b.loader: loaders()} {
		if pool != nil {
			pool.SetMaxIdleConns(0)
			pool.SetMaxIdleConns(idle)
		}
	}
}

// Query runs a section of the workload. T-SQL has no CRC-32, so for section check the rows are read, counted and summed
// here.
func (b *build) Query(ctx context.Context, section string) ([][]any, error) {
	d := b.design
	statements, err := d.queryOf(section)
	if err != nil {
		return nil, err
	}
	var all [][]any
	for _, statement := range statements {
		if section == workload.SectionCheck && d.program.Appends() {
			var rows, crc int64
			if rows, crc, err = b.sum(ctx, statement); err == nil {
				all = append(all, []any{rows, crc})
			}
		} else {
			var found [][]any
			found, err = sqlrows.Query(ctx, b.inside, statement)
			all = append(all, found...)
		}
		if err != nil {
			return nil, b.server.login.explain(fmt.Errorf("%s: %w", short(statement), err))
		}
	}
	return all, nil
}

// queryOf returns the statements of a querying section.
func (d *design) queryOf(section string) ([]string, error) {
	switch {
	case d.custom():
		return d.queryCustom(section)
	case !sections[d.program.SQL()].Has(section):
		return nil, filewise.Errorf(filewise.CodeInternal, "", "section %q: %w", section, filewise.ErrUnsupported)
	}
	return d.batches(section, d.ofWorker(0))
}

// sum reads a table and returns the number of rows, and the sum over them of the CRC-32 (IEEE) of "id,payload", as
// package workload needs.
func (b *build) sum(ctx context.Context, statement string) (n, total int64, err error) {
	rows, err := b.inside.QueryContext(ctx, statement)
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
