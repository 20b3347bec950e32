package filewise

import (
	"fmt"
	"time"
)

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
	// Failed is set if the session's statement failed, and with it all that its transaction did since its last savepoint.
	Failed bool
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

// The types of columns in a copy of a user's database.
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
	// From and To bound the shortest range with nine tenths of the values, if the keys between have a wide gap.
	From, To string
	Distinct float64 // number of values. 0 means not known
	Width    float64 // mean length of a text
	Most     int     // most letters of a text. 0 means no limit
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
	// separate databases. If empty, each connection has its own files.
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
