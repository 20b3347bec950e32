package filewise

import (
	"context"
	"time"
)

// Probe reads cumulative counters. Only package probe computes their deltas.
type Probe interface {
	Name() string
	// Read returns the counters. A counter that is not known is absent, never zero.
	Read(context.Context) ([]Counter, error)
}

// ProbeOf returns a probe with this name that reads by calling read.
func ProbeOf(name string, read func(context.Context) ([]Counter, error)) Probe {
	return probe{name, read}
}

type probe struct {
	name string
	read func(context.Context) ([]Counter, error)
}

func (p probe) Name() string                                { return p.name }
func (p probe) Read(ctx context.Context) ([]Counter, error) { return p.read(ctx) }

// Sampler is a Probe of something without a cumulative counter. While a window is open, it is sampled now and then, and
// adds the samples up.
type Sampler interface {
	Probe
	// Sample takes a sample, which counts for the time since the last sample.
	Sample(ctx context.Context, since time.Duration) error
}

// Counter is one cumulative counter.
type Counter struct {
	Name  string
	Unit  string
	Value float64
	Class WaitClass // of a wait, whose event is the counter's name. Empty means the counter is no wait
	File  string    // path of the one file that is counted. Empty means all files
}

// Delta is a counter's change over a measured window.
type Delta struct {
	Probe string    `json:"probe"` // "cpu", "sqlite", …
	Name  string    `json:"name"`
	Unit  string    `json:"unit"`
	Value float64   `json:"value"`
	Class WaitClass `json:"class,omitempty"` // see Counter
	File  string    `json:"file,omitempty"`  // see Counter
}

// The names of probes that all engines use.
const (
	// ProbeWaits counts the server's waits. For each event it has the time, in "s" summed over all sessions, and the
	// number, in "waits". Benign events are left out.
	ProbeWaits = "waits"
	// ProbeBackground counts, like ProbeWaits, the waits of the server's own processes and threads for which no session
	// waits: for writing behind and for checkpoints.
	ProbeBackground = "background waits"
	// ProbeFiles counts the I/O of single files.
	ProbeFiles = "files"
	// ProbeServer counts the work of a server's processes on this machine: "user" and "system" in "s", and their I/O.
	ProbeServer = "server"
	// ProcessorWait is a counter of ProbeServer and of "process", Filewise's own process: the time in "s" for which
	// threads were ready and waited for a processor.
	ProcessorWait = "waited for a processor"
	// ContextSwitches is a counter of probe "cpu": it counts all programs of the machine.
	ContextSwitches = "context switches"
	// ProbeStorage measures the use of a volume's storage against its limit (StorageShare).
	ProbeStorage = "storage"
	// ProbeWritten counts all writes by destination, in "B", and the same per byte of the work's own data, in UnitPerByte.
	ProbeWritten = "written"
	// ProbeOwnWork counts the work of a user's database's clients during its backup, if the server counts it:
	// OwnStatements, and OwnTime in "s" over all of them.
	ProbeOwnWork  = "own work"
	OwnStatements = "statements"
	OwnTime       = "time"
	// ProbeServerMemory is the server's own report of the memory that it may use, MemoryTotal. The probe adds up amount
	// times duration, in UnitSummed, and the time looked at, in UnitLooked. Deltas hold the mean, in "B".
	ProbeServerMemory = "server memory"
	MemoryTotal       = "total"
	UnitSummed        = "B·s"
	UnitLooked        = "s looked at"
	// ProbePlan describes the server's plan of a query. It has ParallelWorkers, in UnitPlanned, as Database.ParallelWorkers
	// returns it. 0 means that the plan is not parallel.
	ProbePlan       = "plan"
	ParallelWorkers = "parallel workers"
	UnitPlanned     = "planned"
	// ProbeDriver, followed by a driver's name, has in "s" the offset of the driver's clock from the server's, and the
	// delay of its load's start.
	ProbeDriver = "driver "
	// ProbeCheckpoints counts the progress of the server's checkpoints (CheckpointCycles).
	ProbeCheckpoints = "checkpoints"
)

// The counters of ProbeWritten. The engine counts the writes to files. Devices also count others' data, and a mirrored
// page once per mirror.
const (
	WrittenDevices   = "devices"
	WrittenData      = "data files"
	WrittenIndex     = "index files"
	WrittenLog       = "log"
	WrittenTemp      = "temporary files"
	WrittenBackup    = "backup files"
	WrittenRest      = "other files"
	WrittenCalls     = "write calls" // of the server's processes, to any destination
	UnitPerByte      = "B per B of data"
	CheckpointCycles = "cycles" // in "cycles": checkpoints, or how often the part of the log at which one begins was filled
)

// StorageShare ends the name of a counter, in "%", for the share of a volume's storage limit that is used: "default:
// share of limit".
const StorageShare = ": share of limit"

// OfWaits reports whether a probe counts waits. If an event is missing from such a probe's reading, it was never waited
// for, and its count is zero.
func OfWaits(probe string) bool { return probe == ProbeWaits || probe == ProbeBackground }

// The counters of ProbeFiles. A counter that a server does not return is absent.
const (
	FileReads     = "reads"         // requests
	FileBytesRead = "bytes read"    // B
	FileReadTime  = "read time"     // s
	FileWrites    = "writes"        // requests
	FileBytes     = "bytes written" // B
	FileWriteTime = "write time"    // s
	FileSyncs     = "syncs"         // requests
	FileSyncTime  = "sync time"     // s
	FileGrown     = "bytes grown"   // B
	FileRows      = "rows written"  // to a file that holds one table or partition
)

// WaitClass groups what sessions wait for.
type WaitClass string

// The classes of waits.
const (
	WaitLock       WaitClass = "lock"       // of rows, tables or the whole file, until another transaction ends
	WaitAllocation WaitClass = "allocation" // latches and locks of the structures that hand out space in files
	WaitLatch      WaitClass = "latch"      // other short locks of structures in memory
	WaitDataRead   WaitClass = "data read"  // I/O of data files
	WaitDataWrite  WaitClass = "data write"
	WaitLog        WaitClass = "log"        // writing and syncing the log
	WaitTemp       WaitClass = "temp"       // I/O of temporary files
	WaitCheckpoint WaitClass = "checkpoint" // until a checkpoint has made space
	WaitMemory     WaitClass = "memory"     // for a free buffer
	WaitNetwork    WaitClass = "network"
	WaitOther      WaitClass = "other"
)
