package workload

import (
	"context"
	"fmt"
	"slices"

	"filewise"
)

// maxBatch bounds --batch, so that a trial does not have too many operations.
const maxBatch = 100_000

// scanQueries is the number of the article's queries. The article measured only the first scanColdQueries cold.
const (
	scanQueries     = 11
	scanColdQueries = 8
)

// indexed lists the queries that find their rows by an index. A warm one takes less than a millisecond, so it must be
// executed often to be measured.
var indexed = []int{1, 2, 3, 6, 9, 10, 11}

// NewScan returns the workload of scenario scan: the article's queries on four tables. Each query is an operation, executed
// by all connections at once, each on separate tables as far as there are any. The
// sections of an engine's scan.sql are tables, indexes, check, and statement-query-1 … statement-query-11.
func NewScan(p Params, seed uint64) (filewise.Workload, error) {
	if err := enoughRows(p.Rows); err != nil {
		return nil, err
	}
	if err := checkCache(p.Cache); err != nil {
		return nil, err
	}
	if err := oneOf("--data", p.Data, DataOrdered, DataGrown); err != nil {
		return nil, err
	}
	if p.Repeat < 1 || p.Repeat > 1000 {
		return nil, filewise.Errorf(filewise.CodeUsage, "give 1 to 1000", "--repeat %d: out of range", p.Repeat)
	}
	if p.Batch < 0 || p.Batch > maxBatch {
		return nil, filewise.Errorf(filewise.CodeUsage, "give 1 to 100000", "--batch %d: out of range", p.Batch)
	}
	if p.Rate > 0 && p.Cache != CacheWarm {
		return nil, filewise.Errorf(filewise.CodeUsage, "use --cache warm, or leave --rate out",
			"--rate %v and --cache %s: a cold query is executed once in a trial, and nothing arrives at a rate", p.Rate, p.Cache)
	}
	return &scan{params: p, fragments: newFragments(p, seed)}, p.validateRate()
}

// checkCache refuses states that caches cannot be brought to.
func checkCache(cache string) error {
	return oneOf("--cache", cache, CacheWarm, string(filewise.CacheBufferCold), string(filewise.CacheStorageCold))
}

type scan struct {
	params Params
	*fragments
}

// Program describes the workload to an engine. A warm query runs once before it is measured; this is the first
// operation of its phase.
func (w *scan) Program() filewise.Program {
	p := filewise.Program{
		Workload: "scan", ReadOnly: true, Params: w.literals(), Tables: w.tables(),
	}
	queries, discard := scanQueries, int64(1)
	cache := filewise.CacheAsIs
	if w.params.Cache != CacheWarm {
		cache, discard = filewise.Cache(w.params.Cache), 0
		if w.params.Published {
			queries = scanColdQueries
		}
	}
	for k := 1; k <= queries; k++ {
		ops := int64(w.readers()) // once for each reader
		if w.params.Cache == CacheWarm {
			ops *= int64(w.params.Repeat)
		} else if !slices.Contains(indexed, k) { // a second look-up would find its page cached
			ops *= int64(max(w.params.Rescan, 1))
		}
		if w.params.Rate == 0 && w.params.Cache == CacheWarm && slices.Contains(indexed, k) {
			ops *= int64(max(w.params.Batch, 1))
		}
		p.Phases = append(p.Phases, w.params.paced(filewise.Phase{
			Operation: queryOperation(k), Unit: "queries", Section: fmt.Sprintf("query-%d", k),
			Cache: cache, Connections: w.readers(), CommitEvery: 1, Ops: ops, Discard: discard, Client: true, Args: noArgs{},
		}, filewise.MeanLatency)) // few executions give no p99
	}
	return p
}

// readers returns the number of connections that execute a query at once.
func (w *scan) readers() int { return max(w.params.Connections, 1) }

// queryOperation returns the operation of query k.
func queryOperation(k int) string { return fmt.Sprintf("query %d", k) }

// scanParams holds the article's literals. Keys are scaled by the number of rows; values are as published.
type scanParams struct {
	Rows, Values                   int64
	Data                           string
	Key1, Key3, Key9, Key10, Key11 int64
}

func (w *scan) literals() scanParams {
	key := func(published int64) int64 { return max(published*w.params.Rows/publishedRows, 1) }
	return scanParams{w.params.Rows, fragValues, w.params.Data, key(30718), key(90718), key(1111), key(9690), key(999)}
}

// Check compares the tables with what was loaded. Queries change nothing.
func (w *scan) Check(ctx context.Context, q filewise.Querier, phase int, _ []filewise.Ledger) error {
	return w.checkLoaded(ctx, q, phase)
}

// noArgs is for statements without arguments.
type noArgs struct{}

func (noArgs) Args(dst []any, _ int, _ int64) []any { return dst }
func (noArgs) Pool() string                         { return "" }
