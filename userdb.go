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
	// Watch opens a database of the user's, in sessions that cannot write.
	Watch(ctx context.Context, t Target, database string) (Watcher, error)
	// ReadLog passes on the statements of a server's log that were given to a database, in their order.
	ReadLog(r io.Reader, database string, each func(LoggedStatement)) error
}

// Watcher queries one database. Each query is light, and has a time limit.
type Watcher interface {
	// Server is product and version.
	Server() string
	// Counted are the statements that the server has counted since it counts, without their values. If it does not
	// count, the error states what to do.
	Counted(context.Context) ([]CountedStatement, error)
	// Sessions counts the database's sessions: the ones executing something now, and all.
	Sessions(context.Context) (active, connected int, err error)
	// Shape divides a statement of the database from its values, except for constants (as Shape.Keep takes them).
	// Nothing is executed; the error reports why the server would not take it.
	Shape(ctx context.Context, text string, constants []string) (Shape, error)
	// Table returns the table of a name, with statistics of its columns. Without a name there is no table. No value
	// of a column that withhold names is read or returned.
	Table(ctx context.Context, name string, withhold func(column string) bool) (TableFacts, error)
	Close() error
}

// Accustomed is a Watcher that can list the settings on which the database's statements depend.
type Accustomed interface {
	// Settings returns the settings that give a managed server this one's behaviour, by name. What clients set in
	// their sessions themselves comes before the server's settings (nil means none are known). "autocommit" is there
	// if sessions begin without.
	Settings(ctx context.Context, sessions map[string]string) (map[string]string, error)
}

// CountedStatement is a statement that a server has counted.
type CountedStatement struct {
	ID, Text             string
	Key                  string // what is the same for all values, of which a text may hold some
	Calls, Seconds, Rows float64
	// Hidden reports why its text is not known. Empty means it is.
	Hidden string
}

// LoggedStatement is one statement of a log.
type LoggedStatement struct {
	Session string
	Text    string // empty: the session ends, and with it what it has begun
	Key     string // what is the same for all values
	// Values are the texts of its values, in lists as the key has them. Empty means a parameter whose value is not
	// known.
	Values [][]string
	// Arguments are the values of its parameters $1, $2, …, as SQL has them. Nil means not known.
	Arguments []string
	// Ended is the time of its end (if the log has durations), or of its begin. Zero means not known.
	Ended   time.Time
	Seconds float64 // 0 means the log has none
	Earlier bool    // its session is older than the log, which does not name its database
	// Together: the session's next statement was given in one text with it, and is of the same transaction.
	Together bool
}

// Shape is a statement without its values.
type Shape struct {
	// Pieces are the texts before, between and behind the values: one more than these.
	Pieces []string
	Values []ValueUse
	Tables []string // that it names; some may be none
	// Into is the table, and Columns its columns, that it inserts rows into. Empty means none, or none are named.
	Into    string
	Columns []string
}

// Keep takes one constant for each value (empty if the value varies), and puts constants in the places of values
// without a known column.
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

// Use is the role of a value in a statement.
type Use string

// The uses of values. A lower and an upper bound of one column are a range.
const (
	UseNone    Use = ""
	UseEqual   Use = "equal"
	UseOther   Use = "other" // it is compared in another way, or one of a list
	UseLower   Use = "lower"
	UseUpper   Use = "upper"
	UseSet     Use = "set"
	UseInsert  Use = "insert"
	UseAdd     Use = "add" // it is added to the column's
	UseLimit   Use = "limit"
	UseOffset  Use = "offset"
	UsePattern Use = "pattern"
	// UseWords is a text to search for, by words.
	UseWords Use = "words"
	// UseSpan is an interval of time, which the statement has as a literal.
	UseSpan Use = "span"
)

// ValueUse is a value's place in a statement.
type ValueUse struct {
	Table, Column string // empty means not known
	// Part is the column of Table's new row that an expression with the value makes. Empty means none.
	Part string
	Use  Use
	Type ColumnType // if the server returns it
	Said string     // its type in the server's words, if a study draws none of that kind
	// Literal holds the value of a limit, an offset or a span. Empty means the server does not return it.
	Literal string
	Text    string // in the statement. Empty means a parameter stands there
	// Constant is the text of a value that never varied in a log. Empty means it did, or the log has too few.
	Constant string
	Number   int // values of one number are the same. 0 means none
}

// ColumnType is the kind of values in a column.
type ColumnType string

// The kinds of values.
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

