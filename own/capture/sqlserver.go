package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/customsql"
)

// ofSQLServer watches a database of SQL Server, which has no read-only sessions. It sends nothing but SELECT, and
// statements that the server describes and does not execute.
type ofSQLServer struct {
	asking
	section, source string          // what counts the statements: its query, and its description
	schemas         map[string]bool // that a set-up has made already
}

// Server returns the product and version, and what counts the statements.
func (w *ofSQLServer) Server() string {
	banner, _, _ := strings.Cut(w.About().Server, "; ")
	return banner + w.source
}

// storing is the state of a Query Store that records statements.
const storing = 2

// watchSQLServer finds out what counts statements: the Query Store if it is on, else the plan cache, which forgets.
func watchSQLServer(ctx context.Context, in asking) (Watcher, error) {
	w := &ofSQLServer{asking: in, section: "counted-cache", schemas: map[string]bool{},
		source: "; by the plans in its cache, which forgets those that it has no space for: the Query Store counts all"}
	store, _ := w.ask(ctx, "store", nil) // if this fails, the plan cache counts
	if len(store) != 1 || store[0].Int(0) != storing {
		return w, nil
	}
	w.section, w.source = "counted-store", "; by its Query Store"
	if mode := store[0].Text(1); mode != "ALL" {
		w.source += " (QUERY_CAPTURE_MODE " + mode + ": what is seldom and cheap is not counted)"
	}
	return w, nil
}

// readNoTrace returns an error: SQL Server's traces are no text.
func readNoTrace(io.Reader, string, func(filewise.LoggedStatement)) error {
	return filewise.Unsupported("leave --log out, and have the Query Store count: ALTER DATABASE … SET QUERY_STORE = ON",
		"a log of SQL Server, whose traces are no text")
}

// Counted returns the statements that the server has counted.
func (w *ofSQLServer) Counted(ctx context.Context) ([]filewise.CountedStatement, error) {
	rows, err := w.ask(ctx, w.section, nil)
	if err != nil && filewise.RemedyOf(err) == "" {
		err = filewise.Errorf(filewise.CodeUsage, cmp.Or(w.Remedy(err), "try again when the server is less busy, or have its Query Store "+
			"count, which is read faster: ALTER DATABASE … SET QUERY_STORE = ON"), "what the statements do cannot be read: %w", err)
	}
	var all []filewise.CountedStatement // one text without its values can have several rows
	for _, r := range rows {
		s := filewise.CountedStatement{Text: w.rules.Masked(undeclared(r.Text(0)))}
		s.Key = w.rules.Key(s.Text)
		if s.ID = s.Text; s.Text == "" {
			s.ID, s.Hidden = "hidden", "its text is hidden: it is encrypted, or GRANT VIEW SERVER STATE TO "+w.About().Account
		}
		s.Calls, s.Seconds, s.Rows = float64(r.Int(1)), float64(r.Int(2))/1e6, float64(r.Int(3))
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

// Sessions counts the database's sessions.
func (w *ofSQLServer) Sessions(ctx context.Context) (active, connected int, err error) {
	rows, err := w.ask(ctx, "sessions", nil)
	if err != nil || len(rows) != 1 {
		return 0, 0, err
	}
	return int(rows[0].Int(1)), int(rows[0].Int(0)), nil
}

// Shape divides a statement from its values, and asks the server for the types of the values.
func (w *ofSQLServer) Shape(ctx context.Context, statement string, _ []string) (filewise.Shape, error) {
	s, err := w.rules.Shape(statement, w.database, func(table string) (names []string, err error) {
		id, err := w.find(ctx, table)
		if err != nil || id == nil {
			return nil, err
		}
		rows, err := w.ask(ctx, "columns", nil, id.Int(0))
		for _, r := range rows {
			if !r.Yes(4) {
				names = append(names, r.Text(1))
			}
		}
		return names, err
	})
	if err != nil {
		return s, err
	}
	tried, variables := w.tried(s)
	words := w.rules.Words(tried)
	if assigns(words) {
		return s, errors.New("it sets a variable, which other statements of its batch read")
	}
	if what, _ := w.rules.Guard(words, false); what != "" {
		return s, fmt.Errorf("%s is refused in a study", what)
	}
	if tried, err = w.rules.Adapt(tried, false); err != nil {
		return s, err
	}
	rows, err := w.ask(ctx, "describe", nil, tried)
	for _, r := range rows {
		name, _, _ := strings.Cut(r.Text(3), "(")
		if i, ok := variables[r.Text(1)]; ok && s.Values[i].Use != filewise.UseLimit {
			s.Values[i].Type = sqlServerKinds.Of(name)
		}
	}
	if undescribed(w.Codes(err)) {
		err = nil
	}
	return s, err
}

// tried returns a shape's text with a variable in the place of each value, and the value's number by variable.
func (w *ofSQLServer) tried(s filewise.Shape) (text string, variables map[string]int) {
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

// undescribed reports whether the error codes show a correct statement that the server cannot describe further. Either
// the type of a variable cannot be determined (11502 to 11530; 11501 is a mistake). Or the account may not execute the
// statement, since it changes rows (229, 230).
func undescribed(codes []string) bool {
	if slices.Contains(codes, "229") || slices.Contains(codes, "230") {
		return true
	}
	untold := func(c string) bool { return len(c) == 5 && c > "11501" && c <= "11530" }
	return !slices.Contains(codes, "11501") && slices.ContainsFunc(codes, untold)
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
