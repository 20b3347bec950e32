package filewise

import (
	"context"
	"fmt"
	"time"
)

// Capability is something that a server may or may not offer.
type Capability string

// Capabilities that today's engines offer or refuse.
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

// Capabilities are all that a server offers or refuses.
var Capabilities = []Capability{
	CanPreallocate, CanGrow, CanVolumes, CanAddLater, CanLogApart, CanIndexApart,
	CanRestart, CanReset, CanBulk, CanBackup, CanTemp, CanWaits, CanFileIO,
}

// Offering returns what a server offers that has every capability but the absent ones, each with the reason; a reason
// that is nil is none.
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
	// Script lists what Build and the program would execute and create for a layout, without executing anything. A
	// layout or workload that the engine cannot do is refused with an error that wraps ErrUnsupported.
	Script(Target, Layout, Program) (Script, error)
	// Open readies the target; what it starts is ended by Server.Close. Opening an
	// external server only reads.
	Open(context.Context, Target) (Server, error)
}

// Script lists what one trial on a layout would create and execute.
type Script struct {
	Files []File `json:"files"`
	Steps []Step `json:"steps"`
	// Space is the room needed on each volume, in bytes, by volume name.
	Space map[string]int64 `json:"space"`
	// Warnings explain the limits of the layout or the engine.
	Warnings []Warning `json:"warnings,omitempty"`
	// Facts are the versions of programs that it runs which are not the server's own.
	Facts []Fact `json:"facts,omitempty"`
}

// Step is one statement of a script.
type Step struct {
	Stage string `json:"stage"`
	On    string `json:"on"` // where it is executed: a file, a server
	SQL   string `json:"sql"`
}

// Server is an opened target.
type Server interface {
	// Facts are the version and the effective settings, for reports.
	Facts(context.Context) ([]Fact, error)
	// Offers returns why a capability is absent, for each. Nil means it is offered.
	Offers() map[Capability]error
	// Build creates the layout's files, empty of data, and the program's tables.
	Build(context.Context, Layout, Program) (*Database, error)
	Close() error
}

// Database is one build of a layout. Optional parts are nil if the engine does not offer them.
type Database struct {
	Observer  Observer
	Connector Connector
	Settler   Settler
	Querier   Querier
	Dropper   Dropper
	Restart   Restarter
	Reset     Resetter
	Lifecycle Lifecycle
	Extender  Extender // set if the layout's AddedLater is
	Bulk      BulkLoader
	Backup    Backuper
	Evict     Evicter
	Probes    []Probe
	// Chunk counts the operations one call of Session.Do should have. 0 means as many as take 50–200 ms, for engines
	// whose loop runs on the server.
	Chunk int64
	// Shared returns the text by which Sharer.Join of another process finds the build. From then on that process may
	// work on it. Nil means no other process can.
	Shared func() string
	// First is the part of Build's time that only the first build of a layout takes: the server made files that the
	// next ones are copied from. No trial after a pilot needs it.
	First time.Duration
	// Copier keeps what is loaded for the layout's next builds. Nil means each is loaded itself.
	Copier Copier
	// Copied: the build is a copy of one that was loaded and kept.
	Copied bool
}

// Copier keeps a loaded database.
type Copier interface {
	// Keep shuts the database's server down cleanly, copies its files, from which the
	// target's next builds of the same layout come, and starts it again. If a dump has filled
	// it, they come from its Snapshot, as long as it is not dropped.
	Keep(context.Context) error
}

// Observer reads back what really was built.
type Observer interface {
	// Observe returns the files, from the engine and from the file system.
	Observe(context.Context) ([]File, error)
}

// Connector opens the connections of a workload.
type Connector interface {
	// Connect opens the worker's connection for a phase of the program, by its number.
	Connect(ctx context.Context, phase, worker int) (Session, error)
}

// Session is one connection that works.
type Session interface {
	// Do executes operations first … first+n−1 of this connection and returns the number committed, also when it
	// returns an error.
	Do(ctx context.Context, first, n int64) (int64, error)
	Close() error
}

