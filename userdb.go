package filewise

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Capturer is an engine that can record what the clients of an existing database do.
type Capturer interface {
	// Watch opens a user's database, in sessions that cannot write.
	Watch(ctx context.Context, t Target, database string) (Watcher, error)
	// ReadLog reads a server's log, and calls each in order with the statements that a database was given.
	ReadLog(r io.Reader, database string, each func(LoggedStatement)) error
}

// Watcher queries a database. Every query is light and has a time limit.
type Watcher interface {
	// Server returns the product and version.
	Server() string
	// Counted returns the statements that the server has counted so far, without their values. If the server does not
	// count, the error states what to do.
	Counted(context.Context) ([]CountedStatement, error)
	// Sessions returns how many of the database's sessions are executing something now, and how many there are.
	Sessions(context.Context) (active, connected int, err error)
	// Shape divides a statement from its values, except for the constants (see Shape.Keep). It executes nothing. The error
	// reports why the server would not accept the statement.
	Shape(ctx context.Context, text string, constants []string) (Shape, error)
	// Table returns the facts of the table with this name, with statistics of its columns. If no table has the name, the
	// facts have no name. No value of a column that withhold names is read or returned.
	Table(ctx context.Context, name string, withhold func(column string) bool) (TableFacts, error)
	// Settings returns the settings, by name, that make a managed server behave like this one. Settings that clients make
	// in their own sessions go before the server's; nil means none are known. "autocommit" is included if sessions begin
	// without it.
	Settings(ctx context.Context, sessions map[string]string) (map[string]string, error)
	Close() error
}

// CountedStatement is a statement that a server has counted.
type CountedStatement struct {
	ID, Text             string
	Key                  string // the same for all values, though the text may hold some
	Calls, Seconds, Rows float64
	// Hidden is the reason why the text is not known. It is empty if the text is known.
	Hidden string
}

// LoggedStatement is a statement from a log.
type LoggedStatement struct {
	Session string
	Text    string // empty if the session ends, and with it what it has begun
	Key     string // the same for all values
	// Values holds the texts of the values, in lists as in Key. An empty text is a parameter whose value is not known.
	Values [][]string
	// Arguments holds the values of the parameters $1, $2, …, in SQL. It is nil if they are not known.
	Arguments []string
	// Ended is when the statement ended if the log has durations, otherwise when it began. It is zero if not known.
	Ended   time.Time
	Seconds float64 // duration; 0 if the log has none
	Earlier bool    // the session is older than the log, which does not name its database
	// Together is set if the session's next statement came in one text with this one, and belongs to the same transaction.
	Together bool
}

// Unreadable is the text of a LoggedStatement that stands for a damaged place in a log.
const Unreadable = "what is cut or damaged in the log"

// Shape is a statement without its values.
type Shape struct {
	// Pieces holds the texts before, between and after the values: one more than there are values.
	Pieces []string
	Values []ValueUse
	Tables []string // names in the statement; some may not be tables
	// Into names the table into which the statement inserts rows, and Columns its columns. They are empty if the statement
	// inserts none, or names no columns.
	Into    string
	Columns []string
}

// Keep takes one constant per value, empty if the value varies. It puts the constants in place of the values without a
// known column.
func (s *Shape) Keep(constants []string) {
	for i, c := range constants {
		if i >= len(s.Values) || c == "" {
			continue
		}
		v := &s.Values[i]
		if v.Constant = c; v.Column == "" {
			v.Literal = c
			if v.Use == UsePattern {
				v.Use = UseNone
			}
		}
	}
}

// Use is a value's role in a statement.
type Use string

// The uses of values. A lower and an upper bound of one column make a range.
const (
	UseNone    Use = ""
	UseEqual   Use = "equal"
	UseOther   Use = "other" // compared in another way, or one of a list
	UseLower   Use = "lower"
	UseUpper   Use = "upper"
	UseSet     Use = "set"
	UseInsert  Use = "insert"
	UseAdd     Use = "add" // added to the column's value
	UseLimit   Use = "limit"
	UseOffset  Use = "offset"
	UsePattern Use = "pattern"
	// UseWords is a text whose words are searched for.
	UseWords Use = "words"
	// UseSpan is an interval of time, which the statement holds as a literal.
	UseSpan Use = "span"
)

// ValueUse describes a value's place in a statement.
type ValueUse struct {
	Table, Column string // empty if not known
	// Part names the column of Table's new row that an expression with the value computes. It is empty if there is none.
	Part string
	Use  Use
	Type ColumnType // as the server reports it
	Said string     // type in the server's words, if a study draws no values of it
	// Literal holds the value of a limit, an offset or a span. It is empty if the server does not return the value.
	Literal string
	Text    string // in the statement; empty if a parameter is in its place
	// Constant is the text of a value that never varied in a log. It is empty if the value varied, or the log has too few
	// calls.
	Constant string
	Number   int // values with the same number are the same; 0 means none
}

// ColumnType classifies the values of a column.
type ColumnType string

