package filewise

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Act names a phase's worker.
type Act string

// The acts of phases.
const (
	ActWork    Act = ""        // sessions execute the phase's operations
	ActBackup  Act = "backup"  // Database.Backup writes the backup files
	ActRestore Act = "restore" // Database.Backup restores them under a new name
)

// Cache is the state of the caches from which a phase starts.
type Cache string

// The states of caches.
const (
	CacheAsIs        Cache = ""             // as the phase before has left them
	CacheBufferCold  Cache = "buffer-cold"  // the server was restarted: its buffer pool is empty
	CacheStorageCold Cache = "storage-cold" // and the files' pages are evicted from the system's cache
)

// Phase is one part of a trial that is measured by itself, and judged by itself
// as a family.
type Phase struct {
	Family string `json:"family"` // of its measure
	Unit   string `json:"unit"`   // of one operation
	// Section names the phase's SQL: "call-SECTION" runs a number of operations on the server, "statement-SECTION"
	// one that the client sends, "committed-SECTION" reports whether one of them is committed.
	Section string `json:"section"`
	Act     Act    `json:"act,omitempty"`
	// Logical: the backup is of rows and definitions, by the engine's program for dumps.
	Logical bool  `json:"logical,omitempty"`
	Cache   Cache `json:"cache,omitempty"`
	// Connections work at the same time.
	Connections int `json:"connections,omitempty"`
	// CommitEvery operations are a transaction. 0 means each is one of its own.
	CommitEvery int `json:"commit_every,omitempty"`
	// Ops is the fixed number of operations over all connections. 0 means as many as fit into the plan's window.
	Ops     int64 `json:"ops,omitempty"`
	OpBytes int64 `json:"op_bytes,omitempty"` // payload bytes of one operation
	// Appends: operation i adds the worker's row i, which has a key of its own, to rows
	// that stay. So the work can be of any size, begin on what was loaded by it
	// before, and be cut into turns.
	Appends bool  `json:"appends,omitempty"`
	Limit   int64 `json:"limit,omitempty"` // operations that one connection can do. 0 means not limited
	// Discard operations of each connection come before the measured ones.
	Discard int64 `json:"discard,omitempty"`
	// Client: operations are single statements of the client's, with Args, each a
	// transaction of its own. Else the server loops over them.
	Client bool `json:"client,omitempty"`
	// PerStatement: each of the client's statements has a connection of its own.
	PerStatement bool `json:"per_statement,omitempty"`
	// Types are the names of the types of operations if there are several. Sections, in the same order, are their
	// SQL, in place of Section. Args is a TypedArgs then.
	Types    []string `json:"types,omitempty"`
	Sections []string `json:"sections,omitempty"`
	// Churns: before each operation a session creates a table, fills and drops it.
	Churns bool `json:"churns,omitempty"`
	// Rate makes it an open loop of so many operations a second over all connections. 0 means closed.
	Rate float64 `json:"rate,omitempty"`
	// Window is the measured time of a phase without Ops, if the plan's trials are of fixed work. 0 means the plan's.
	Window time.Duration `json:"window,omitempty"`
	// Beside is the family of another phase, of work at a rate, whose load runs for as long as this act does. Empty
	// means there is none.
	Beside string `json:"beside,omitempty"`
	// ByLatency are the figures of its operations' latency by which a phase of work
	// is judged, instead of its throughput: MeanLatency, P99Latency.
	ByLatency []string `json:"by_latency,omitempty"`
	// Pause returns the time that a connection rests before operation i, in a closed loop; it follows from the seed
	// like the operation itself. Nil means it never rests.
	Pause func(worker int, i int64) time.Duration `json:"-"`
	Args  Args                                    `json:"-"`
}

// TypedArgs are the arguments of operations of several types.
type TypedArgs interface {
	Args
	// TypeOf is the type of operation i of the worker, an index of Phase.Types.
	TypeOf(worker int, i int64) int
}

// Redrawn are Args whose values drawn by chance can be drawn again if an operation's values made a key that exists
// already.
type Redrawn interface {
	// ArgsAgain appends the arguments of the operation's further attempt, from 1.
	ArgsAgain(dst []any, worker int, i int64, attempt int) []any
}

// ArgsWriter writes the arguments of an operation without allocating; Args that
// are used on hot paths implement it.
type ArgsWriter interface {
	// WriteArgs writes what Args would append, in the same order. EndRow is not
	// called. Text is only valid during the call that hands it over.
	WriteArgs(to RowWriter, worker int, i int64)
}

// The values of Phase.ByLatency, which end the names of families.
const (
	MeanLatency = "mean latency"
	P99Latency  = "p99 latency"
)

