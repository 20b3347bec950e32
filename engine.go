package filewise

import (
	"context"
	"fmt"
	"time"
)

// Capability is a feature that a server may or may not offer.
type Capability string

// The capabilities that today's engines offer or refuse.
const (
	CanPreallocate Capability = "preallocated files"
	CanGrow        Capability = "growing files"
	CanVolumes     Capability = "files on several volumes"
	CanRestart     Capability = "restart"
	CanReset       Capability = "reset to a loaded state"
	CanBulk        Capability = "bulk load"
	CanBackup      Capability = "striped backup"
	CanWaits       Capability = "wait statistics"
	CanFileIO      Capability = "I/O per file"
	CanAddLater    Capability = "files added later"
	CanLogApart    Capability = "log on a volume of its own"
	CanIndexApart  Capability = "indexes in files of their own"
	CanTemp        Capability = "temporary files in several places"
)

// Capabilities lists all capabilities.
var Capabilities = []Capability{
	CanPreallocate, CanGrow, CanVolumes, CanAddLater, CanLogApart, CanIndexApart,
	CanRestart, CanReset, CanBulk, CanBackup, CanTemp, CanWaits, CanFileIO,
}

// Offering returns the offers of a server that has every capability except the absent ones. absent gives their reasons;
// a capability with a nil reason is offered.
func Offering(absent map[Capability]error) map[Capability]error {
	all := map[Capability]error{}
	for _, c := range Capabilities {
		all[c] = absent[c]
	}
	return all
}

// Engine is a kind of DBMS that Filewise can lay databases out on.
type Engine interface {
	Name() string
	Describe() Description
	// Statements lists what Build and the program would execute and create for a layout, without executing anything. If the
	// engine cannot do the layout or workload, the error wraps ErrUnsupported.
	Statements(Target, Layout, Program) (Statements, error)
	// Open opens the target, and Server.Close ends whatever Open has started. Opening an external server only reads.
	Open(context.Context, Target) (Server, error)
}

// Statements lists what one trial on a layout would create and execute.
type Statements struct {
	Files []File `json:"files"`
	Steps []Step `json:"steps"`
	// Space holds the bytes needed on each volume, by volume name.
	Space map[string]int64 `json:"space"`
	// Warnings explain the limits of the layout or the engine.
	Warnings []Warning `json:"warnings,omitempty"`
	// Facts lists the versions of programs that the engine runs in addition to the server's own.
	Facts []Fact `json:"facts,omitempty"`
}

// Step is one statement of a build or its work.
type Step struct {
	Stage string `json:"stage"`
	On    string `json:"on"` // where it is executed: a file, a server
	SQL   string `json:"sql"`
}

// Server is an opened target.
type Server interface {
	// Facts returns the server's version and effective settings, for reports.
	Facts(context.Context) ([]Fact, error)
	// Offers returns for each capability the reason why it is absent, or nil if it is offered.
	Offers() map[Capability]error
	// Build creates the layout's files, empty of data, and the program's tables.
	Build(context.Context, Layout, Program) (*Database, error)
	Close() error
}

// Database holds one build of a layout, and its optional parts. Parts that the engine does not offer are nil.
type Database struct {
	Build
	Reset     Resetter
	Lifecycle Lifecycle
	Bulk      BulkLoader
	Backup    Backuper
	// BackupTook returns the time of the last backup or restore alone. If nil, their calls do nothing else.
	BackupTook func() time.Duration
	Probes     []Probe
	// Restart stops the database's server cleanly and starts it again.
	Restart func(context.Context) error
	// Extend adds the further files of a layout with AddedLater, and rebuilds the data if the layout demands it. The caller
	// closes all sessions first. Afterwards Observe returns all files of the layout.
	Extend func(context.Context) error
	// Evict drops the pages of the database's files from the system's cache, file by file. The server must be at rest.
	Evict func(context.Context) error
	// Cool empties the server's own cache of the database, and of nothing else. It gives a buffer-cold start if the server
	// may not be restarted.
	Cool func(context.Context) error
	// Cycle takes the database offline and online again, on a server that Filewise may not stop, even if the context ends.
	// It returns the time of each. Sessions may end.
	Cycle func(context.Context) (offline, online time.Duration, err error)
	// Settled describes the last Settle. If nil, all of its time was spent on what was dirty.
	Settled func(context.Context) (Settled, error)
	// Unsettled is the reason why something may be left to write after Settle, such as a missing right. It is nil if nothing
	// is left.
	Unsettled error
	// ParallelWorkers returns the number of processes that the server plans for the query of a phase next to the session's
	// own, as far as its plans have the number: if only that a plan is parallel, 1 for each part that is. The phase executes
	// one statement without arguments.
	ParallelWorkers func(ctx context.Context, phase int) (int, error)
	// Keep shuts the server down cleanly, copies the loaded database's files, and starts it again. The target's next builds
	// of the same layout are copied from these files. If a dump filled the database, they are copied from its Snapshot until
	// that is dropped. If Keep is nil, each build is loaded itself.
	Keep func(context.Context) error
	// Copied is set if the build is a copy of one that was loaded and kept.
	Copied bool
	// Chunk is the number of operations per Session.Do call, for engines that loop on the server. If 0, calls have as many
	// operations as take 50–200 ms.
	Chunk int64
	// Shared returns the text by which another process finds the build with Sharer.Join. From then on, that process may
	// work on the build. It is nil if no other process can.
	Shared func() string
	// First is the part of Server.Build's time that only a layout's first build takes: the server makes files from which
	// the next builds are copied. No trial after a pilot needs that time.
	First time.Duration
}