// The types of values.
const (
	TypeUnknown ColumnType = ""
	TypeWhole   ColumnType = "whole number"
	TypeNumber  ColumnType = "number"
	TypeText    ColumnType = "text"
	TypeTime    ColumnType = "time"
	TypeBool    ColumnType = "truth value"
	TypeUUID    ColumnType = "UUID"
	TypeJSON    ColumnType = "JSON"
)

// TableFacts holds what is known of a table.
type TableFacts struct {
	Name  string // name in the request
	Table string // without a schema
	Bytes int64
	Rows  float64
	Key   string // first column of the primary key. Empty means no primary key
	// Whole is the reason why the table cannot be divided into partitions. It is empty if it can.
	Whole string
	// Alone is the kind of layout that holds the table whole, next to other tables on other volumes. It is empty if no
	// kind does.
	Alone   Kind
	Columns []ColumnFacts
	Foreign []ForeignKey // foreign keys of several columns
	// Rules counts the rules that can turn an INSERT into another statement. The server counts each as another call.
	Rules int
	// Create returns statements that make a table with rows like this one's, for builds that no dump fills. spread is the
	// layout's place for the table, and the function reports for which columns frequent values may be used. Create is nil if a
	// dump makes the table.
	Create func(spread string, tell func(ColumnFacts) bool) []string
}

// ColumnFacts holds a column's statistics. Fields that were withheld, or are not known, are empty.
type ColumnFacts struct {
	Name string
	Type ColumnType
	Said string // its type in the server's words
	// Unique is set if every inserted row needs a new value in this column.
	Unique    bool
	Low, High string
	Distinct  float64 // number of values. 0 means not known
	Width     float64 // mean length of a text
	Most      int     // most letters of a text. 0 means no limit
	// Common holds the most frequent values, and Shares their shares of the rows.
	Common []string
	Shares []float64
	// Closed is set if the type's definition lists Common, and no other values exist.
	Closed bool
	// View is set if the column belongs to a view. The server has no statistics of views, so the facts are the underlying
	// table's.
	View bool
	// Checked is set if a CHECK of the table or of the type names the column.
	Checked bool
	// Fresh is an SQL expression that makes a new value. It is empty if none is known.
	Fresh string
	// Parent names the table, and ParentKey the column in it, that by a foreign key hold every value of this column. Both
	// are in SQL. They are empty if there is no foreign key.
	Parent, ParentKey string
	// ParentTable and ParentColumn are the same names without quotes.
	ParentTable, ParentColumn string
	// Composite is set if the unique key has other columns too, so that only the combination of values must be new.
	Composite bool
}

// ForeignKey is a foreign key of several columns. One row of the parent holds all their values together.
type ForeignKey struct {
	Columns []string
	Parent  string   // in SQL
	Keys    []string // the parent's columns, in SQL, in the order of Columns
}

// Asker is an engine through which package own queries a user's server.
type Asker interface {
	// Ask opens a session in the target's Database, if that is set. The session cannot write if the engine has such
	// sessions. text holds sections of SQL in addition to the engine's own.
	Ask(ctx context.Context, t Target, text string) (Asked, error)
}

// Asked is an open session of an Asker.
type Asked interface {
	About() About
	// Rows executes one section, and returns its rows. It gives up on a server that sends rows without end. Errors show no
	// secret.
	Rows(ctx context.Context, section string, vars map[string]any, args ...any) ([]Row, error)
	// Waits returns the waits since the server's start, or in a few samples. Benign waits are left out.
	Waits(context.Context) ([]Counter, error)
	// Remedy returns the statement, such as a GRANT, that makes a failed question succeed, or an empty text if there is
	// none.
	Remedy(error) string
	// Codes returns the server's codes of an error. It returns none if the error is not from the server.
	Codes(error) []string
	Close() error
}

// About holds facts that a server reports when a session is opened.
type About struct {
	Server   string            // product and version
	Local    bool              // the server runs on this host
	Account  string            // in SQL
	Version  [2]int            // in the product's way of counting releases
	Settings map[string]string // at opening
}

// AskPatience limits each question's time, so that a question blocked by a lock does not hold up the rest.
const AskPatience = 4 * time.Second

// RowsOf returns a driver's rows as Rows.
func RowsOf(all [][]any) []Row {
	return Each(all, func(r []any) Row { return r })
}

// Row is a row of an answer, by position. A column that is missing or NULL is empty.
type Row []any

func (r Row) at(n int) any {
	if n >= len(r) {
		return nil
	}
	if b, ok := r[n].([]byte); ok {
		return string(b)
	}
	return r[n]
}

// Text returns a column as text.
func (r Row) Text(n int) string {
	if r.at(n) == nil {
		return ""
	}
	return fmt.Sprint(r.at(n))
}