// UnitTimes is the unit of measures that are a time each: their throughput is the
// inverse of that time.
const UnitTimes = "times"

// LatencyFamily is the family of a figure of the latency of another one's operations.
func LatencyFamily(family, figure string) string { return family + " (" + figure + ")" }

// OfLatency is the inverse of LatencyFamily: the family whose operations' latency
// a family is of, and the figure; a family of another kind is itself, figure empty.
func OfLatency(family string) (of, figure string) {
	for _, figure := range []string{MeanLatency, P99Latency} {
		if of, ok := strings.CutSuffix(family, LatencyFamily("", figure)); ok {
			return of, figure
		}
	}
	return family, ""
}

// BesideFamily is the family of a load that runs concurrently with a phase of work.
func BesideFamily(load, act string) string { return load + " beside " + act }

// Families are the families by which the program is judged, in order.
func (p Program) Families() []string {
	var acts, loads []string
	for _, x := range p.Phases {
		if len(x.ByLatency) == 0 {
			acts = append(acts, x.Family)
		}
		for _, figure := range x.ByLatency {
			loads = append(loads, LatencyFamily(x.Family, figure))
		}
	}
	for _, x := range p.Phases {
		if i := p.PhaseOf(x.Beside); i >= 0 {
			for _, figure := range p.Phases[i].ByLatency {
				loads = append(loads, LatencyFamily(BesideFamily(x.Beside, x.Family), figure))
			}
		}
	}
	return append(acts, loads...)
}

// PhaseOf is the number of the phase of a family. −1 means there is none.
func (p Program) PhaseOf(family string) int {
	return slices.IndexFunc(p.Phases, func(x Phase) bool { return x.Family == family })
}

// RowWriter takes the values of rows column by column; an engine's encoder
// writes them on without keeping them.
type RowWriter interface {
	Int(int64)
	Float(float64)
	Text([]byte)
	Null()
	// EndRow ends a row; its error ends the batch.
	EndRow() error
}

// TableData holds a table's data to load.
type TableData struct {
	Table   string
	Columns []string
	// Batches are numbered from 0; batch i follows from the seed and i alone, so
	// that loaders work in parallel and a lost batch can be made again.
	Batches  int64
	RowBytes int64 // of a row on average, payload
	Rows     int64 // over all batches
	Write    func(batch int64, to RowWriter) error
}

// Loadable is a workload whose builds are loaded before their first trial.
type Loadable interface {
	// Data are the tables. The batches of each are loaded in their order. Tables of one size take turns: batch 0 of
	// each, then batch 1 of each.
	Data() []TableData
}

// BulkLoader loads data by the engine's fastest way.
type BulkLoader interface {
	// LoadBatch loads one batch in one transaction, and nothing when it is loaded
	// already: after a lost connection it is called again.
	LoadBatch(ctx context.Context, t TableData, batch int64) error
	// Finish makes what is cheaper made after the load: indexes, statistics.
	Finish(context.Context) error
}

// Backuper makes backups of a database by the engine's own means.
type Backuper interface {
	// Backup writes the backup files of the layout and returns them.
	Backup(context.Context) ([]File, error)
	// Restore restores the last backup under a new name.
	Restore(context.Context) error
	// Verify compares the restored database with the original: the engine's own
	// check, and row counts or checksums. The error wraps ErrCheck.
	Verify(context.Context) error
	// Discard removes backup files and restored database.
	Discard(context.Context) error
}

// TimedBackuper is a Backuper that does more than is measured: connecting, asking.
type TimedBackuper interface {
	// Took returns the time of the last backup or restore by itself.
	Took() time.Duration
}

// TimedSettler is a Settler that does more than is measured: what it does to clean files.
type TimedSettler interface {
	// Took returns the time of the last writing of what was dirty.
	Took() time.Duration
}

// CountingSettler is a Settler that counts what it writes, because no probe does.
type CountingSettler interface {
	// Wrote returns the bytes that the last Settle wrote to data files; ok is false if they were
	// not counted.
	Wrote() (bytes int64, ok bool)
}

// SharedSettler is a Settler on a server whose checkpoints write what others changed, too.
type SharedSettler interface {
	// Others returns which part of what was changed on the server since the last call others
	// changed, 0 to 1; ok is false if that is not known, or little.
	Others(context.Context) (part float64, ok bool, err error)
}

// PartialSettler is a Settler that may lack a right or a means to bring the database to rest.
type PartialSettler interface {
	// Unsettled returns why something may be left to write after Settle; nil if nothing is.
	Unsettled() error
}

// Evicter drops the pages of the database's files from the system's cache, file
// by file; the server must be at rest.
type Evicter interface {
	Evict(context.Context) error
}