// Rehearser is a Session that can try what it would do.
type Rehearser interface {
	// Rehearse executes an operation, and rolls it back. If the session's context comes from Rehearsing, it also
	// reports that the operation's statements could not be prepared.
	Rehearse(ctx context.Context, i int64) error
}

type rehearsing struct{}

// Rehearsing returns a context in which Connect leaves it to Rehearse to report statements that cannot be prepared.
func Rehearsing(ctx context.Context) context.Context {
	return context.WithValue(ctx, rehearsing{}, true)
}

// Rehearses reports whether a context is one of Rehearsing.
func Rehearses(ctx context.Context) bool { return ctx.Value(rehearsing{}) != nil }

// Settler brings a database to rest.
type Settler interface {
	// Settle leaves nothing dirty: checkpointed and synced to the storage.
	Settle(context.Context) error
}

// Cooler is a Settler that empties the server's own cache of what the database holds, and of nothing else: a
// buffer-cold start if the server may not be restarted.
type Cooler interface {
	Cool(context.Context) error
}

// Cycler is a Settler whose database can go offline and come back by itself, on a server that
// is not Filewise's to stop.
type Cycler interface {
	// Cycle takes the database offline, and online again whatever becomes of the context, and returns the time of
	// each. Sessions may end.
	Cycle(context.Context) (offline, online time.Duration, err error)
}

// Querier runs a named section of the workload's SQL and returns its rows, file after file.
type Querier interface {
	Query(ctx context.Context, section string) ([][]any, error)
}

// Dropper ends a build and removes what Build created, and nothing else.
type Dropper interface {
	Drop(context.Context) error
}

// Extender adds the further files of a layout that is AddedLater, and rebuilds the data if the layout demands it.
// Sessions are closed before. Observe then returns all files of the layout.
type Extender interface {
	Extend(context.Context) error
}

// Restarter stops the database's server cleanly and starts it again.
type Restarter interface {
	Restart(context.Context) error
}

// Resetter brings the database back to the state at the last Snapshot.
type Resetter interface {
	Snapshot(context.Context) error
	Reset(context.Context) error
}

// NotReached is the code of the warning that files of a layout hold none of the rows.
const NotReached = "files-not-reached"

// Usual is an engine's design of a scenario, if the user sets no data, keys or work. Zero values are replaced by the
// scenario's.
type Usual struct {
	// Memory limits what the server may use to Description.MemoryFor its connections.
	Memory      bool  `json:"memory,omitempty"`
	Connections int   `json:"connections,omitempty"`
	Random      bool  `json:"random,omitempty"`  // keys
	Bytes       int64 `json:"bytes,omitempty"`   // of the data files
	Preload     int64 `json:"preload,omitempty"` // payload that is there before, in bytes
	Row         int   `json:"row,omitempty"`     // payload of a row, in bytes
	Work        int64 `json:"work,omitempty"`    // fixed work of a trial, in bytes of payload. 0 means a window
	// RowsAFile sets dml's rows for each file of the largest layout, so that each file holds some.
	RowsAFile   int64 `json:"rows_a_file,omitempty"`
	CommitEvery int   `json:"commit_every,omitempty"`
	Apart       bool  `json:"apart,omitempty"` // each connection has a table of its own
	// Files are the numbers compared: further ones would add no information, and take their share of the budget.
	Files []int `json:"files,omitempty"`
}

