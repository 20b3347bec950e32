package capture

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/customsql"
)

// ofOracle watches a schema of an Oracle database. It sends nothing but SELECT on the server's views, and has the
// server parse statements.
type ofOracle struct {
	asking
	schema string
	tables map[string]*oracleTable // by name. A nil table does not exist
}

func watchOracle(ctx context.Context, in asking) (Watcher, error) {
	w := &ofOracle{asking: in, schema: in.database, tables: map[string]*oracleTable{}}
	found, err := w.ask(ctx, "capture-schema", nil, in.database, in.database)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "name the schema of the application's tables by --database: SELECT username FROM "+
			"all_users WHERE oracle_maintained = 'N'", "there is no schema %s", in.database)
	}
	if !slices.ContainsFunc(found, func(r filewise.Row) bool { return r.Text(0) == in.database }) {
		w.schema = found[0].Text(0)
	}
	return w, nil
}

// readNoLog returns an error: Oracle writes no log of statements.
func readNoLog(io.Reader, string, func(filewise.LoggedStatement)) error {
	return filewise.Unsupported("leave --log out: capture reads what the server counts", "statements of a log on oracle")
}

func (w *ofOracle) Server() string { return w.About().Server }

// ask sends a question. If a grant is missing, the error's remedy lists all grants that a capture needs.
func (w *ofOracle) ask(ctx context.Context, section string, vars map[string]any, args ...any) ([]filewise.Row, error) {
	rows, err := w.asking.ask(ctx, section, vars, args...)
	if w.Remedy(err) != "" {
		var all []string
		for _, m := range oracleView.FindAllStringSubmatch(oracleSQL, -1) {
			all = append(all, "GRANT SELECT ON SYS."+strings.ToUpper(m[1])+" TO "+w.About().Account)
		}
		slices.Sort(all)
		err = filewise.Errorf(filewise.CodePreflight, strings.Join(slices.Compact(all), "; "),
			"the account may not read what capture asks: %w", err)
	}
	return rows, err
}

var oracleView = regexp.MustCompile(`\bsys\.(dba_\w+|v_\$\w+)`)

// longestText is the number of characters that are read of a text.
const longestText = 4000

// Counted reads V$SQLSTATS. Statements that differ in their values alone count as one.
func (w *ofOracle) Counted(ctx context.Context) ([]filewise.CountedStatement, error) {
	rows, err := w.ask(ctx, "capture-statements", nil, w.schema)
	if err != nil {
		return nil, err
	}
	var all []filewise.CountedStatement
	for _, r := range rows {
		s := filewise.CountedStatement{ID: r.Text(0), Calls: real(r, 1), Seconds: real(r, 2) / 1e6, Rows: real(r, 4)}
		for part := 6; part < 10; part++ {
			s.Text += r.Text(part)
		}
		s.Text = w.rules.Masked(unmade(s.Text))
		switch word := strings.ToUpper(firstLetters.FindString(s.Text)); {
		case slices.Contains([]string{"BEGIN", "DECLARE", "CALL"}, word):
			s.ID, s.Seconds = "PL/SQL", real(r, 3)/1e6
			s.Hidden = "PL/SQL is not repeated: the statements that it executes are counted by themselves"
		case real(r, 5) > longestText:
			s.Hidden = fmt.Sprintf("its text is longer than %d letters", longestText)
		default:
			s.ID = strings.ToUpper(w.rules.Key(s.Text))
		}
		all = append(all, s)
	}
	return customsql.Summed(all), nil
}

var firstLetters = regexp.MustCompile(`[A-Za-z]+`)

// Sessions counts the sessions of the schema.
func (w *ofOracle) Sessions(ctx context.Context) (active, connected int, err error) {
	rows, err := w.ask(ctx, "capture-sessions", nil, w.schema)
	if err != nil || len(rows) != 1 {
		return 0, 0, err
	}
	return int(real(rows[0], 0)), int(real(rows[0], 1)), nil
}

// made matches expressions that yield one value: dates, times, and the next number of a sequence.
var made = regexp.MustCompile(`(?i)\bTO_(?:DATE|TIMESTAMP)\s*\([^()]*\)|\b(?:DATE|TIMESTAMP)\s*'[^']*'|(?:[\w$#".]+\.)?[\w$#"]+\.NEXTVAL\b`)

// unmade returns a statement with a bind variable in the place of each expression that made matches.
func unmade(statement string) string {
	n := 0
	return made.ReplaceAllStringFunc(statement, func(string) string {
		n++
		return fmt.Sprintf(":FILEWISE_%d", n)
	})
}

// parsedWords lists the first words of statements that a parse does not execute.
var parsedWords = []string{"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE"}

// Shape divides a statement from its values, and has the server parse the rest.
func (w *ofOracle) Shape(ctx context.Context, statement string, _ []string) (filewise.Shape, error) {
	s, err := w.rules.Shape(unmade(statement), w.schema, func(name string) ([]string, error) {
		t, err := w.table(ctx, name)
		if t == nil {
			return nil, err
		}
		return filewise.Each(t.columns, func(c oracleColumn) string { return c.Name }), err
	})
	if err != nil {
		return s, err
	}
	if !slices.Contains(parsedWords, strings.ToUpper(firstLetters.FindString(strings.Join(s.Pieces, " ")))) {
		return s, unfit("it should begin with one of %s", strings.Join(parsedWords, ", "))
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
	_, err = w.ask(ctx, "capture-parse", nil, tried, w.schema)
	if unseenByOracle(w.Codes(err)) { // the account need not have the right to read the tables
		err = nil
	}
	return s, err
}

func unfit(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), filewise.ErrUnsupported)
}

// whole refuses a statement with a name that the study's set-up cannot make: a table that does not fit, or another
// object.
func (w *ofOracle) whole(ctx context.Context, names []string) error {
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
		if len(found) > 0 { // otherwise a column, as in EXTRACT(DAY FROM at)
			return unfit("%s is a %s, and a study's set-up makes the tables of one schema", name, strings.ToLower(found[0].Text(0)))
		}
	}
	return nil
}

// moments turns values of date and time columns into TO_DATE calls on texts, so that the session's format does not
// matter.
func (w *ofOracle) moments(ctx context.Context, s *filewise.Shape) error {
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
			if t == nil || v.Literal != "" || !slices.ContainsFunc(t.columns, func(c oracleColumn) bool {
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

// unseenByOracle reports whether the error codes show that an object does not exist, or that the account may not see
// it.
func unseenByOracle(codes []string) bool {
	return slices.ContainsFunc(codes, func(c string) bool { return slices.Contains(strings.Fields("942 1031 4043 6550 1950 904"), c) })
}
