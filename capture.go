package filewise

import (
	"context"
	"io"
	"time"
)

// Capturer is an engine that can record what the clients of an existing database do.
type Capturer interface {
	// Watch opens a database of the user's, in sessions that cannot write.
	Watch(ctx context.Context, t Target, database string) (Watcher, error)
	// ReadLog passes on the statements of a server's log that were given to a database, in their order.
	ReadLog(r io.Reader, database string, each func(LoggedStatement)) error
}

// Watcher asks one database. Whatever it asks is light, and has a time limit.
type Watcher interface {
	// Server is product and version.
	Server() string
	// Counted are the statements that the server has counted since it counts, without their values. Where it does not
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
	// Pieces holds what stands before, between and behind the values: one more than these.
	Pieces []string
	Values []ValueUse
	Tables []string // that it names; some may be none
	// Into is the table, and Columns its columns, that it inserts rows into. Empty means none, or none are named.
	Into    string
	Columns []string
}

// Keep has constants, one for each value (empty: it varies), stand in the places of values that no column is known for.
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

// Use holds what a statement does with a value.
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

// ValueUse is where a value stands.
type ValueUse struct {
	Table, Column string // empty: not known
	// Part is the column of Table's new row that an expression with the value makes. Empty means none.
	Part string
	Use  Use
	Type ColumnType // if the server returns it
	Said string     // its type in the server's words, where a study draws none of that kind
	// Literal holds the value of a limit, an offset or a span. Empty means the server does not return it.
	Literal string
	Text    string // in the statement. Empty means a parameter stands there
	// Constant is the text of a value that never varied in a log. Empty means it did, or the log has too few.
	Constant string
	Number   int // values of one number are the same. 0 means none
}

// ColumnType holds what kind of values a column has.
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

// TableFacts are a table's.
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
