package workload

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"filewise"
)

// Row k (from 1) of the workload dml follows from the seed and k alone:
//
//	x            = ((k mod P) × A + B) mod P     P = Modulus = 2^31 − 1
//	random_int   = x, after an update P − 1 − x
//	random_float = (x mod 2^20) / 2^20           exact in binary floating point
//
// In a phase with C connections, operation i of connection w is on row i × C + w + 1. There may be more selects than
// rows, so selects are on row (i × C + w) mod rows + 1.
const floatSteps = 1 << 20

// The operations of dml, which are also names of its sections.
const (
	opInsert = "insert"
	opSelect = "select"
	opUpdate = "update"
	opDelete = "delete"
)

var dmlOps = []string{opInsert, opSelect, opUpdate, opDelete}

// NewDML returns the workload of scenario dml: single-row inserts, selects, updates and deletes by key, each a separate
// phase. One process runs them in a loop on the server with a commit per row. Then concurrent connections run them,
// with a client that sends each statement. The sections of an engine's dml.sql are tables, check, and for each
// operation "call", "statement" and "committed".
func NewDML(p Params, seed uint64) (filewise.Workload, error) {
	if err := p.validateDML(); err != nil {
		return nil, err
	}
	base := newRows(Params{Connections: 1, RowBytes: 1}, seed)
	w := &dml{params: p, a: base.a, b: base.b}
	if p.Mode != ModeConcurrent {
		w.add("", 1, false)
	}
	if p.Mode != ModeSingle {
		w.add(concurrently, p.Connections, true)
	}
	return w, nil
}

type dml struct {
	params Params
	a, b   int64
	phases []filewise.Phase
}

// add adds the four phases of one process, or of concurrent connections.
func (w *dml) add(prefix string, connections int, client bool) {
	for _, op := range dmlOps {
		ops := w.rows(client)
		switch {
		case op == opSelect && !client && w.params.Selects > 0:
			ops = w.params.Selects
		case op == opSelect: // selects commit nothing and would end at once
			ops *= int64(max(w.params.Repeat, 1))
		}
		w.phases = append(w.phases, w.params.paced(filewise.Phase{
			Operation: prefix + op, Unit: "rows", Section: op, Connections: connections, CommitEvery: 1,
			Ops: ops, OpBytes: dmlRowBytes, Client: client,
			PerStatement: client && w.params.Connect == ConnectPerStatement,
			Args:         dmlArgs{w, op, int64(connections), w.rows(client)},
		}, filewise.MeanLatency, filewise.P99Latency))
	}
}

// dmlRowBytes is the payload of a row in bytes: an integer and a double of 8 bytes each.
const dmlRowBytes = 16

// dmlStoredBytes is about what a row takes in a page, with its header: SQL Server 25 bytes, InnoDB 40, PostgreSQL 52.
const dmlStoredBytes = 2 * dmlRowBytes

// Program describes the workload to an engine.
func (w *dml) Program() filewise.Program {
	return filewise.Program{
		Workload: "dml", WorkBytes: w.params.Rows * dmlRowBytes, Phases: w.phases,
		Params: dmlParams{Modulus, w.a, w.b, floatSteps, w.params.Rows, w.params.Index == IndexKey, w.params.Published},
		Tables: []filewise.Table{w.table()},
	}
}

type dmlParams struct {
	Modulus, A, B, FloatSteps, Rows int64
	Index, Published                bool
}

func (w *dml) table() filewise.Table {
	t := filewise.Table{Name: "dml", Columns: []string{"key", "random_int", "random_float"}, Rows: w.params.Rows, RowBytes: dmlRowBytes}
	if w.params.Index == IndexKey {
		t.Key = []string{"key"}
	}
	return t
}

func (w *dml) value(key int64) int64 { return (key%Modulus*w.a + w.b) % Modulus }

// dmlArgs generates the arguments of one operation.
type dmlArgs struct {
	w           *dml
	op          string
	connections int64
	rows        int64
}

// rows returns the number of rows of the one process, or of the concurrent part.
func (w *dml) rows(client bool) int64 {
	if client {
		return cmp.Or(w.params.Concurrent, w.params.Rows)
	}
	return w.params.Rows
}

