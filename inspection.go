package filewise

import "time"

// Inspection holds the facts about a target's files. Package inspect interprets them.
type Inspection struct {
	Server string `json:"server"` // product and version
	Local  bool   `json:"local"`  // the server runs on this host
	// Cores is the number of the server's cores. 0 means not known.
	Cores int `json:"cores,omitempty"`
	// Since is the time over which the counters have counted. 0 means not known.
	Since  time.Duration `json:"since_ns,omitempty"`
	Groups []FileGroup   `json:"groups"`
	// Waits holds the waits over Since, or in one sample if Sampled is set. Benign waits are left out. Units are "s",
	// "waits" and "sessions".
	Waits   []Counter `json:"waits,omitempty"`
	Sampled bool      `json:"sampled,omitempty"`
	// Figures holds the figures that the server returns, by the names below.
	Figures  map[string]float64 `json:"figures,omitempty"`
	Settings map[string]string  `json:"settings,omitempty"`
	// Places lists possible places for further files.
	Places []Place `json:"places,omitempty"`
	Gaps   []Gap   `json:"gaps,omitempty"`
}

// The names of figures. Counters count since Inspection.Since.
const (
	FigureBuffer     = "buffer"                          // B, memory for cached pages
	FigureMemory     = "memory"                          // B, of the server's host
	FigureRequests   = "page requests"                   // whether found in the cache or not
	FigureMisses     = "page misses"                     // page requests that read a file
	FigureTempFiles  = "temporary files"                 // created
	FigureTempBytes  = "temporary bytes"                 // B written to them
	FigureTempTables = "temporary tables"                // created, in memory or not
	FigureTempDisk   = "temporary tables on disk"        // temporary tables that were on disk
	FigureTimed      = "timed checkpoints"               // checkpoints that came by time
	FigureRequested  = "requested checkpoints"           // checkpoints that came because the log was full, or on request
	FigureLogBytes   = "log bytes"                       // B written
	FigureLogWaits   = "waits for room in the log"       // number
	FigureFreeWaits  = "waits for a free page"           // number
	FigureExtends    = "extensions of files"             // number
	FigureAllocation = "sessions waiting for allocation" // at this moment
	FigureReadTime   = "time of reading data files"      // s
	FigureWriteTime  = "time of writing data files"      // s
	FigureSwitches   = "log switches in the last day"    // number
	FigureSessions   = "sessions"                        // connected at this moment, without Filewise's own
)

// Place is a possible place for files: a volume as --volume takes it.
type Place struct {
	Volume
	// Path is the directory on the server's host, and Device the storage below it. They are empty if not known.
	Path   string `json:"path,omitempty"`
	Device string `json:"device,omitempty"`
}

// FileUse is the purpose of a group's files.
type FileUse string

// The uses of files.
const (
	UseData FileUse = "data"
	UseLog  FileUse = "log"
	UseTemp FileUse = "temp"
	UseUndo FileUse = "undo"
)

// Fill is the order in which an engine fills a group's files.
type Fill string

// The orders of filling.
const (
	FillFree       Fill = "in proportion to free space" // SQL Server
	FillTurns      Fill = "extent by extent, in turns"  // Oracle
	FillOrder      Fill = "one after the other"         // InnoDB's system tablespace
	FillPartitions Fill = "by partition"                // PostgreSQL, InnoDB
	FillOwn        Fill = "one file"                    // a plain table, a bigfile tablespace
	FillFiles      Fill = "a database each"             // SQLite
)

// FileGroup holds the files of one table, filegroup, tablespace or log.
type FileGroup struct {
	Name     string  `json:"name"` // "filegroup PRIMARY of sales", "table public.orders"
	Database string  `json:"database,omitempty"`
	Use      FileUse `json:"use"`
	Fill     Fill    `json:"fill,omitempty"`
	// System is set if the group belongs to the server itself. Own is set if its name is one that only Filewise gives.
	System bool `json:"system,omitempty"`
	Own    bool `json:"own,omitempty"`
	// Aside is set for the old copy of a table, which a script of apply moved aside for the way back.
	Aside bool          `json:"aside,omitempty"`
	Files []FileInspect `json:"files"`
	// RowBytes is a row's mean size in bytes by the server's statistics, without what the server adds. 0 means not known.
	RowBytes float64 `json:"row_bytes,omitempty"`
	// Inserted and Changed count the rows inserted, and updated or deleted, since Inspection.Since. They are 0 if the
	// server does not count by table.
	Inserted float64 `json:"rows_inserted,omitempty"`
	Changed  float64 `json:"rows_changed,omitempty"`
	// Fragments counts SQL Server's virtual log files. 0 means the engine has none, or does not report them.
	Fragments int `json:"fragments,omitempty"`
	// GrowsAll is set if all files grow when one is full.
	GrowsAll bool `json:"grows_all,omitempty"`
	// Whole is the reason why the group's table cannot be divided, if the server reports one.
	Whole string `json:"whole,omitempty"`
}

// FileInspect describes a file of a group.
type FileInspect struct {
	Path  string `json:"path"` // or the object's name, if the server has no path
	Bytes int64  `json:"bytes"`
	Free  *int64 `json:"free,omitempty"` // B free in the file. Absent means not known
	// Growth holds the step by which the file grows. It is nil if not known.
	Growth *Growth `json:"growth,omitempty"`
	// Volume names the file's mount, tablespace or disk group, and Device the storage below. They are empty if not known.
	Volume string `json:"volume,omitempty"`
	Device string `json:"device,omitempty"`
	// Dir is the file's directory on the server's host. It is empty if not known.
	Dir string `json:"dir,omitempty"`
	// IO holds the file's I/O since Inspection.Since, by the names of ProbeFiles' counters. Counters that the server does
	// not return are absent.
	IO map[string]float64 `json:"io,omitempty"`
}

// Growth is a file's growth setting. The zero value means that the file does not grow.
type Growth struct {
	Bytes   int64   `json:"bytes,omitempty"`
	Percent float64 `json:"percent,omitempty"`
	Max     int64   `json:"max,omitempty"` // B. 0 means without limit
}

// Gap describes a question that was not answered.
type Gap struct {
	Question string `json:"question"` // "I/O per file"
	Why      string `json:"why"`
	Remedy   string `json:"remedy,omitempty"` // the GRANT or the setting that helps
}
