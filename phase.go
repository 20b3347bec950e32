package filewise

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Act determines what a phase does.
type Act string

// The acts of phases.
const (
	ActWork    Act = ""        // sessions execute the phase's operations
	ActBackup  Act = "backup"  // Database.Backup writes the backup files
	ActRestore Act = "restore" // Database.Backup restores them under a new name
)

// Cache is the state of the caches at the start of a phase.
type Cache string

// The states of caches.
const (
	CacheAsIs        Cache = ""             // as the phase before left them
	CacheBufferCold  Cache = "buffer-cold"  // the server was restarted: its buffer pool is empty
	CacheStorageCold Cache = "storage-cold" // the same, and the files' pages are evicted from the system's cache
)

// Phase is a part of a trial that is measured separately, and judged separately as an operation.
type Phase struct {
	Operation string `json:"family"` // of its measure
	Unit      string `json:"unit"`   // of one operation
	// Section names the phase's SQL. "call-SECTION" runs a number of operations on the server. "statement-SECTION" is an
	// operation that the client sends. "committed-SECTION" reports whether such an operation is committed.
	Section string `json:"section"`
	Act     Act    `json:"act,omitempty"`
	// Logical is set if the engine's program for dumps makes the backup, of rows and definitions.
	Logical bool  `json:"logical,omitempty"`
	Cache   Cache `json:"cache,omitempty"`
	// Connections is the number of connections that work at the same time.
	Connections int `json:"connections,omitempty"`
	// CommitEvery is the number of operations per transaction. If 0, each is its own transaction.
	CommitEvery int `json:"commit_every,omitempty"`
	// Ops is the fixed number of operations over all connections. If 0, as many as fit into the plan's window are done.
	Ops     int64 `json:"ops,omitempty"`
	OpBytes int64 `json:"op_bytes,omitempty"` // payload bytes of one operation
	// Appends is set if operation i adds the worker's row i, with a separate key, to rows that stay. Such work can have
	// any size, begin on rows that it loaded before, and be cut into turns.
	Appends bool  `json:"appends,omitempty"`
	Limit   int64 `json:"limit,omitempty"` // most operations that a connection can do. 0 means no limit
	// Discard is the number of operations that each connection does before the measured ones.
	Discard int64 `json:"discard,omitempty"`
	// Client is set if operations are single statements that the client sends, with Args, each its own transaction.
	// Otherwise the server loops over them.
	Client bool `json:"client,omitempty"`
	// PerStatement is set if each of the client's statements has its own connection.
	PerStatement bool `json:"per_statement,omitempty"`
	// Types names the types of operations if there are several. Sections then holds their SQL in the same order, in place
	// of Section, and Args is a TypedArgs.
	Types    []string `json:"types,omitempty"`
	Sections []string `json:"sections,omitempty"`
	// Churns is set if a session creates, fills and drops a table before each operation.
	Churns bool `json:"churns,omitempty"`
	// Rate is the number of operations per second over all connections, in an open loop. If 0, the loop is closed.
	Rate float64 `json:"rate,omitempty"`
	// Window is the measured time of a phase without Ops, if the plan's trials are of fixed work. If 0, it is the plan's
	// window.
	Window time.Duration `json:"window,omitempty"`
	// ConcurrentLoad is the operation of a phase that works at a rate, and whose load runs for as long as this act does. If
	// empty, there is none.
	ConcurrentLoad string `json:"beside,omitempty"`
	// ByLatency lists the figures of latency (MeanLatency, P99Latency) by which a phase of work is judged, instead of by
	// its throughput.
	ByLatency []string `json:"by_latency,omitempty"`
	// Pause returns how long a connection rests before operation i, in a closed loop. Like the operation itself, the time
	// follows from the seed. If Pause is nil, connections never rest.
	Pause func(worker int, i int64) time.Duration `json:"-"`
	Args  Args                                    `json:"-"`
}

// TypedArgs generates the arguments of operations of several types.
type TypedArgs interface {
	Args
	// TypeOf returns the type of the worker's operation i, as an index of Phase.Types.
	TypeOf(worker int, i int64) int
}