// Args appends the key, and the values that the statement writes.
func (d dmlArgs) Args(dst []any, worker int, i int64) []any {
	key := i*d.connections + int64(worker) + 1
	x := d.w.value(key)
	switch d.op {
	case opInsert:
		return append(dst, key, x, float64(x%floatSteps)/floatSteps)
	case opUpdate:
		return append(dst, key, Modulus-1-x)
	case opSelect:
		return append(dst, (key-1)%d.rows+1)
	}
	return append(dst, key)
}

// Pool returns "", because rows are computed.
func (dmlArgs) Pool() string { return "" }

// Check compares the table with what the phases so far should have left.
func (w *dml) Check(ctx context.Context, q filewise.Querier, phase int, ledgers []filewise.Ledger) error {
	if err := phaseOf(phase, len(w.phases), ledgers); err != nil {
		return err
	}
	ops := phase % len(dmlOps)
	inserted := ledgers[phase-ops]
	want := w.left(opInsert, inserted)
	if ops >= 2 {
		want = want.minus(w.left(opInsert, ledgers[phase-ops+2])).plus(w.left(opUpdate, ledgers[phase-ops+2]))
	}
	if ops == 3 {
		want = want.minus(w.left(opUpdate, ledgers[phase]))
	}
	if err := w.compare(ctx, q, want); err != nil {
		return fmt.Errorf("after %s: %w", w.phases[phase].Operation, err)
	}
	return nil
}

// dmlSum is an order-independent checksum of rows.
type dmlSum struct{ rows, keys, ints, floats int64 }

func (s dmlSum) plus(o dmlSum) dmlSum {
	return dmlSum{s.rows + o.rows, s.keys + o.keys, s.ints + o.ints, s.floats + o.floats}
}

func (s dmlSum) minus(o dmlSum) dmlSum {
	return dmlSum{s.rows - o.rows, s.keys - o.keys, s.ints - o.ints, s.floats - o.floats}
}

// left returns the checksum of the rows that a ledger's operations have inserted, or of their updated state.
func (w *dml) left(op string, l filewise.Ledger) dmlSum {
	var s dmlSum
	for worker, n := range l {
		for i := range n {
			key := i*int64(len(l)) + int64(worker) + 1
			x := w.value(key)
			v := x
			if op == opUpdate {
				v = Modulus - 1 - x
			}
			s = s.plus(dmlSum{1, key, v, x % floatSteps})
		}
	}
	return s
}

func (w *dml) compare(ctx context.Context, q filewise.Querier, want dmlSum) error {
	result, err := answer{section: SectionCheck, names: []string{"rows", "keys", "integers", "floats"}, sums: 1}.ask(ctx, q)
	if err != nil {
		return err
	}
	var got dmlSum
	for _, v := range result {
		got = got.plus(dmlSum{v[0], v[1], v[2], v[3]})
	}
	if got != want {
		return fmt.Errorf("%w: found %+v (rows, sums of keys, integers, floats × 2^20), expected %+v", filewise.ErrCheck, got, want)
	}
	return nil
}

// maxDMLRows bounds the number of rows, so that every checksum stays below 2^63.
const maxDMLRows = math.MaxInt32

func (p Params) validateDML() error {
	if p.Connections < 1 || p.Connections > MaxConnections {
		return filewise.Errorf(filewise.CodeUsage, within("--connections", p.Connections, MaxConnections),
			"--connections %d is not between 1 and %d", p.Connections, MaxConnections)
	}
	if p.Rows < int64(p.Connections) || p.Rows > maxDMLRows {
		return filewise.Errorf(filewise.CodeUsage, "give each connection at least one row",
			"--rows %d is not between %d (the connections) and %d", p.Rows, p.Connections, maxDMLRows)
	}
	if p.Repeat < 0 || p.Repeat > 1000 {
		return filewise.Errorf(filewise.CodeUsage, "give 1 to 1000", "--repeat %d: out of range", p.Repeat)
	}
	if err := oneOf("--mode", p.Mode, ModeSingle, ModeConcurrent, ModeBoth); err != nil {
		return err
	}
	if err := oneOf("--connect", p.Connect, ConnectPooled, ConnectPerStatement); err != nil {
		return err
	}
	if err := oneOf("--index", p.Index, IndexNone, IndexKey); err != nil {
		return err
	}
	return p.validateRate()
}

