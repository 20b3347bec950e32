package workload

import (
	"context"
	"fmt"
	"time"

	"filewise"
)

// Cycle i of connection w fills a temporary table of R rows, r = 0 … R−1:
//
//	x       = (((i × C + w) mod P × R + r) mod P × A + B) mod P     P = Modulus, C connections
//	payload = the MD5 of x in hex, repeated, up to RowBytes characters
//
// A second temporary table takes the rows in the order of x. Both tables are joined and dropped. The count and the sum
// of the join go into a permanent table, in the cycle's transaction. That table has one row per connection: the number
// of its last operation, i × C + w + 1, its cycles, and the sum of x mod P.

// OperationTemp is the operation of scenario temp.
const OperationTemp = "temporary tables"

// Values of Params.Cycle. Each cycle includes the steps of those listed before it.
const (
	CycleFill = "fill" // create, fill, read, drop a temporary table
	CycleSort = "sort" // copy it into a second temporary table in another order
	CycleJoin = "join" // join the two
)

// maxTempRows bounds the rows of a cycle. The sum of one cycle, and the numbers that x is computed from, then stay far
// below 2^63.
const maxTempRows = 10_000_000

// NewTemp returns the workload of scenario temp. The sections of an engine's temp.sql are tables, procedure-cycle,
// call-cycle, committed-cycle and check.
func NewTemp(p Params, seed uint64) (filewise.Workload, error) {
	if err := p.validateTemp(); err != nil {
		return nil, err
	}
	base := newRows(Params{Connections: 1, RowBytes: 1}, seed)
	return &temp{params: p, a: base.a, b: base.b}, nil
}

func (p Params) validateTemp() error {
	if p.CommitEvery, p.Table, p.Key = 1, TableShared, KeySequential; p.Rows < 1 || p.Rows > maxTempRows {
		return filewise.Errorf(filewise.CodeUsage, "give --rows, or another --size", "--rows %d of a temporary table is not between 1 and %d",
			p.Rows, maxTempRows)
	}
	if err := oneOf("--cycle", p.Cycle, CycleFill, CycleSort, CycleJoin); err != nil {
		return err
	}
	return p.Validate()
}

type temp struct {
	params Params
	a, b   int64
}

// Program describes the workload to an engine. One operation is one cycle.
func (w *temp) Program() filewise.Program {
	p := w.params
	bytes := p.Rows * int64(p.RowBytes)
	if p.Cycle != CycleFill {
		bytes *= 2
	}
	args := tempArgs{int64(p.Connections)}
	return filewise.Program{
		Workload: "temp",
		Params:   tempParams{Modulus, w.a, w.b, int64(p.Connections), p.Rows, int64(p.RowBytes), p.Cycle},
		Tables: []filewise.Table{ // a temporary table, and one for the results of cycles
			{Name: "cycle", Columns: []string{"x", "payload"}, Rows: p.Rows, RowBytes: int64(p.RowBytes), Temporary: true},
			{Name: "sums", Columns: []string{"connection", "op", "cycles", "total"}, Key: []string{"connection"}, Rows: int64(p.Connections)},
		},
		Phases: []filewise.Phase{{Operation: OperationTemp, Unit: "cycles", Section: "cycle", Connections: p.Connections, CommitEvery: 1,
			OpBytes: bytes, Args: args}},
	}
}

type tempParams struct {
	Modulus, A, B, Connections, Rows, RowBytes int64
	Cycle                                      string
}

// tempArgs numbers an operation among the operations of all connections, from 1.
type tempArgs struct{ connections int64 }

func (t tempArgs) Args(dst []any, worker int, i int64) []any {
	return append(dst, i*t.connections+int64(worker)+1)
}

func (tempArgs) Pool() string { return "" }

// sum returns the sum of x over the rows of a cycle.
func (w *temp) sum(worker int, i int64) int64 {
	cycle := (i*int64(w.params.Connections) + int64(worker)) % Modulus
	var s int64
	for r := range w.params.Rows {
		s += ((cycle*w.params.Rows+r)%Modulus*w.a + w.b) % Modulus
	}
	return s
}

// Check compares the counts and sums of all cycles with what they should be. For each connection, section check returns
// its number, its cycles and the sum of x mod P over them.
func (w *temp) Check(ctx context.Context, q filewise.Querier, phase int, ledgers []filewise.Ledger) error {
	if err := onePhase(phase, ledgers); err != nil {
		return err
	}
	result, err := answer{section: SectionCheck, names: []string{"connection", "cycles", "sum"}, sums: 3}.ask(ctx, q)
	if err != nil {
		return err
	}
	if len(result) != w.params.Connections {
		return fmt.Errorf("%w: sums of %d connections, expected %d", filewise.ErrCheck, len(result), w.params.Connections)
	}
	for _, v := range result {
		if err := w.checkOne(ctx, ledgers[0], int(v[0]), v[1], v[2]); err != nil {
			return err
		}
	}
	return nil
}

func (w *temp) checkOne(ctx context.Context, l filewise.Ledger, worker int, cycles, sum int64) error {
	var done int64
	if worker >= 0 && worker < len(l) {
		done = l[worker]
	}
	var want int64
	for i := range done {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		want = (want + w.sum(worker, i)) % Modulus
	}
	if cycles != done || sum != want {
		return fmt.Errorf("%w: connection %d did %d cycles that sum up to %d, expected %d and %d", filewise.ErrCheck, worker, cycles, sum, done,
			want)
	}
	return nil
}

// tempFilling is the share of the size that the payload of the temporary tables takes if all connections fill them at
// once. The second, sorted table, the engine's overhead per page and partly filled pages take about the rest at the
// peak.
const tempFilling = 0.3

// tempScenario returns the scenario that readers of Shea's experiment asked for: the same experiment for the temporary
// database.
func tempScenario() Scenario {
	return Scenario{
		Name:  "temp",
		Title: "Temporary tables, by number of temporary files",
		Summary: "Connections create temporary tables, fill them, sort them into others, join and drop them, again and again at the same time. " +
			"The question is whether spreading the temporary files makes that faster. " +
			"Throughput is measured in cycles per second, each from create to drop.",
		Source: Source{
			Author: "Linchi Shea", Title: "How Many Data Files Should I Create for a User Database? (readers' comments)", Where: "SQLblog",
			Year: 2007,
		},
		Files: []int{1, 2, 4, 8}, PerCore: true,
		Bytes: 16 << 20,
		Params: Params{
			Connections: 4, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: 400, Rows: 4_000, Cycle: CycleJoin,
		},
		Published: []Figure{
			{Files: 2, Against: 1, Sign: -1, Words: "a reader reports of tempdb: two files on one weak drive show contention earlier than one"},
			{Files: 4, Against: 1, Sign: +1, Words: "a reader reports: tempdb split from 1 into 4 files halved a data load's time and kept it at " +
				"200 GB; one file had grown to 1 TB"},
		},
		Notes: []string{
			"No article measured this: readers reported the figures, of tempdb on SQL Server.",
			"On PostgreSQL the files are tablespaces of temp_tablespaces, each in a separate directory, and sorts and joins that spill go there " +
				"too; on MariaDB they are the files of innodb_temp_data_file_path, filled one after the other, and sorts that spill go to its tmpdir.",
			"Temporary tables that stay in memory touch no file: the session's memory for them is small here, and --size sets how much they take " +
				"at once.",
		},
		Flags:  []string{"rows", "row-bytes", "cycle", "p99-limit", "window", "warm-up"},
		Budget: phasedBudget, Window: 4 * time.Second, Temp: true, Filling: tempFilling,
		New: NewTemp,
	}
}