// ArgsWriter writes an operation's arguments without allocating. Args on hot paths implement it.
type ArgsWriter interface {
	// WriteArgs writes what Args would append, in the same order, but does not call EndRow. A text is valid only during
	// the call that passes it.
	WriteArgs(to RowWriter, worker int, i int64)
}

// The values of Phase.ByLatency, with which the names of operations end.
const (
	MeanLatency = "mean latency"
	P99Latency  = "p99 latency"
)

// UnitTimes is the unit of measures that are a single time. Their throughput is the inverse of that time.
const UnitTimes = "times"

// LatencyOperation returns the name of the operation that judges the latency of another operation's executions by a figure.
func LatencyOperation(operation, figure string) string { return operation + " (" + figure + ")" }

// OfLatency is the inverse of LatencyOperation. For another kind of operation, it returns the operation itself and an empty
// figure.
func OfLatency(operation string) (of, figure string) {
	for _, figure := range []string{MeanLatency, P99Latency} {
		if of, ok := strings.CutSuffix(operation, LatencyOperation("", figure)); ok {
			return of, figure
		}
	}
	return operation, ""
}

// ConcurrentOperation returns the name of the operation of a load that runs during another phase's work.
func ConcurrentOperation(load, act string) string { return load + " beside " + act }

// Operations returns the operations by which the program is judged, in order.
func (p Program) Operations() []string {
	var acts, loads []string
	for _, x := range p.Phases {
		if len(x.ByLatency) == 0 {
			acts = append(acts, x.Operation)
		}
		for _, figure := range x.ByLatency {
			loads = append(loads, LatencyOperation(x.Operation, figure))
		}
	}
	for _, x := range p.Phases {
		if i := p.PhaseOf(x.ConcurrentLoad); i >= 0 {
			for _, figure := range p.Phases[i].ByLatency {
				loads = append(loads, LatencyOperation(ConcurrentOperation(x.ConcurrentLoad, x.Operation), figure))
			}
		}
	}
	return append(acts, loads...)
}

// PhaseOf returns the index of the operation's phase, or −1 if there is none.
func (p Program) PhaseOf(operation string) int {
	return slices.IndexFunc(p.Phases, func(x Phase) bool { return x.Operation == operation })
}

// RowWriter receives the values of rows, column by column. An engine's encoder passes them on without storing them.
type RowWriter interface {
	Int(int64)
	Float(float64)
	Text([]byte)
	Null()
	// EndRow ends a row. If it returns an error, the batch ends.
	EndRow() error
}

// TableData holds the data to load into a table.
type TableData struct {
	Table   string
	Columns []string
	// Batches is the number of batches, numbered from 0. A batch follows from the seed and its number alone, so loaders
	// work in parallel, and a lost batch can be made again.
	Batches  int64
	RowBytes int64 // mean payload of a row, in bytes
	Rows     int64 // over all batches
	Write    func(batch int64, to RowWriter) error
}

// Loadable is a workload whose builds are loaded before their first trial.
type Loadable interface {
	// Data returns the tables' data. Each table's batches are loaded in order. Tables of one size take turns: batch 0 of
	// each, then batch 1 of each.
	Data() []TableData
}

// BulkLoader loads data in the engine's fastest way.
type BulkLoader interface {
	// LoadBatch loads one batch in one transaction. If the batch is loaded already, it does nothing: after a lost
	// connection it is called again.
	LoadBatch(ctx context.Context, t TableData, batch int64) error
	// Finish makes what is cheaper to make after the load, such as indexes and statistics.
	Finish(context.Context) error
}

// Backuper makes backups of a database with the engine's own means.
type Backuper interface {
	// Backup writes the layout's backup files, and returns them.
	Backup(context.Context) ([]File, error)
	// Restore restores the last backup under a new name.
	Restore(context.Context) error
	// Verify compares the restored database with the original, by the engine's own check and by row counts or checksums.
	// The error wraps ErrCheck.
	Verify(context.Context) error
	// Discard removes the backup files and the restored database.
	Discard(context.Context) error
}