// phasedBudget suffices for several blocks of trials with many phases on a server.
const phasedBudget = 5 * time.Minute

// IndexedRepeat is the number of times that each row is selected if an index finds it. A select is then some four times
// as fast as one that reads all rows.
const IndexedRepeat = 20

// dmlScenario returns the scenario that repeats Echeverria's experiment. As published, the table has no index, so
// finding a row by its key reads all rows. That is why few rows are the default.
func dmlScenario() Scenario {
	return Scenario{
		Name:  "dml",
		Title: "Inserts, selects, updates and deletes of single rows, by number of data files",
		Summary: "One process inserts rows, then selects, updates and deletes each by its key, in a loop on the server with a commit per row; " +
			"then concurrent connections do the same, each statement sent by the client. " +
			"Each of the eight is measured by itself, in rows per second.",
		Source: Source{
			Author: "Pablo Echeverria", Title: "Performance Improvement with Multiple Database Files for SQL Server and Oracle",
			Where: "MSSQLTips", Year: 2022,
		},
		Files: []int{1, 8}, PerCore: true,
		Bytes: 64 << 20,
		Params: Params{
			Connections: 8, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: dmlRowBytes,
			Rows: 1000, Repeat: 5, Mode: ModeBoth, Connect: ConnectPooled, Index: IndexNone,
		},
		Published: dmlFigures(),
		Also: []string{
			"Oracle: a bigfile is comparable with smallfiles overall.",
			"Oracle was faster than SQL Server for one process, and slower for concurrent work.",
		},
		Timed: true,
		Notes: []string{
			"Every row is selected --repeat times, for a select waits for no storage and would be over too soon.",
			"Where layouts divide the rows by their key (partitions, SQLite's files) the table has an index on it, and a row is selected 20 " +
				"times: without one a statement reads all rows of the key's file, and more files have fewer each. --index none is the " +
				"published table.",
			"The original ran each configuration once; its numbers are in a chart, so that only its words are repeated here.",
			"There, one process worked on 50,000 rows (Oracle) or 350,000 (SQL Server); the concurrent part started a client process for each of " +
				"2,000 statements and looked once a second whether all had ended.",
			"Oracle's select of one process was parsed there and never executed; here the row is fetched, but --as-published.",
		},
		Flags:  []string{"rows", "repeat", "rate", "mode", "connect", "index", "p99-limit", "as-published", "scale"},
		Budget: phasedBudget,
		New:    NewDML, Design: dmlDesign(),
	}
}

// dmlFigures returns the article's statements, one for each operation that a statement covers.
func dmlFigures() []Figure {
	var all []Figure
	say := func(engine string, files, against int, words string, operations ...string) {
		for _, f := range operations {
			all = append(all, Figure{Operation: f, Engine: engine, Files: files, Against: against, Sign: +1, Words: words})
		}
	}
	say("oracle", 1000, 1, "Oracle: thousands of smallfile datafiles win for inserts and selects from one process", opInsert, opSelect)
	say("oracle", 1, 1000, "Oracle: a bigfile wins for updates and deletes from one process", opUpdate, opDelete)
	say("sqlserver", 8, 1, "SQL Server: several files win for changes made by one process", opInsert, opUpdate, opDelete)
	say("sqlserver", 1, 8, "SQL Server: one file wins for selects from one process", opSelect)
	for _, op := range dmlOps {
		say("oracle", 8, 1, "Oracle: one datafile per core (8 in the script's example) wins for concurrent work", concurrently+op)
		say("sqlserver", 1, 8, "SQL Server: one file wins for concurrent work", concurrently+op)
	}
	return all
}

// concurrently is the prefix of the operations of concurrent connections.
const concurrently = "concurrent "
