package filewise

import (
	"context"
	"time"
)

// Inspector is an engine that can look at an existing server, or at existing files
// of an embedded engine, without any load.
type Inspector interface {
	// Inspect opens the target, reads and closes it. It reads catalogues and light views only, each question with a
	// time limit, in sessions that cannot write if the engine has such. A question without an answer is a gap; the
	// error is only for a target that does not open.
	Inspect(context.Context, Target) (Inspection, error)
}

// Inspection holds a target's facts about its files, and facts alone; package inspect states what they are worth.
type Inspection struct {
	Server string `json:"server"` // product and version
	Local  bool   `json:"local"`  // the server runs on this host
	// Cores counts the server's cores. 0 means not known.
	Cores int `json:"cores,omitempty"`
	// Since is for how long the counters have counted. 0 means not known.
	Since  time.Duration `json:"since_ns,omitempty"`
	Groups []FileGroup   `json:"groups"`
	// Waits are the waits since Since, or of one look if Sampled; benign ones are left out. A unit is "s", "waits" or
	// "sessions".
	Waits   []Counter `json:"waits,omitempty"`
	Sampled bool      `json:"sampled,omitempty"`
	// Figures are the numbers with the names below that the server returns.
	Figures  map[string]float64 `json:"figures,omitempty"`
	Settings map[string]string  `json:"settings,omitempty"`
	// Places are where further files may be put.
	Places []Place `json:"places,omitempty"`
	Gaps   []Gap   `json:"gaps,omitempty"`
}

// The names of figures; counters are since Inspection.Since.
const (
	FigureBuffer     = "buffer"                          // B, memory for cached pages
	FigureMemory     = "memory"                          // B, of the server's host
	FigureRequests   = "page requests"                   // found in the cache or not
	FigureMisses     = "page misses"                     // of the requests, those that read a file
	FigureTempFiles  = "temporary files"                 // made since
	FigureTempBytes  = "temporary bytes"                 // B, written to them
	FigureTempTables = "temporary tables"                // made since, in memory or not
	FigureTempDisk   = "temporary tables on disk"        // of them
	FigureTimed      = "timed checkpoints"               // that came when their time had come
	FigureRequested  = "requested checkpoints"           // that came because the log was full, or by request
	FigureLogBytes   = "log bytes"                       // B, written since
	FigureLogWaits   = "waits for room in the log"       // number
	FigureFreeWaits  = "waits for a free page"           // number
	FigureExtends    = "extensions of files"             // number
	FigureAllocation = "sessions waiting for allocation" // now
	FigureReadTime   = "time of reading data files"      // s
	FigureWriteTime  = "time of writing data files"      // s
	FigureSwitches   = "log switches in the last day"    // number
	FigureSessions   = "sessions"                        // connected now, without Filewise's own
)

// Place is where files may be put: a volume as --volume takes it.
type Place struct {
	Volume
	// Path is its directory on the server's host, and Device the storage below.
	// Empty: not known.
	Path   string `json:"path,omitempty"`
	Device string `json:"device,omitempty"`
}

// FileUse states what a group's files are for.
type FileUse string

// The uses of files.
const (
	UseData FileUse = "data"
	UseLog  FileUse = "log"
	UseTemp FileUse = "temp"
	UseUndo FileUse = "undo"
)

// Fill states how a group's files are filled.
type Fill string

// The ways of filling.
const (
	FillFree       Fill = "in proportion to free space" // SQL Server
	FillTurns      Fill = "extent by extent, in turns"  // Oracle
	FillOrder      Fill = "one after the other"         // InnoDB's system tablespace
	FillPartitions Fill = "by partition"                // PostgreSQL, InnoDB
	FillOwn        Fill = "one file"                    // a plain table, a bigfile tablespace
	FillFiles      Fill = "a database each"             // SQLite
)

// FileGroup are the files that one table, filegroup, tablespace or log is spread
// over.
type FileGroup struct {
	Name     string  `json:"name"` // "filegroup PRIMARY of sales", "table public.orders"
	Database string  `json:"database,omitempty"`
	Use      FileUse `json:"use"`
	Fill     Fill    `json:"fill,omitempty"`
	// System: of the server itself; Own: it carries a name that only Filewise gives.
	System bool `json:"system,omitempty"`
	Own    bool `json:"own,omitempty"`
	// Aside: the old copy of a table, which a script of apply has moved aside for the way back.
	Aside bool          `json:"aside,omitempty"`
	Files []FileInspect `json:"files"`
	// RowBytes is the mean size of a row, without what the server adds, by its own statistics. 0 means not known.
	RowBytes float64 `json:"row_bytes,omitempty"`
	// Inserted and Changed (updated or deleted) are rows since Inspection.Since, where
	// the server counts them by table.
	Inserted float64 `json:"rows_inserted,omitempty"`
	Changed  float64 `json:"rows_changed,omitempty"`
	// Fragments counts virtual log files of SQL Server. 0 means the engine has none, or does not report them.
	Fragments int `json:"fragments,omitempty"`
	// GrowsAll: when one file is full, all grow.
	GrowsAll bool `json:"grows_all,omitempty"`
	// Whole reports why its table cannot be divided, if the server returns that.
	Whole string `json:"whole,omitempty"`
}

// FileInspect is one file of a group.
type FileInspect struct {
	Path  string `json:"path"` // or the object's name if the server has no path
	Bytes int64  `json:"bytes"`
	Free  *int64 `json:"free,omitempty"` // B within the file. Absent means not known
	// Growth is by how much it grows. Nil means not known.
	Growth *Growth `json:"growth,omitempty"`
	// Volume is where it lies: a mount, a tablespace, a disk group; Device the storage below, if known. Empty means
	// not known.
	Volume string `json:"volume,omitempty"`
	Device string `json:"device,omitempty"`
	// Dir is the directory on the server's host that it lies in. Empty means not known.
	Dir string `json:"dir,omitempty"`
	// IO is since Inspection.Since, by the names of ProbeFiles' counters. Absent means the server does not return it.
	IO map[string]float64 `json:"io,omitempty"`
}

// Growth is a file's setting. The zero value does not grow.
type Growth struct {
	Bytes   int64   `json:"bytes,omitempty"`
	Percent float64 `json:"percent,omitempty"`
	Max     int64   `json:"max,omitempty"` // B. 0 means without limit
}

// Gap is a question that was not answered.
type Gap struct {
	Question string `json:"question"` // "I/O per file"
	Why      string `json:"why"`
	Remedy   string `json:"remedy,omitempty"` // the GRANT, or the setting
}
