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

// Usual holds an engine's design of a scenario, used if the user sets no data, keys or work. For zero values, the
// scenario's are used.
type Usual struct {
	// Memory limits the server's memory to Description.MemoryFor its connections.
	Memory      bool  `json:"memory,omitempty"`
	Connections int   `json:"connections,omitempty"`
	Random      bool  `json:"random,omitempty"`  // keys
	Bytes       int64 `json:"bytes,omitempty"`   // of the data files, in bytes
	Preload     int64 `json:"preload,omitempty"` // payload loaded before the work, in bytes
	Row         int   `json:"row,omitempty"`     // payload of a row, in bytes
	Work        int64 `json:"work,omitempty"`    // fixed work of a trial, in bytes of payload. If 0, trials work for a window
	// RowsAFile is dml's number of rows for each file of the largest layout, so that each file holds some.
	RowsAFile   int64 `json:"rows_a_file,omitempty"`
	CommitEvery int   `json:"commit_every,omitempty"`
	Apart       bool  `json:"apart,omitempty"` // each connection has a table of its own
	// Files lists the numbers of files to compare. Further numbers would add no information, and would use up budget.
	Files []int `json:"files,omitempty"`
}

// Description describes an engine. Nothing has to be opened for it.
type Description struct {
	Mode  Mode   `json:"mode"`
	Files string `json:"files"` // what N files are
	Kinds []Kind `json:"kinds"` // the usual one first
	// Bytes, RowBytes and Budget are the usual size, payload of a row, and duration of an experiment on this engine. If 0,
	// the values of the scenario and the command are used.
	Bytes    int64         `json:"bytes,omitempty"`
	RowBytes int           `json:"row_bytes,omitempty"`
	Budget   time.Duration `json:"budget_ns,omitempty"`
	// CommitEvery is the usual number of rows per transaction of inserts on a managed server: large enough that more than
	// its log is measured. If 0, the scenario's number is used.
	CommitEvery int `json:"commit_every,omitempty"`

	// LeastMemory is the memory, in bytes, that suffices a managed server with the connections of a usual experiment. It
	// is 0 if the server's memory cannot be limited.
	LeastMemory int64 `json:"least_memory,omitempty"`

	// ConnectionMemory is the memory of each connection beyond the eighth, in bytes.
	ConnectionMemory int64 `json:"connection_memory,omitempty"`
	// FileCache is set if the system caches the server's files, so that with less memory the server reads more.
	FileCache bool `json:"file_cache,omitempty"`

	// Usual and UsualThere hold designs of scenarios, by name, under which their conditions of meaning hold. Usual is for
	// a server that Filewise starts, UsualThere for a server by URL.
	Usual      map[string]Usual `json:"usual,omitempty"`
	UsualThere map[string]Usual `json:"usual_there,omitempty"`

	// NoKinds holds, by kind of layout that users of this product look for and Filewise does not offer here, the reason.
	NoKinds map[Kind]string `json:"-"`
	// CopiedKinds lists the kinds of layout whose builds on a managed server are loaded once and then copied (Database.Keep).
	CopiedKinds []Kind `json:"-"`
	// CopiedAlone lists the kinds whose builds are copied only if a dump fills them and a build's data files lie on one
	// volume.
	CopiedAlone []Kind `json:"-"`

	// LeastFile is the least size of a data file that all layouts can have, in bytes. If 0, the scenario's least size
	// suffices.
	LeastFile int64 `json:"least_file,omitempty"`
	Page      int64 `json:"page,omitempty"` // size of a page of its files, in bytes. 0 means 4096

	// BackupKinds lists the kinds of layout for scenario backup, the usual one first. If empty, it is Kinds.
	BackupKinds []Kind `json:"backup_kinds,omitempty"`
	// TempKinds lists the kinds of layout for scenario temp, the usual one first. If empty, it is Kinds.
	TempKinds []Kind `json:"temp_kinds,omitempty"`
	// TempAsIs is set if temporary files belong to the whole server, and scenario temp measures them as they are.
	TempAsIs bool `json:"temp_as_is,omitempty"`
	// TempModes lists the modes of targets on which scenario temp runs.
	TempModes []Mode `json:"-"`
	// Identity is set if the server can draw keys itself (workload.KeyIdentity).
	Identity bool `json:"-"`
	// OwnGrowth is set if files can grow by the server's own step (--growth 0).
	OwnGrowth bool `json:"-"`
	// Cools is set if a build on an external server can empty its part of the buffer cache (Database.Cool).
	Cools bool `json:"-"`
	// Cycles is set if a build on an external server can go offline and come back (Database.Cycle).
	Cycles bool `json:"-"`
	// Shares is set if the engine's external server is a Sharer.
	Shares bool `json:"-"`
	// Scans is set if scenario scan runs on every target. Otherwise only work that writes is measured.
	Scans bool `json:"-"`
	// RowKinds lists the kinds of layout for scenario dml, which has too few rows to fill files one after the other. If
	// empty, it is Kinds.
	RowKinds []Kind `json:"row_kinds,omitempty"`
	// Dumps is --from's form for a dump that a server by URL reads itself to fill the builds. It is empty if the server
	// reads none.
	Dumps string `json:"dumps,omitempty"`
	// PublishedOne is the kind of the one-file layout in dml as published, if the article used another kind than the usual
	// one.
	PublishedOne Kind `json:"published_one,omitempty"`
	// BackupsThere is set if the server writes backups of a user's database itself, to its own directories.
	BackupsThere bool `json:"backups_there,omitempty"`
	// CompressedBackup holds the options of a compressed backup, if that is not the usual backup.
	CompressedBackup BackupOptions `json:"compressed_backup,omitempty"`
	// StripesAsFiles is set if a backup has as many files as the database.
	StripesAsFiles bool `json:"stripes_as_files,omitempty"`
	// CopiesFiles is set if each process of a backup copies whole files: with one file per table, most processes would
	// idle.
	CopiesFiles bool `json:"copies_files,omitempty"`

	Reset     bool `json:"reset"`     // a loaded build can be restored
	Lifecycle bool `json:"lifecycle"` // its server may be stopped, killed and started
	// Missing names what has to be installed first. It is empty if nothing has to be.
	Missing string `json:"missing,omitempty"`
	// Note names the limits of a verdict on this engine. It can be empty.
	Note string `json:"note,omitempty"`

	// Schemes lists the URL schemes for an external server, the usual one first. It is empty if the engine has no external
	// targets.
	Schemes []string `json:"schemes,omitempty"`
	Port    int      `json:"port,omitempty"` // the usual one
	// ExternalKinds lists the kinds of layout on an external server, the usual one first.
	ExternalKinds []Kind `json:"external_kinds,omitempty"`
	// Rights lists the statements that give an account the rights that Filewise needs on an external server, and no more.
	Rights []string `json:"rights,omitempty"`
	// Needs lists the Rights one by one, each with the commands that need it. It is empty if the engine has no such list.
	Needs []Need `json:"needs,omitempty"`
	// Understands lists the engines whose custom SQL this engine takes if a workload has none for it.
	Understands []string `json:"understands,omitempty"`
	// Consents lists the consents that findings about an external server can ask for.
	Consents []string `json:"consents,omitempty"`
	// Unproven names what has not been run against the real product. It is empty if everything has.
	Unproven string `json:"unproven,omitempty"`
	// Licence quotes the vendor's licence on publishing results. It can be empty.
	Licence string `json:"licence,omitempty"`
}

// usualConnections is the number of connections that LeastMemory suffices for.
const usualConnections = 8

// MemoryFor returns the least memory, in bytes, in which the server works with this number of connections.
func (d Description) MemoryFor(connections int) int64 {
	return d.LeastMemory + d.ConnectionMemory*int64(max(connections-usualConnections, 0))
}

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
