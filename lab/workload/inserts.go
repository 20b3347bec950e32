package workload

import (
	"context"
	"fmt"
	"strings"

	"filewise"
)

// SectionCheck is the section of an engine's inserts.sql that checks each table of each file. It returns the number of
// rows and a checksum. The checksum is the sum over all rows of the CRC-32 (IEEE) of "id,payload", or NULL without
// rows. It may instead be "md5:" and the sum of the first 32 bits of the MD5 of that text.
const SectionCheck = "check"

// NewInserts returns the workload of scenario inserts: connections insert rows of a key and a payload, and commit after
// every CommitEvery rows.
func NewInserts(p Params, seed uint64) (filewise.Workload, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return &inserts{params: p, rows: newRows(p, seed)}, nil
}

// OperationInserts is the operation of workload inserts.
const OperationInserts = "inserts"

type inserts struct {
	params Params
	rows   *rows
}

// Program describes the workload to an engine. Params holds what servers need that generate the rows themselves.
func (w *inserts) Program() filewise.Program {
	return filewise.Program{
		Workload: "inserts",
		Phases: []filewise.Phase{w.params.paced(filewise.Phase{
			Operation: OperationInserts, Unit: "rows", Section: opInsert, Appends: true,
			Connections: w.params.Connections, CommitEvery: w.params.CommitEvery,
			OpBytes: int64(w.params.RowBytes), Limit: w.rows.limit(), Args: w.rows,
		}, filewise.MeanLatency, filewise.P99Latency)},
		// A transaction that such a failure ended has left nothing, and the session counts the transactions committed before.
		// So the next transaction is retried as a whole.
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

// insertsParams holds the workload's parameters, and the constants of the generator.
type insertsParams struct {
	Table, Key                         string
	RowBytes, Connections, CommitEvery int
	Modulus, A, B, PoolSpan            int64
	PoolBytes                          int
}

// Check compares the number of rows and their checksum with what the ledger's rows should have left.
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

// readSum adds up the results of section check over all tables and files.
func readSum(ctx context.Context, q filewise.Querier) (sum, error) {
	var total sum
	read := func(v any) (int64, error) {
		if b, ok := v.([]byte); ok {
			v = string(b)
		}
		if s, ok := v.(string); ok && strings.HasPrefix(s, md5Mark) {
			total.md5 = true
			if v = s[len(md5Mark):]; v == "" { // no rows
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

// insertsScenario returns the scenario that repeats Randal's experiment. Its default size can be preallocated in some
// milliseconds for every trial. Its rows are small, so that commits rather than bytes are the work, as in single-row
// inserts.
func insertsScenario() Scenario {
	percent := func(x float64) *float64 { return &x }
	return Scenario{
		Name:  "inserts",
		Title: "Concurrent inserts, by number of data files",
		Summary: "Several connections insert rows at the same time, nothing else runs, and the total size of the data files is the same " +
			"in every layout. The question is whether more files take the rows faster. " +
			"Throughput is measured in rows per second, committed.",
		Source: Source{
			Author: "Paul Randal", Title: "Benchmarking: do multiple data files make a difference?",
			Where: "SQLskills", Year: 2010,
		},
		Files: []int{1, 2, 4, 8, 16},
		Bytes: 64 << 20,
		Params: Params{
			Connections: 16, RowBytes: 200, CommitEvery: 1, Table: TableShared, Key: KeySequential,
		},
		Best:      8,
		Timed:     true,
		ByVolumes: true,
		Published: []Figure{
			{Files: 2, Against: 1, Percent: percent(-3), Sign: -1, Variant: VariantOneVolume,
				Words: "2 files on the one array: about 3 % slower than 1 file on it"},
			{Files: 8, Against: 1, Sign: +1, Variant: VariantOneVolume,
				Words: "8 files on the one array: the best of its five layouts (published as a chart)"},
			{Files: 16, Against: 8, Sign: -1, Variant: VariantOneVolume,
				Words: "16 files on the one array: slower again than 8 (published as a chart)"},
			{Files: 8, Against: 1, Percent: percent(6), Sign: +1, Variant: VariantTwo, Over: VariantOneVolume,
				Words: "8 files on two arrays: just over 6 % faster than 1 file on one array, " +
					"so more storage has its part in this figure; the best of its five layouts"},
			{Files: 16, Against: 8, Sign: -1, Variant: VariantTwo,
				Words: "16 files on two arrays: slower again than 8 (published as a chart)"},
		},
		Notes: insertsNotes,
		Flags: []string{"window", "work", "warm-up", "rate", "row-bytes", "commit-every", "table", "key", "preload", "builds", "measure",
			"added-later", "p99-limit", "as-published", "scale"},
		New: NewInserts, Design: insertsDesign(),
	}
}

var insertsNotes = []string{
	"Published on SQL Server: 160 GB in the PRIMARY filegroup as 1×160, 2×80, 4×40, 8×20 and 16×10 GB, created at full size; " +
		"16 connections, each inserting 100/16 GB by code that runs on the server; the measure is the time of the whole test.",
	"Published design: each layout run 5 times, built again between runs, the times averaged, with no interval. " +
		"Here the layouts are measured in random, interleaved order, and one trial is one sample.",
	"Published storage, test 1: RAID-10 of 8 × 300 GB 15k SCSI over two iSCSI NICs, 128 KB stripe. " +
		"Test 2: round-robin over two arrays of 4 such disks, one NIC each, so that one file there sits on half the drives: " +
		"the best cases of the two tests do not compare like with like. The log had an array of its own (8 × 1 TB 7.2k SATA RAID-10) and 8 GB " +
		"from the start.",
	"Published waits, 1 against 8 files, nearly identical: PAGELATCH_EX 38/39 %, PAGELATCH_SH 19/21 %, WRITELOG 12/13 %. " +
		"The author attributes the gain to the storage (checkpoint writes in parallel) and the optimum of 8 to the number of cores.",
	"The article publishes neither table nor key. Ours are ours: a BIGINT key and a text payload of a fixed length.",
	"A reader reports: a partitioned table was scanned with much higher throughput, with reads above 0.2 s.",
	"A reader reports: a 1 TB file split into 4 on two drives took twice as long for an analytics job.",
	"A reader presumes latching on allocation bitmaps as the cause.",
}