// Build has the operations that every build of a layout offers.
type Build interface {
	Connector
	Querier
	// Observe returns the files that were really built, as the engine and the file system report them.
	Observe(context.Context) ([]File, error)
	// Settle leaves nothing dirty: everything is checkpointed and synced to the storage.
	Settle(context.Context) error
	// Drop ends the build and removes what was created for it, and nothing else.
	Drop(context.Context) error
}

// Settled describes what a Settle did.
type Settled struct {
	Took *time.Duration // in which it wrote what was dirty. If nil, all of its time
	// Others is the share, from 0 to 1, that others had in the changes on the server since the last call. 0 if not known.
	Others float64
}

// Connector opens the connections of a workload.
type Connector interface {
	// Connect opens the connection of worker number worker for the phase with this number.
	Connect(ctx context.Context, phase, worker int) (Session, error)
}

// Session is one connection that works.
type Session interface {
	// Do executes operations first … first+n−1 of this connection. It returns the number committed, also if it returns an
	// error.
	Do(ctx context.Context, first, n int64) (int64, error)
	Close() error
}

// Rehearser is a Session that can try its operations.
type Rehearser interface {
	// Rehearse executes an operation and rolls it back. If the session's context comes from Rehearsing, Rehearse also
	// reports if statements could not be prepared.
	Rehearse(ctx context.Context, i int64) error
}

type rehearsing struct{}

// Rehearsing returns a context under which Connect ignores statements that cannot be prepared: Rehearse reports them.
func Rehearsing(ctx context.Context) context.Context {
	return context.WithValue(ctx, rehearsing{}, true)
}

// Rehearses reports whether a context comes from Rehearsing.
func Rehearses(ctx context.Context) bool { return ctx.Value(rehearsing{}) != nil }

// Querier runs a named section of the workload's SQL and returns its rows, file after file.
type Querier interface {
	Query(ctx context.Context, section string) ([][]any, error)
}

// Resetter restores the database to its state at the last Snapshot.
type Resetter interface {
	Snapshot(context.Context) error
	Reset(context.Context) error
	// Took returns the parts of the last Reset, to be reported separately: "stop", "copy", "start". It returns none if
	// Reset has no parts.
	Took() []Stage
}

// NotReached is the code of the warning that some files of a layout hold no rows.
const NotReached = "files-not-reached"

// Filler is an engine that fills files one after the other: work that ends early leaves the last files unused.
type Filler interface {
	// FillWork returns the fixed work that fills a layout's files as far as is safe, in payload bytes of all connections.
	// 0 means the layout needs no fixed work.
	FillWork(Target, Layout, Program) (int64, error)
	// LoadedBytes returns the size of data files that the program's loaded data fill up to the last one, in bytes. 0 means
	// the program loads nothing.
	LoadedBytes(Target, Program) (int64, error)
}

// tolerated is the divisor for the growth of preallocated files without a warning: 1/20 of their size. InnoDB keeps so
// much space free that the last of many files cannot be reached without a little growth.
const tolerated = 20

// FillWarnings warns if the log, or preallocated data files, grew in a trial (File.Grew). final holds the trial's final
// files.
func FillWarnings(final []File) []Warning {
	var grew, bytes, logGrew int64
	for _, f := range final {
		if f.Role == RoleLog {
			logGrew += f.Grew
		}
		if f.Role != RoleData {
			continue
		}
		grew, bytes = grew+f.Grew, bytes+f.Bytes
	}
	var all []Warning
	if logGrew > 0 {
		all = append(all, Warning{
			Code:    "log-grew",
			Message: fmt.Sprintf("the log grew by %.1f MiB in the trial: that is measured too, and it is larger by then", float64(logGrew)/(1<<20)),
			Remedy:  "make the log larger at first, or the work smaller",
		})
	}
	if grew*tolerated > bytes {
		all = append(all, Warning{
			Code:    "preallocated-grew",
			Message: fmt.Sprintf("preallocated data files grew by %.1f MiB in the trial: the work was more than they hold", float64(grew)/(1<<20)),
			Remedy:  "make --work smaller, or --size larger",
		})
	}
	return all
}

// Lifecycle times a server's events other than work, on engines whose server Filewise may stop, kill and start.
// Sessions end with the server.
type Lifecycle interface {
	// Checkpoint writes everything dirty to the data files, and returns the time taken.
	Checkpoint(context.Context) (time.Duration, error)
	// Shutdown stops the server cleanly, and returns the time taken.
	Shutdown(context.Context) (time.Duration, error)
	// Crash ends the server without warning, as a power cut would.
	Crash(context.Context) error
	// Open starts the stopped or crashed server, and returns the time until its first answer to a query. After Crash, that
	// is the crash recovery.
	Open(context.Context) (time.Duration, error)
}

// Clock is the clock of an experiment: real, or virtual in simulations.
type Clock interface {
	Now() time.Time
	// Sleep waits for the duration. If the context ends first, it returns the context's error.
	Sleep(context.Context, time.Duration) error
}

// RealClock is the machine's clock.
type RealClock struct{}

// Now returns the wall clock with its monotonic reading.
func (RealClock) Now() time.Time { return time.Now() }

// Sleep waits for d, or until ctx ends, whose error it returns.
func (RealClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