// Description describes an engine, without opening anything.
type Description struct {
	Mode  Mode   `json:"mode"`
	Files string `json:"files"` // what N files are
	Kinds []Kind `json:"kinds"` // the usual one first
	// Bytes, RowBytes and Budget are the usual size, payload of a row and duration of an experiment here. 0 means the
	// scenario's and the command's value.
	Bytes    int64         `json:"bytes,omitempty"`
	RowBytes int           `json:"row_bytes,omitempty"`
	Budget   time.Duration `json:"budget_ns,omitempty"`
	// CommitEvery is the usual number of rows of a transaction of inserts on a managed server: so many that its log
	// is not all that is measured. 0 means the scenario's.
	CommitEvery int `json:"commit_every,omitempty"`

	// LeastMemory is enough for a managed server with the connections of a usual experiment, in bytes. 0 means it has
	// no limit to be set.
	LeastMemory int64 `json:"least_memory,omitempty"`

	// ConnectionMemory is the memory of each connection beyond the eighth, in bytes.
	ConnectionMemory int64 `json:"connection_memory,omitempty"`
	// FileCache: the system caches the server's files, so that less memory has it read more.
	FileCache bool `json:"file_cache,omitempty"`

	// Usual are designs of scenarios whose conditions of meaning hold, by name, on a server
	// that Filewise starts, and UsualThere on one by URL.
	Usual      map[string]Usual `json:"usual,omitempty"`
	UsualThere map[string]Usual `json:"usual_there,omitempty"`

	// CopiedKinds are the kinds of layout whose builds on a managed server are loaded once
	// (Copier).
	CopiedKinds []Kind `json:"-"`
	// CopiedAlone are the kinds for which the same is true if a dump fills the builds and the data files of one lie
	// on one volume.
	CopiedAlone []Kind `json:"-"`

	// LeastFile is the least size of a data file that all layouts can have. 0 means the scenario's least size will
	// do.
	LeastFile int64 `json:"least_file,omitempty"`
	Page      int64 `json:"page,omitempty"` // bytes of a page of its files. 0 means 4096

	// BackupKinds are the kinds of layout for scenario backup, the usual one first. None means Kinds.
	BackupKinds []Kind `json:"backup_kinds,omitempty"`
	// TempKinds are the kinds of layout for scenario temp, the usual one first. None means Kinds.
	TempKinds []Kind `json:"temp_kinds,omitempty"`
	// TempAsIs: temporary files are the whole server's, and scenario temp measures them as
	// they are.
	TempAsIs bool `json:"temp_as_is,omitempty"`
	// TempModes are the modes of targets on which scenario temp runs.
	TempModes []Mode `json:"-"`
	// Identity: the server draws keys itself (workload.KeyIdentity).
	Identity bool `json:"-"`
	// OwnGrowth: files can grow by a step that is the server's own (--growth 0).
	OwnGrowth bool `json:"-"`
	// Cools: on an external server a build empties its own part of the buffer cache (Cooler).
	Cools bool `json:"-"`
	// Cycles: on an external server a build goes offline and comes back (Cycler).
	Cycles bool `json:"-"`
	// Shares: its external server is a Sharer.
	Shares bool `json:"-"`
	// Scans: reading is measured by scenario scan on every target; else only what writes.
	Scans bool `json:"-"`
	// RowKinds are the kinds of layout for scenario dml, whose rows are too few to fill files one after the other.
	// None means Kinds.
	RowKinds []Kind `json:"row_kinds,omitempty"`
	// Dumps is --from's form for a dump that a server by URL reads itself, and that fills the builds there. Empty
	// means it reads none.
	Dumps string `json:"dumps,omitempty"`
	// PublishedOne is the kind of a layout of one file in dml as published, if the article's was of another than the
	// usual kind.
	PublishedOne Kind `json:"published_one,omitempty"`
	// BackupsThere: backups of a database of the user's are written by the server, to directories of its own.
	BackupsThere bool `json:"backups_there,omitempty"`
	// CompressedBackup are the options of a compressed backup, if that is not the usual one.
	CompressedBackup BackupOptions `json:"compressed_backup,omitempty"`
	// StripesAsFiles: a backup has as many files as the database.
	StripesAsFiles bool `json:"stripes_as_files,omitempty"`
	// CopiesFiles: each process of a backup copies whole files, so that a database of one file a
	// table would leave most of them idle.
	CopiesFiles bool `json:"copies_files,omitempty"`

	Reset     bool `json:"reset"`     // a loaded build can be restored
	Lifecycle bool `json:"lifecycle"` // its server may be stopped, killed and started
	// Missing names what has to be installed first. Empty means nothing.
	Missing string `json:"missing,omitempty"`
	// Note names the limits of a verdict on this engine; may be empty.
	Note string `json:"note,omitempty"`

	// Schemes are the schemes of URLs that name an external server, the usual one first. None means the engine has no
	// external targets.
	Schemes []string `json:"schemes,omitempty"`
	Port    int      `json:"port,omitempty"` // the usual one
	// ExternalKinds are the kinds of layout on an external server, the usual one first.
	ExternalKinds []Kind `json:"external_kinds,omitempty"`
	// Rights are the statements that give an account what Filewise needs of an
	// external server, and no more.
	Rights []string `json:"rights,omitempty"`
	// Needs lists the Rights one by one, each with the commands that need it. None means the engine has no list.
	Needs []Need `json:"needs,omitempty"`
	// Understands are engines whose custom SQL it takes if it is given none of its own.
	Understands []string `json:"understands,omitempty"`
	// Consents lists the consents that findings about an external server may ask for.
	Consents []string `json:"consents,omitempty"`
	// Unproven names what has not been run against the real product. Empty means all has.
	Unproven string `json:"unproven,omitempty"`
	// Licence quotes the vendor's licence on publishing results; may be empty.
	Licence string `json:"licence,omitempty"`
}

