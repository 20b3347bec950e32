package workload

import (
	"context"
	"fmt"
	"strings"

	"filewise"
)

// SectionCheck is the section of an engine's inserts.sql that returns, for each
// table of each file, the number of rows and the sum over them of the CRC-32
// (IEEE) of "id,payload", absent (NULL) where there are no rows; or, behind "md5:", that
// of the first 32 bits of its MD5.
const SectionCheck = "check"

// NewInserts makes the workload of scenario inserts: rows of a key and a
// payload, from a number of connections, a transaction every so many rows.
func NewInserts(p Params, seed uint64) (filewise.Workload, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &inserts{params: p, rows: newRows(p, seed)}, nil
}

// FamilyInserts is the family of workload inserts.
const FamilyInserts = "inserts"

type inserts struct {
	params Params
	rows   *rows
}

// Program describes the workload to an engine. Params has what the servers need that
// generate the rows themselves.
func (w *inserts) Program() filewise.Program {
	return filewise.Program{
		Workload: "inserts",
		Phases: []filewise.Phase{{
			Family: FamilyInserts, Unit: "rows", Section: opInsert, Appends: true,
			Connections: w.params.Connections, CommitEvery: w.params.CommitEvery,
			OpBytes: int64(w.params.RowBytes), Limit: w.rows.limit(), Args: w.rows,
		}},
		// A transaction that such a failure ended has left nothing, and the session
		// says how many before it are committed: the next one is tried again, whole.
		Retry: []filewise.Class{filewise.ClassDeadlock, filewise.ClassSerialization},
		Params: insertsParams{
			Table: w.params.Table, Key: w.params.Key, RowBytes: w.params.RowBytes, Connections: w.params.Connections,
			CommitEvery: w.params.CommitEvery, Modulus: Modulus, A: w.rows.a, B: w.rows.b, PoolSpan: PoolSpan, PoolBytes: len(w.rows.pool),
		},
		Tables: []filewise.Table{{
			Name: "rows", Columns: []string{"id", "payload"}, Key: []string{"id"}, RowBytes: int64(w.params.RowBytes),
			PerConnection: w.params.Table == TablePerConnection, RandomKeys: w.params.Key == KeyRandom,
		}},
	}
}

// insertsParams are the parameters, and the constants of the generator.
type insertsParams struct {
	Table, Key                         string
	RowBytes, Connections, CommitEvery int
	Modulus, A, B, PoolSpan            int64
	PoolBytes                          int
}

// Check compares the number of rows and their checksum with what the ledger's
// rows should have left.
func (w *inserts) Check(ctx context.Context, q filewise.Querier, phase int, ledgers []filewise.Ledger) error {
	if err := onePhase(phase, ledgers); err != nil {
		return err
	}
	l := ledgers[0]
	if len(l) != w.params.Connections {
		return fmt.Errorf("the ledger has %d connections, the workload %d", len(l), w.params.Connections)
	}
	for c, n := range l {
		if n < 0 || n > w.rows.limit() {
			return fmt.Errorf("the ledger has %d rows of connection %d, which can have 0 to %d", n, c, w.rows.limit())
		}
	}
	found, err := readSum(ctx, q)
	if err != nil {
		return err
	}
	want, err := w.rows.sum(ctx, l, found.md5)
	if err != nil {
		return err
	}
	if found != want {
		return fmt.Errorf("%w: %d rows were committed, their checksum is %d; found %d rows, checksum %d",
			filewise.ErrCheck, want.rows, want.digest, found.rows, found.digest)
	}
	return nil
}

// readSum adds up what section check returns for every table and file.
func readSum(ctx context.Context, q filewise.Querier) (sum, error) {
	var total sum
	read := func(v any) (int64, error) {
		if b, ok := v.([]byte); ok {
			v = string(b)
		}
		if s, ok := v.(string); ok && strings.HasPrefix(s, md5Mark) {
			total.md5 = true
			if v = s[len(md5Mark):]; v == "" { // the sum over no row
				return 0, nil
			}
		}
		return whole(v)
	}
	result, err := answer{section: SectionCheck, names: []string{"rows", "checksum"}, sums: 1, read: read}.ask(ctx, q)
	for _, v := range result {
		total.rows += v[0]
		total.digest += uint64(v[1])
	}
	return total, err
}