// Real returns a column as a number. ok is false for NULL, and for a value that is no number.
func (r Row) Real(n int) (x float64, ok bool) {
	switch v := r.at(n).(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	x, err := strconv.ParseFloat(r.Text(n), 64)
	return x, err == nil
}

// Number returns a column as a whole number. ok is false for NULL, and for a value that is no whole number.
func (r Row) Number(n int) (x int64, ok bool) {
	switch v := r.at(n).(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), v == float64(int64(v))
	}
	x, err := strconv.ParseInt(r.Text(n), 10, 64)
	return x, err == nil
}

// Int returns a column as a whole number, or 0 if it has none.
func (r Row) Int(n int) int64 {
	x, _ := r.Number(n)
	return x
}

// Yes reports whether a column is true or 1.
func (r Row) Yes(n int) bool { return r.at(n) == true || r.Int(n) == 1 }

// Aside begins the comment on a schema that holds the old copy of a table.
const Aside = "filewise apply"

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

// Wish describes the layout that a user's database is to get. It places files on the target's volumes, as the server
// names them. An empty Dir is the database's own place.
type Wish struct {
	Layout   Layout
	Database string   // empty means the address's database
	Tables   []string // tables to spread, as the user names them. Empty means the large ones
	Run      int64    // number of the run, part of the names of what the script creates
}

// Migration holds the way to a layout, and the way back.
type Migration struct {
	Database string `json:"database"`
	// Server is the product and version, as in Inspection.Server.
	Server string   `json:"server"`
	Tables []string `json:"tables"` // tables that are spread
	Bytes  int64    `json:"bytes"`  // size of the tables, indexes included
	// Client is the command that executes a script. If Input is set, it reads the script from standard input. Otherwise
	// the script's name is appended to its last argument.
	Client []string `json:"client"`
	Input  bool     `json:"input,omitempty"`
	// Behind holds the script's own arguments, after its name.
	Behind []string `json:"behind,omitempty"`
	// Opening comes before the steps. It makes the client stop at the first error, and the server refuse another database.
	Opening string          `json:"opening"`
	Steps   []MigrationStep `json:"steps"`
	Back    []MigrationStep `json:"back"`
	// Space holds the bytes that the steps need on each volume, by volume name.
	Space map[string]int64 `json:"space"`
	// Effects describes the consequences for backups, replicas and the log. Stays lists what does not move by itself, each
	// with the way to move it.
	Effects []string `json:"effects"`
	Stays   []string `json:"stays,omitempty"`
}

// MigrationStep is a step of a migration.
type MigrationStep struct {
	Title string `json:"title"`
	Locks string `json:"locks"` // what the step locks, as a sentence without its end
	// Read and Written are the bytes of data that the step reads and writes. Its time is estimated from them.
	Read    int64    `json:"read_bytes"`
	Written int64    `json:"written_bytes"`
	Stop    string   `json:"stop"` // what remains if the step is stopped half-way
	SQL     []string `json:"sql"`  // without semicolons at the ends; for psql, one may end in \gexec
	// Later is set if the step is written as a comment, for the user to execute once all is well.
	Later bool `json:"later,omitempty"`
}

// CustomSQL holds the SQL of a workload that brings its own. Engines use it in place of their sections. In it, :NAME is
// a parameter.
type CustomSQL struct {
	// Tables lists the tables that the layout spreads. The set-up creates them, and places them with {{spread "NAME"}}.
	Tables []CustomTable `json:"tables,omitempty"`
	// Setup is executed once in each build. Its texts are templates whose fields the engine defines.
	Setup []CustomText `json:"setup,omitempty"`
	// From is the dump of a database that fills each build, in place of the set-up. It is empty if there is none.
	From string `json:"from,omitempty"`
	// Sections is keyed by the names in Phase.Sections and the names that Querier.Query gets. A section of several
	// statements is a transaction.
	Sections map[string]CustomSection `json:"sections"`
	// ShardBy is the parameter whose value, modulo the number of files, selects an operation's file, if files are
	// databases of their own. If empty, each connection has its own files.
	ShardBy string `json:"shard_by,omitempty"`
}

// Restored reports whether a dump fills the program's builds.
func (p Program) Restored() bool { return p.Custom != nil && p.Custom.From != "" }

// CustomTable is a table of CustomSQL.
type CustomTable struct {
	Name string `json:"name"`
	Key  string `json:"key"` // the column by whose hash partitions divide the table
}

// CustomSection holds statements that belong together.
type CustomSection struct {
	Params []string     `json:"params,omitempty"` // the names of the Args, in order
	Drawn  []string     `json:"drawn,omitempty"`  // the names of the Args drawn by chance
	Texts  []CustomText `json:"texts"`
}

// CustomText is one statement, or a script of several.
type CustomText struct {
	Text  string `json:"text"`
	File  string `json:"file"`
	Line  int    `json:"line"`            // at which the text begins
	Whole bool   `json:"whole,omitempty"` // the text is one statement, semicolons included
}

// Place returns the file and line of a place in the text, a number of lines below its first.
func (t CustomText) Place(lines int) string { return fmt.Sprintf("%s:%d", t.File, t.Line+lines) }
