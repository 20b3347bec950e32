package filewise

import "time"

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
	RowsAFile int64 `json:"rows_a_file,omitempty"`
	// Step, RowsGrown and BytesGrown are dml's step of growth, number of rows and size at the start, in bytes, with which
	// growing files grow ten times in a trial.
	Step        int64 `json:"step,omitempty"`
	RowsGrown   int64 `json:"rows_grown,omitempty"`
	BytesGrown  int64 `json:"bytes_grown,omitempty"`
	CommitEvery int   `json:"commit_every,omitempty"`
	Apart       bool  `json:"apart,omitempty"` // each connection has a separate table
	// IndexedFirst is scan's: indexes are made before the load, so that no file holds only pages of an index that no query
	// reads.
	IndexedFirst bool `json:"indexed_first,omitempty"`
	// Rescan is scan's: how often a cold scan runs in a trial. The server bypasses the system's cache, and its own holds a
	// twelfth of the data, so that each reads from the storage. 0 means once.
	Rescan int `json:"rescan,omitempty"`
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