// TableFacts holds the facts of a table.
type TableFacts struct {
	Name  string // name in the request
	Table string // without a schema
	Bytes int64
	Rows  float64
	Key   string // the first column of its primary key. Empty means it has none
	// Whole reports why it cannot be divided into partitions. Empty means it can.
	Whole string
	// Alone is the kind of layout that holds it whole, next to other tables on other volumes. Empty means no kind
	// does.
	Alone   Kind
	Columns []ColumnFacts
	Foreign []ForeignKey // of several columns
	// Rules counts the rules that may turn an INSERT into another statement; a server counts each as a further call.
	Rules int
	// Create returns statements that make a table with rows like these, if no dump fills builds: spread is the
	// layout's place for it, and the function reports for which columns frequent values may be used. Nil means a dump
	// makes the table.
	Create func(spread string, tell func(ColumnFacts) bool) []string
}

// ColumnFacts holds a column's statistics. What was withheld, or is not known, is empty.
type ColumnFacts struct {
	Name string
	Type ColumnType
	Said string // its type in the server's words
	// Unique: a row that is inserted needs a new value here.
	Unique    bool
	Low, High string
	Distinct  float64 // how many values. 0 means not known
	Width     float64 // mean length of a text
	Most      int     // letters at most. 0 means no limit
	// Common are the most frequent values with their shares of the rows.
	Common []string
	Shares []float64
	// Closed: the type has no other values than Common, which its definition names.
	Closed bool
	// View: it belongs to a view, of which the server has no statistics; the facts are the underlying table's.
	View bool
	// Checked: a CHECK of the table or of the type names it.
	Checked bool
	// Fresh is an expression that makes a new value. Empty means none is known.
	Fresh string
	// Parent is the table, and ParentKey its column, that hold each value of this one by a foreign key, as SQL names
	// them. Empty means none does.
	Parent, ParentKey string
	// ParentTable and ParentColumn are their names without quotes.
	ParentTable, ParentColumn string
	// Composite: the unique key has other columns as well, so that a new value need be new with theirs only.
	Composite bool
}

// ForeignKey is one of several columns, whose values one row of the parent holds together.
type ForeignKey struct {
	Columns []string
	Parent  string   // as SQL names it
	Keys    []string // the parent's columns, as SQL names them, in the order of Columns
}

// Asker is an engine that package own asks about a user's server.
type Asker interface {
	// Ask opens a session that cannot write, if the engine has such, in the target's Database if that is set. The text
	// holds sections of SQL in addition to the engine's own.
	Ask(ctx context.Context, t Target, text string) (Asked, error)
}

// Asked is an open session of an Asker.
type Asked interface {
	About() About
	// Rows runs one section. A server that sends rows without end is given up; errors show no secret.
	Rows(ctx context.Context, section string, vars map[string]any, args ...any) ([]Row, error)
	// Waits are the waits since the server's start, or of a few looks; benign ones are left out.
	Waits(context.Context) ([]Counter, error)
	// Remedy returns the statement, such as a GRANT, after which the question that failed is answered. Empty means there
	// is none.
	Remedy(error) string
	// Codes returns the server's codes of an error. If they are empty, the error is not the server's.
	Codes(error) []string
	Close() error
}

// About holds facts that a server reports when its session is opened.
type About struct {
	Server   string            // product and version
	Local    bool              // it runs on this host
	Account  string            // as SQL names it
	Version  [2]int            // as the product counts its releases
	Settings map[string]string // as they were at opening
}

// AskPatience limits each question, so that what a lock blocks does not hold up the rest.
const AskPatience = 4 * time.Second

// RowsOf returns the rows of a driver's answer.
func RowsOf(all [][]any) []Row {
	return Each(all, func(r []any) Row { return r })
}

// Row is one row of an answer, by position. A column that is missing or NULL is empty.
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

// Real returns a column as a number. ok is false for NULL and for anything that is not a number.
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

// Number returns a column as a whole number. ok is false for NULL and for anything that is not one.
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

// Int returns a column as a whole number. 0 means there is none.
func (r Row) Int(n int) int64 {
	x, _ := r.Number(n)
	return x
}

// Yes reports whether a column is true, or 1.
func (r Row) Yes(n int) bool { return r.at(n) == true || r.Int(n) == 1 }

// Aside begins the comment of a schema that holds the old copy of a table.
const Aside = "filewise apply"

