// Package capturing shows what the clients of a SQL Server database do. SQL Server has no session
// that only reads: nothing but SELECT is sent, and statements to be described, not executed.
package capturing

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/sqlserver/internal/result"
	"filewise/internal/sqlfile"
)

//go:embed capture.sql
var text string

// Queries holds all statements of a capture.
var Queries = sqlfile.Must(sqlfile.Parse("capture.sql", text, nil))

// Watcher watches one database.
type Watcher struct {
	Banner, Database string
	In               *sql.DB // one connection, in the database
	Rules            customsql.Rules
	// Ident quotes a name, Numbers are the server's of an error, and Explain describes what to do about one.
	Ident   func(string) string
	Numbers func(error) []int
	Explain func(error) error
	// Grant lets the account see what it is denied.
	Grant  string
	Denied func(error) bool
	Shut   func() error // the server's other connections

	section, source string          // what counts the statements
	schemas         map[string]bool // that a set-up makes already
}

// Server is product and version, and what counts.
func (w *Watcher) Server() string { return w.Banner + w.source }

// Close ends the connections.
func (w *Watcher) Close() error { return errors.Join(w.In.Close(), w.Shut()) }

func (w *Watcher) ask(ctx context.Context, section string, vars map[string]any, args ...any) ([]result.Row, error) {
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	statement, err := Queries.Statement(section, vars)
	if err != nil {
		return nil, err
	}
	rows, err := result.Query(ctx, w.In, statement, args...)
	if err != nil {
		return nil, w.Explain(fmt.Errorf("%s of database %s: %w", section, w.Database, err))
	}
	return rows, nil
}

// storing is the state of a Query Store that counts.
const storing = 2

// Look finds what counts statements: the Query Store if it is on, else the cache of plans, which forgets.
func (w *Watcher) Look(ctx context.Context) {
	w.section, w.schemas = "counted-cache", map[string]bool{}
	w.source = "; by the plans in its cache, which forgets those that it has no room for: the Query Store counts all"
	store, err := w.ask(ctx, "store", nil)
	if err != nil || len(store) != 1 || store[0].Int("state") != storing {
		return
	}
	w.section, w.source = "counted-store", "; by its Query Store"
	if mode := store[0].Text("mode"); mode != "ALL" {
		w.source += " (QUERY_CAPTURE_MODE " + mode + ": what is seldom and cheap is not counted)"
	}
}

// Counted reads what was counted.
func (w *Watcher) Counted(ctx context.Context) ([]filewise.CountedStatement, error) {
	rows, err := w.ask(ctx, w.section, nil)
	if err != nil && filewise.RemedyOf(err) == "" {
		remedy := "try again when the server is less busy, or have its Query Store count, which is read faster: " +
			"ALTER DATABASE … SET QUERY_STORE = ON"
		if w.Denied(err) {
			remedy = w.Grant
		}
		err = filewise.Errorf(filewise.CodeUsage, remedy, "what the statements do cannot be read: %w", err)
	}
	var all []filewise.CountedStatement // of one text without its values several
	for _, r := range rows {
		s := filewise.CountedStatement{Text: w.Rules.Masked(undeclared(r.Text("text")))}
		s.Key = w.Rules.Key(s.Text)
		if s.ID = s.Text; s.Text == "" {
			s.ID, s.Hidden = "hidden", "its text is hidden: it is encrypted, or "+w.Grant
		}
		s.Calls, s.Seconds, s.Rows = float64(r.Int("calls")), float64(r.Int("microseconds"))/1e6, float64(r.Int("rows_read"))
		all = append(all, s)
	}
	return customsql.Summed(all), err
}

// undeclared returns a statement without the declaration of its parameters, (@p1 int,@p2 nvarchar(40))SELECT ….
func undeclared(text string) string {
	if !strings.HasPrefix(text, "(@") {
		return text
	}
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text[i+1:]
			}
		}
	}
	return text
}

// Sessions counts the sessions of the database.
func (w *Watcher) Sessions(ctx context.Context) (active, connected int, err error) {
	rows, err := w.ask(ctx, "sessions", nil)
	if err != nil || len(rows) != 1 {
		return 0, 0, err
	}
	return int(rows[0].Int("active")), int(rows[0].Int("connected")), nil
}

// Shape has the server describe a statement with its values taken out: it reports of what types these are.
func (w *Watcher) Shape(ctx context.Context, statement string, _ []string) (filewise.Shape, error) {
	s, err := w.Rules.Shape(statement, w.Database, func(table string) (names []string, err error) {
		id, err := w.find(ctx, table)
		if err != nil || id == nil {
			return nil, err
		}
		rows, err := w.ask(ctx, "columns", nil, id.Int("id"))
		for _, r := range rows {
			if !r.Yes("made") {
				names = append(names, r.Text("column_name"))
			}
		}
		return names, err
	})
	if err != nil {
		return s, err
	}
	tried, variables := w.tried(s)
	words := w.Rules.Words(tried)
	if assigns(words) {
		return s, errors.New("it sets a variable, which other statements of its batch read")
	}
	if what, _ := w.Rules.Guard(words, false); what != "" {
		return s, fmt.Errorf("%s is refused in a study", what)
	}
	if tried, err = w.Rules.Adapt(tried, false); err != nil {
		return s, err
	}
	rows, err := w.ask(ctx, "describe", nil, tried)
	for _, r := range rows {
		name, _, _ := strings.Cut(r.Text("suggested_system_type_name"), "(")
		if i, ok := variables[r.Text("name")]; ok && s.Values[i].Use != filewise.UseLimit {
			s.Values[i].Type = kinds.Of(name)
		}
	}
	if w.undescribed(err) {
		err = nil
	}
	return s, err
}

// tried returns a shape with variables in the place of its values, and which value each stands for.
func (w *Watcher) tried(s filewise.Shape) (text string, variables map[string]int) {
	variables = map[string]int{}
	for i, v := range s.Values {
		said := v.Literal
		if said == "" {
			said = fmt.Sprintf("@fw%d", i+1)
			variables[said] = i
		}
		text += s.Pieces[i] + said
	}
	return text + s.Pieces[len(s.Values)], variables
}

// undescribed shows that a statement is right, and that no more can be reported: the type of a variable
// cannot be reported (11502 to 11530; 11501 is a mistake), or the account may not execute it (229, 230),
// since it changes rows.
func (w *Watcher) undescribed(err error) bool {
	numbers := w.Numbers(err)
	if slices.Contains(numbers, 229) || slices.Contains(numbers, 230) {
		return true
	}
	return !slices.Contains(numbers, 11501) && slices.ContainsFunc(numbers, func(n int) bool { return n > 11501 && n <= 11530 })
}

// assigns reports whether a statement gives a variable a value: SELECT @x = …, or UPDATE t SET @x = ….
func assigns(words []customsql.Word) bool {
	for i := 1; i+1 < len(words); i++ {
		variable := strings.HasPrefix(words[i].Text, "@") && !words[i].Quoted
		if variable && words[i+1].Is("=") && words[i-1].Is("SELECT", "SET", ",", ")", "DISTINCT") {
			return true
		}
	}
	return false
}

var _ filewise.Watcher = (*Watcher)(nil)
