// Package capturing shows what the clients of a schema of an Oracle database do. It sends
// nothing but SELECT on the server's views, and has the server parse statements.
package capturing

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/customsql"
)

// Server is the server in question.
type Server struct {
	// Ask are the rows of a section of capture.sql; whole numbers are int64.
	Ask    func(ctx context.Context, section string, vars map[string]any, args ...any) ([][]any, error)
	Exec   func(ctx context.Context, section string, args ...any) error
	Banner string
	Rules  customsql.Rules
	// Unseen reports an error that the account may not see an object, or that there is none.
	Unseen func(error) bool
	Close  func() error
}

type watcher struct {
	server Server
	schema string
	tables map[string]*table // by name. If nil, there is none
}

// Watch opens a schema.
func Watch(ctx context.Context, s Server, schema string) (filewise.Watcher, error) {
	w := &watcher{server: s, tables: map[string]*table{}}
	found, err := w.ask(ctx, "capture-schema", nil, schema, schema)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "name the schema of the application's tables by --database: SELECT username FROM "+
			"all_users WHERE oracle_maintained = 'N'", "there is no schema %s", schema)
	}
	w.schema = text(found[0][0])
	for _, r := range found {
		if text(r[0]) == schema {
			w.schema = schema
		}
	}
	return w, nil
}

func (w *watcher) Server() string { return w.server.Banner }

func (w *watcher) Close() error { return w.server.Close() }

func (w *watcher) ask(ctx context.Context, section string, vars map[string]any, args ...any) ([][]any, error) {
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	return w.server.Ask(ctx, section, vars, args...)
}

// longest sets how many letters of a text are read.
const longest = 4000

// Counted reads V$SQLSTATS: statements that differ in their values alone are one.
func (w *watcher) Counted(ctx context.Context) ([]filewise.CountedStatement, error) {
	rows, err := w.ask(ctx, "capture-statements", nil, w.schema)
	if err != nil {
		return nil, err
	}
	var all []filewise.CountedStatement
	for _, r := range rows {
		s := filewise.CountedStatement{ID: text(r[0]), Calls: real(r[1]), Seconds: real(r[2]) / 1e6, Rows: real(r[4])}
		for _, part := range r[6:10] {
			s.Text += raw(part)
		}
		s.Text = w.server.Rules.Masked(plain(s.Text))
		switch word := strings.ToUpper(first.FindString(s.Text)); {
		case slices.Contains([]string{"BEGIN", "DECLARE", "CALL"}, word):
			s.ID, s.Seconds = "PL/SQL", real(r[3])/1e6
			s.Hidden = "PL/SQL is not repeated: the statements that it executes are counted by themselves"
		case real(r[5]) > longest:
			s.Hidden = fmt.Sprintf("its text is longer than %d letters", longest)
		default:
			s.ID = strings.ToUpper(w.server.Rules.Key(s.Text))
		}
		all = append(all, s)
	}
	return customsql.Summed(all), nil
}

var first = regexp.MustCompile(`[A-Za-z]+`)

// Sessions counts the sessions of the schema.
func (w *watcher) Sessions(ctx context.Context) (active, connected int, err error) {
	rows, err := w.ask(ctx, "capture-sessions", nil, w.schema)
	if err != nil || len(rows) != 1 {
		return 0, 0, err
	}
	return int(real(rows[0][0])), int(real(rows[0][1])), nil
}

// made are expressions that stand for one value: moments, and numbers of sequences.
var made = regexp.MustCompile(`(?i)\bTO_(?:DATE|TIMESTAMP)\s*\([^()]*\)|\b(?:DATE|TIMESTAMP)\s*'[^']*'|(?:[\w$#".]+\.)?[\w$#"]+\.NEXTVAL\b`)

// plain returns a statement with a value in the place of each of these.
func plain(statement string) string {
	n := 0
	return made.ReplaceAllStringFunc(statement, func(string) string {
		n++
		return fmt.Sprintf(":FILEWISE_%d", n)
	})
}

// begins are the words of statements that a server's parser does not execute.
var begins = []string{"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE"}

// Shape divides a statement from its values, and has the server parse what is left of it.
func (w *watcher) Shape(ctx context.Context, statement string, _ []string) (filewise.Shape, error) {
	s, err := w.server.Rules.Shape(plain(statement), w.schema, func(name string) ([]string, error) {
		t, err := w.table(ctx, name)
		if t == nil {
			return nil, err
		}
		return filewise.Each(t.columns, func(c column) string { return c.Name }), err
	})
	if err != nil {
		return s, err
	}
	if !slices.Contains(begins, strings.ToUpper(first.FindString(strings.Join(s.Pieces, " ")))) {
		return s, unfit("it begins with none of %s", strings.Join(begins, ", "))
	}
	if strings.Contains(strings.Join(s.Pieces, ""), "@") {
		return s, unfit("it uses a database link")
	}
	if err := w.whole(ctx, s.Tables); err != nil {
		return s, err
	}
	if err := w.moments(ctx, &s); err != nil {
		return s, err
	}
	tried := ""
	for i := range s.Values {
		tried += s.Pieces[i] + fmt.Sprintf(":%d", i+1)
	}
	tried += s.Pieces[len(s.Values)]
	limited, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	err = w.server.Exec(limited, "capture-parse", tried, w.schema)
	if w.server.Unseen(err) { // the account need not read the tables
		err = nil
	}
	return s, err
}

func unfit(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), filewise.ErrUnsupported)
}

// whole refuses names that are no table of the schema, which the study's set-up makes.
func (w *watcher) whole(ctx context.Context, names []string) error {
	for _, name := range names {
		t, err := w.table(ctx, name)
		if err != nil {
			return err
		}
		if t != nil {
			if t.why != "" {
				return unfit("table %s %s", name, t.why)
			}
			continue
		}
		owner, object, ok := strings.Cut(name, ".")
		if !ok {
			owner, object = w.schema, name
		}
		found, err := w.ask(ctx, "capture-object", nil, owner, object)
		if err != nil {
			return err
		}
		if len(found) > 0 { // else a column, of EXTRACT(DAY FROM at)
			return unfit("%s is a %s, and a study's set-up makes the tables of one schema", name, strings.ToLower(text(found[0][0])))
		}
	}
	return nil
}

// moments has values of columns of time be texts, whatever the session's format.
func (w *watcher) moments(ctx context.Context, s *filewise.Shape) error {
	for i, v := range s.Values {
		tables := s.Tables
		if v.Table != "" {
			tables = []string{v.Table}
		}
		for _, name := range tables {
			t, err := w.table(ctx, name)
			if err != nil {
				return err
			}
			if t == nil || v.Literal != "" || !slices.ContainsFunc(t.columns, func(c column) bool {
				return c.Name == v.Column && c.Type == filewise.TypeTime
			}) {
				continue
			}
			s.Pieces[i] += "TO_DATE("
			s.Pieces[i+1] = ", 'YYYY-MM-DD HH24:MI:SS')" + s.Pieces[i+1]
			break
		}
	}
	return nil
}
