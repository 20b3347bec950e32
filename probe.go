package filewise

import (
	"context"
	"time"
)

// Probe reads cumulative counters. Deltas are computed in package probe only.
type Probe interface {
	Name() string
	// Read returns the counters; an absent counter is absent, never zero.
	Read(context.Context) ([]Counter, error)
}

// ProbeOf is a probe of that name which reads by a function.
func ProbeOf(name string, read func(context.Context) ([]Counter, error)) Probe {
	return probe{name, read}
}

type probe struct {
	name string
	read func(context.Context) ([]Counter, error)
}

func (p probe) Name() string                                { return p.name }
func (p probe) Read(ctx context.Context) ([]Counter, error) { return p.read(ctx) }

// Sampler is a probe of what cannot be read as a sum: while a window is open, it
// looks now and then, and adds up what it sees.
type Sampler interface {
	Probe
	// Sample looks once; what it sees stands for the time since the look before.
	Sample(ctx context.Context, since time.Duration) error
}

// Counter is one cumulative counter.
type Counter struct {
	Name  string
	Unit  string
	Value float64
	Class WaitClass // of a wait, whose event is the name. Empty means it is none
	File  string    // the path of the file that it is of alone. Empty means all
}

// Delta is a counter's change over the measured window.
type Delta struct {
	Probe string    `json:"probe"` // "cpu", "sqlite", …
	Name  string    `json:"name"`
	Unit  string    `json:"unit"`
	Value float64   `json:"value"`
	Class WaitClass `json:"class,omitempty"` // see Counter
	File  string    `json:"file,omitempty"`  // see Counter
}

// The names of probes that all engines use in one way.
const (
	// ProbeWaits are the server's waits: of each event the time, in "s" added up over
	// all sessions, and the number, in "waits". Benign ones are left out.
	ProbeWaits = "waits"
	// ProbeBackground are waits of the server's own processes and threads, for which no session waits: for writing
	// behind, for checkpoints. They are like ProbeWaits.
	ProbeBackground = "background waits"
	// ProbeFiles is the I/O of single files.
	ProbeFiles = "files"
	// ProbeServer are the processes of a server on this machine: "user" and "system"
	// in "s", and their I/O.
	ProbeServer = "server"
	// ProcessorWait is a counter of ProbeServer and of Filewise's own process, "process":
	// in "s" for how long threads were ready and waited for a processor.
	ProcessorWait = "waited for a processor"
	// ContextSwitches is a counter of probe "cpu": of all programs of the machine.
	ContextSwitches = "context switches"
	// ProbeStorage is the use of a volume's storage against its limit: StorageShare.
	ProbeStorage = "storage"
	// ProbeWritten counts all writes, in "B", by their destination; and the same per byte of the work's own data, in
	// UnitPerByte.
	ProbeWritten = "written"
	// ProbeOwnWork counts the work of the clients of a user's database while it is backed up, if the server counts
	// that: OwnStatements, and OwnTime in "s" over all of them.
	ProbeOwnWork  = "own work"
	OwnStatements = "statements"
	OwnTime       = "time"
	// ProbeServerMemory is the server's own report of the memory that it may use: MemoryTotal, of which it adds up
	// the amount times how long it was so, in UnitSummed, and how long it was looked at, in UnitLooked. Deltas hold
	// the mean, in "B".
	ProbeServerMemory = "server memory"
	MemoryTotal       = "total"
	UnitSummed        = "B·s"
	UnitLooked        = "s looked at"
	// ProbeDriver, and a driver's name, give in "s" the offset of its clock from the server's, and the delay of its
	// load's start.
	ProbeDriver = "driver "
	// ProbeCheckpoints is the progress of the server's checkpoints: CheckpointCycles.
	ProbeCheckpoints = "checkpoints"
)

// The counters of ProbeWritten. The counter of files is the engine's; devices also write others' data, and each page
// as often as it is mirrored.
const (
	WrittenDevices   = "devices"
	WrittenData      = "data files"
	WrittenIndex     = "index files"
	WrittenLog       = "log"
	WrittenTemp      = "temporary files"
	WrittenBackup    = "backup files"
	WrittenRest      = "other files"
	WrittenCalls     = "write calls" // of the server's processes, whatever they were to
	UnitPerByte      = "B per B of data"
	CheckpointCycles = "cycles" // in "cycles": checkpoints, or the part of the log's room that one begins at
)

// StorageShare ends the name of a share of what a volume's storage gives, in "%":
// "default: share of limit".
const StorageShare = ": share of limit"

// OfWaits reports whether a probe is one of waits, in which an event that was never waited for is not in the reading:
// it is zero.
func OfWaits(probe string) bool { return probe == ProbeWaits || probe == ProbeBackground }

// The counters of ProbeFiles; a counter that a server does not return is absent.
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
	FileRows      = "rows written"  // of a file that holds one table or partition
)

// WaitClass is the thing that a session waits for.
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
	WaitCheckpoint WaitClass = "checkpoint" // until a checkpoint has made room
	WaitMemory     WaitClass = "memory"     // for a free buffer
	WaitNetwork    WaitClass = "network"
	WaitOther      WaitClass = "other"
)