// Inspection holds a target's facts about its files, and facts alone; package inspect interprets them.
type Inspection struct {
	Server string `json:"server"` // product and version
	Local  bool   `json:"local"`  // the server runs on this host
	// Cores counts the server's cores. 0 means not known.
	Cores int `json:"cores,omitempty"`
	// Since is the time for which the counters have counted. 0 means not known.
	Since  time.Duration `json:"since_ns,omitempty"`
	Groups []FileGroup   `json:"groups"`
	// Waits are the waits since Since, or of one look if Sampled; benign ones are left out. A unit is "s", "waits" or
	// "sessions".
	Waits   []Counter `json:"waits,omitempty"`
	Sampled bool      `json:"sampled,omitempty"`
	// Figures are the numbers with the names below that the server returns.
	Figures  map[string]float64 `json:"figures,omitempty"`
	Settings map[string]string  `json:"settings,omitempty"`
	// Places are possible places of further files.
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

// Place is a possible place of files: a volume as --volume takes it.
type Place struct {
	Volume
	// Path is its directory on the server's host, and Device the storage below. Empty means not known.
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

// Fill is the way in which a group's files are filled.
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
	// Inserted and Changed (updated or deleted) are rows since Inspection.Since, if the server counts them by table.
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
	// Growth holds the step by which the file grows. Nil means not known.
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

// Wish is the layout that a user's database is to have. It places files on the target's volumes, as its server names
// them; an empty Dir is the database's own place.
type Wish struct {
	Layout   Layout
	Database string   // empty means the address's database
	Tables   []string // that are to be spread, as the user names them. Empty means the large ones
	Run      int64    // makes the names of what the script creates
}

// Migration is a way to a layout, and the way back.
type Migration struct {
	Database string `json:"database"`
	// Server is product and version, as Inspection.Server has it.
	Server string   `json:"server"`
	Tables []string `json:"tables"` // that are spread
	Bytes  int64    `json:"bytes"`  // of them, indexes included
	// Client is the command that executes a script, which it reads from its standard input if Input is set; else the
	// file's name is put behind its end.
	Client []string `json:"client"`
	Input  bool     `json:"input,omitempty"`
	// Behind are arguments of the script itself, behind its name.
	Behind []string `json:"behind,omitempty"`
	// Opening stands before the steps: what has the client stop at the first error, and
	// the server refuse another database.
	Opening string          `json:"opening"`
	Steps   []MigrationStep `json:"steps"`
	Back    []MigrationStep `json:"back"`
	// Space is the room that the steps need on each volume, in bytes, by volume name.
	Space map[string]int64 `json:"space"`
	// Effects describe its consequences for backups, replicas and the log. Stays lists what does not move by itself,
	// each with the way that moves it.
	Effects []string `json:"effects"`
	Stays   []string `json:"stays,omitempty"`
}

// MigrationStep is one step. If Stop is set, it has effect whole or not at all.
type MigrationStep struct {
	Title string `json:"title"`
	Locks string `json:"locks"` // what it locks, in a sentence without its end
	// Read and Written are the bytes of data that it reads and writes, by which its time
	// is estimated.
	Read    int64    `json:"read_bytes"`
	Written int64    `json:"written_bytes"`
	Stop    string   `json:"stop"` // what is left when it is stopped half-way
	SQL     []string `json:"sql"`  // without the semicolons at their ends; of psql, one may end in \gexec
	// Later: it is written as a comment, for the user to execute when all is well.
	Later bool `json:"later,omitempty"`
}

// CustomSQL is the SQL of a workload that brings its own, so that engines take it in
// place of their sections. Within it :NAME is a parameter.
type CustomSQL struct {
	// Tables lists the tables that the layout spreads. The set-up creates them, and places them by {{spread "NAME"}}.
	Tables []CustomTable `json:"tables,omitempty"`
	// Setup is executed once in each build. Its texts are templates; the engine defines their fields.
	Setup []CustomText `json:"setup,omitempty"`
	// From is a dump of a database, which fills each build in the place of the set-up. Empty means there is none.
	From string `json:"from,omitempty"`
	// Sections are keyed by the names of Phase.Sections and the names that Querier.Query gets. A section of several
	// statements is a transaction.
	Sections map[string]CustomSection `json:"sections"`
	// ShardBy is the parameter whose value, modulo their number, is the file of an operation, if files are databases
	// of their own. Empty means a connection has files of its own.
	ShardBy string `json:"shard_by,omitempty"`
}

// Restored reports whether a dump fills the program's builds.
func (p Program) Restored() bool { return p.Custom != nil && p.Custom.From != "" }

// CustomTable is a table of CustomSQL.
type CustomTable struct {
	Name string `json:"name"`
	Key  string `json:"key"` // the column by whose hash partitions divide it
}

// CustomSection are statements that belong together.
type CustomSection struct {
	Params []string     `json:"params,omitempty"` // the names of what Args gives, in order
	Drawn  []string     `json:"drawn,omitempty"`  // the Args drawn by chance
	Texts  []CustomText `json:"texts"`
}

// CustomText is one statement, or a script of several.
type CustomText struct {
	Text  string `json:"text"`
	File  string `json:"file"`
	Line  int    `json:"line"`            // on which the text begins
	Whole bool   `json:"whole,omitempty"` // one statement, semicolons included
}

// Place names the text's place, so many lines further down.
func (t CustomText) Place(lines int) string { return fmt.Sprintf("%s:%d", t.File, t.Line+lines) }