// usualConnections is the number of connections that LeastMemory is for.
const usualConnections = 8

// MemoryFor returns the least memory in which the server works with so many connections, in bytes.
func (d Description) MemoryFor(connections int) int64 {
	return d.LeastMemory + d.ConnectionMemory*int64(max(connections-usualConnections, 0))
}

// Arranger is an engine on which numbers of files alone do not show what helps, so that a comparison has further
// arms.
type Arranger interface {
	// Arrange makes the layouts that compare numbers of files: base has all but
	// the number, the name and the rank. The first is the baseline.
	Arrange(t Target, base Layout, files []int) []Layout
}

// Describer is an engine that describes itself; every engine of the registry does.
type Describer interface {
	Describe() Description
}

// Schemer is an engine that lists the schemes of its URLs without a look at what is installed.
type Schemer interface {
	Schemes() []string
}

// Filler is an engine whose files are filled one after the other, so that work
// which ends early leaves the later ones untouched.
type Filler interface {
	// FillWork is the fixed work, in payload bytes of all connections, that fills the files of a layout as far as is
	// safe. 0 means the layout does not need it.
	FillWork(Target, Layout, Program) (int64, error)
}

// Sizer is a Filler that can compute the space of a program's loaded data.
type Sizer interface {
	// LoadedBytes is the size of data files that the program's loaded data fill up to the last one, in bytes. 0 means
	// the program loads nothing.
	LoadedBytes(Target, Program) (int64, error)
}

// tolerated is the part of the files by which preallocated ones may grow without
// a warning, 1/20: InnoDB keeps so much free that the last of many files cannot
// be reached without a little growth.
const tolerated = 20

// FillWarnings warns of preallocated files among a trial's final files that grew (File.Grew).
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

// Lifecycle times a server's events other than work, for engines whose server Filewise may stop, kill and start.
// Sessions end with the server.
type Lifecycle interface {
	// Checkpoint writes everything dirty to the data files and returns the time that took.
	Checkpoint(context.Context) (time.Duration, error)
	// Shutdown stops the server cleanly and returns the time that took.
	Shutdown(context.Context) (time.Duration, error)
	// Crash ends the server without warning, as a power cut would end it.
	Crash(context.Context) error
	// Open starts the stopped or crashed server and reports the time until it
	// answered its first query; after Crash that is the crash recovery.
	Open(context.Context) (time.Duration, error)
}

// Timed splits the time of a Resetter's or Restarter's last call into parts that are reported apart: "stop", "copy",
// "start".
type Timed interface {
	Took() []Stage
}

// Clock is the time that an experiment runs in: real, or virtual in simulation.
type Clock interface {
	Now() time.Time
	// Sleep returns early with the context's error when that ends.
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
