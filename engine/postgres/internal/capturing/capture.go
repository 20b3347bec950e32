// Package capturing reads what the clients of a PostgreSQL database do, without writing.
package capturing

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/postgres/dialect"
	"filewise/engine/postgres/internal/client"
	"filewise/internal/sqlfile"
)

//go:embed capture.sql
var text string

var queries = sqlfile.Must(sqlfile.Parse("capture.sql", text, nil))

// Watch opens a database of a server, for reading only.
func Watch(ctx context.Context, a filewise.Address, rules customsql.Rules) (filewise.Watcher, error) {
	l, err := client.Open(a, client.ReadingSettings())
	if err != nil {
		return nil, err
	}
	w := &watcher{link: l, rules: rules, database: a.Path}
	ctx, cancel := context.WithTimeout(ctx, 2*filewise.AskPatience)
	defer cancel()
	if err := l.Scan(ctx, queries.Text("greeting"), nil, &w.banner, &w.version, &w.user, &w.schema, &w.info); err != nil {
		l.Close()
		return nil, client.ConnectError(a.String(), err)
	}
	if err := w.accustom(ctx, a); err != nil {
		w.link.Close()
		return nil, client.ConnectError(a.String(), err)
	}
	return w, nil
}

type watcher struct {
	link                   *client.Link
	rules                  customsql.Rules
	banner, user, database string
	version                int
	schema                 string // of the extension pg_stat_statements; "" if the database does not have it
	info                   string // the same schema, if the extension reports what it has forgotten
	settings               map[string]string
}

func (w *watcher) Server() string { return w.banner }

func (w *watcher) Close() error { w.link.Close(); return nil }

const byLog = "; or log the statements (log_min_duration_statement = 0, log_destination = csvlog or jsonlog) and give the file by --log"

// Counted reads pg_stat_statements.
func (w *watcher) Counted(ctx context.Context) ([]filewise.CountedStatement, error) {
	if w.schema == "" {
		return nil, filewise.Errorf(filewise.CodeUsage, "as a superuser: CREATE EXTENSION pg_stat_statements in that database, with "+
			"shared_preload_libraries = 'pg_stat_statements' and a restart of the server if it is not loaded yet"+byLog,
			"database %s has no extension pg_stat_statements, which counts what the statements do", w.database)
	}
	took, top := "total_exec_time + total_plan_time", "toplevel"
	if w.version < 130000 {
		took = "total_time"
	}
	if w.version < 140000 {
		top = "true"
	}
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	rows, err := w.link.Rows(ctx, fmt.Sprintf(`SELECT coalesce(queryid, 0)::text, query, calls::float8, (%s)::float8 / 1000, rows::float8
  FROM %s.pg_stat_statements WHERE %s AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`, took, w.schema, top))
	switch client.CodeOf(err) {
	case "55000": // object_not_in_prerequisite_state
		return nil, filewise.Errorf(filewise.CodeUsage, "set shared_preload_libraries = 'pg_stat_statements' and restart the server"+byLog,
			"pg_stat_statements is not loaded: %w", err)
	case client.CodeNoRight:
		return nil, filewise.Errorf(filewise.CodeUsage, "as a superuser: GRANT pg_read_all_stats TO "+dialect.Ident(w.user),
			"the account may not read pg_stat_statements: %w", err)
	}
	if err != nil {
		return nil, err
	}
	var all []filewise.CountedStatement // one for each user
	for _, row := range rows {
		s := filewise.CountedStatement{ID: client.Text(row[0]), Text: client.Text(row[1]), Calls: row[2].(float64), Seconds: row[3].(float64),
			Rows: row[4].(float64)}
		if s.Text == "<insufficient privilege>" {
			s.ID, s.Text = "hidden", ""
			s.Hidden = "texts of other roles are hidden: GRANT pg_read_all_stats TO " + dialect.Ident(w.user)
		}
		if query := declared(s.Text); query != "" { // each cursor has its own name
			s.Text = query
			s.ID = w.rules.Key(query)
		}
		s.Key = w.rules.Key(s.Text) // the server keeps the values of utility statements: CREATE ROLE … PASSWORD
		all = append(all, s)
	}
	return customsql.Summed(all), nil
}

// Sessions counts the sessions of the database.
func (w *watcher) Sessions(ctx context.Context) (active, connected int, err error) {
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	err = w.link.Scan(ctx, queries.Text("sessions"), nil, &active, &connected)
	return active, connected, err
}

// Shape has the server parse a statement whose values are taken out, so that the server reports the values' types.
func (w *watcher) Shape(ctx context.Context, statement string, constants []string) (filewise.Shape, error) {
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	s, err := w.rules.Shape(statement, "", func(table string) ([]string, error) {
		quoted, err := w.quoted(ctx, table)
		if err != nil {
			return nil, err
		}
		return w.link.Texts(ctx, queries.Text("names"), quoted)
	})
	if err != nil {
		return s, err
	}
	s.Keep(constants)
	err = w.typed(ctx, &s)
	for _, cast := range []func(*filewise.Shape) bool{ofNumbers, ofLiterals, ofArrays("integer"), ofArrays("text"), ofArrays("uuid")} {
		if !slices.Contains([]string{codeAmbiguous, codeUndefined, codeMismatch}, client.CodeOf(err)) {
			break
		}
		tried := s
		tried.Pieces, tried.Values = slices.Clone(s.Pieces), slices.Clone(s.Values)
		if !cast(&tried) {
			continue
		}
		if again := w.typed(ctx, &tried); again == nil {
			return tried, nil
		}
	}
	return s, err
}

// typed asks the server for the types of a statement's values.
func (w *watcher) typed(ctx context.Context, s *filewise.Shape) error {
	tried, number := "", 0
	numbers := make([]int, len(s.Values))
	for i, v := range s.Values {
		tried += s.Pieces[i]
		switch {
		case v.Use == filewise.UseLimit, v.Use == filewise.UseOffset:
			tried += "1"
		case v.Use == filewise.UseSpan:
			tried += "'1 day'"
		case v.Column == "" && v.Literal != "":
			tried += v.Literal
		default:
			number++
			numbers[i] = number
			tried += "$" + strconv.Itoa(number)
		}
	}
	tried += s.Pieces[len(s.Values)]
	var types []uint32
	err := w.link.With(ctx, func(conn *pgx.Conn) error {
		told, err := conn.PgConn().Prepare(ctx, "", tried, nil)
		if err != nil {
			return w.link.Done(ctx, tried, err)
		}
		types = told.ParamOIDs
		return nil
	})
	for i, n := range numbers {
		if v := &s.Values[i]; err == nil && n > 0 {
			var name string
			err = w.link.Scan(ctx, "SELECT typname::text, format_type(oid, NULL) FROM pg_type WHERE oid = $1", []any{types[n-1]}, &name, &v.Said)
			if v.Type = kinds.Of(name); v.Type != filewise.TypeUnknown {
				v.Said = ""
			}
			if err == nil && name == "regclass" && ofSequence.MatchString(s.Pieces[i]) { // the name of any sequence will do
				err = w.link.Scan(ctx, queries.Text("sequence"), nil, &v.Literal)
			}
		}
	}
	return err
}

// ofSequence matches text that ends right before the name of a sequence.
var ofSequence = regexp.MustCompile(`(?i)\b(?:next|curr)val\s*\(\s*$`)

const codeAmbiguous, codeUndefined, codeMismatch = "42725", "42883", "42804" // of functions (operators included) and of types

// quoted returns a table's name, with or without its schema, quoted for SQL. A dot can be part of the name.
func (w *watcher) quoted(ctx context.Context, name string) (as string, err error) {
	as = dialect.Ident(name)
	if schema, table, ok := strings.Cut(name, "."); ok {
		in := dialect.Ident(schema) + "." + dialect.Ident(table)
		err = w.link.Scan(ctx, "SELECT CASE WHEN to_regclass($1) IS NULL THEN $2 ELSE $1 END", []any{as, in}, &as)
	}
	return as, err
}

var kinds = customsql.Kinds{filewise.TypeWhole: "int2 int4 int8 oid", filewise.TypeNumber: "numeric float4 float8",
	filewise.TypeText: "text varchar bpchar name citext char bytea", filewise.TypeTime: "timestamp timestamptz date",
	filewise.TypeBool: "bool", filewise.TypeUUID: "uuid", filewise.TypeJSON: "json jsonb"}

// Table returns facts about a table and its columns, as of the last ANALYZE.
func (w *watcher) Table(ctx context.Context, name string, withhold func(string) bool) (t filewise.TableFacts, err error) {
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	quoted, err := w.quoted(ctx, name)
	if err != nil {
		return t, err
	}
	t, err = w.tableOf(ctx, quoted, withhold)
	if t.Name != "" {
		t.Name = name
	}
	return t, err
}

func (w *watcher) tableOf(ctx context.Context, quoted string, withhold func(string) bool) (t filewise.TableFacts, err error) {
	rows, err := w.link.Rows(ctx, queries.Text("table"), quoted)
	if err != nil || len(rows) == 0 {
		return t, err
	}
	row := rows[0]
	t.Name, t.Table, t.Rows, t.Key = quoted, client.Text(row[0]), row[1].(float64), client.Text(row[3])
	t.Bytes, _ = row[2].(int64)
	t.Alone = filewise.KindSingle
	if other := client.Text(row[4]); other != "" {
		t.Whole = "its unique key " + other + " does not contain " + t.Key
	}
	if schema := client.Text(row[6]); schema != "public" {
		t.Table = schema + "." + t.Table
	}
	if rules, ok := row[9].(int64); ok {
		t.Rules = int(rules)
	}
	if heirs := client.Text(row[7]); heirs != "" {
		t.Whole = "others inherit from it: " + heirs
	}
	if of := client.Text(row[8]); of != "" {
		t.Whole = "it inherits from " + of
	}
	kind := client.Text(row[5])
	if kind != "r" {
		t.Whole, t.Alone = "it is a view, or divided already", ""
	}
	columns, err := w.link.Texts(ctx, queries.Text("names"), quoted)
	if err != nil {
		return t, err
	}
	withheld := append([]string{}, filewise.Those(columns, withhold)...) // never nil, because the server needs a list
	err = w.link.With(ctx, func(conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, queries.Text("columns"), quoted, withheld)
		if err == nil {
			t.Columns, err = pgx.CollectRows(rows, readColumn)
		}
		if err == nil {
			rows, err = conn.Query(ctx, queries.Text("foreign"), quoted)
		}
		if err == nil {
			t.Foreign, err = pgx.CollectRows(rows, pgx.RowToStructByPos[filewise.ForeignKey])
		}
		return w.link.Done(ctx, queries.Text("columns"), err)
	})
	if err == nil && kind == "v" {
		err = w.throughView(ctx, quoted, t.Columns, withhold)
	}
	return t, err
}

func readColumn(row pgx.CollectableRow) (filewise.ColumnFacts, error) {
	var c filewise.ColumnFacts
	var base string
	var bounds []*string
	var common []*string
	var parent, labels []string
	err := row.Scan(&c.Name, &c.Said, &base, &labels, &c.Most, &c.Unique, &c.Composite, &c.Checked, &c.Distinct, &c.Width, &common, &c.Shares,
		&bounds, &parent)
	c.Type = kinds.Of(base)
	ordered := c.Type == filewise.TypeWhole || c.Type == filewise.TypeText || c.Type == filewise.TypeUUID
	if len(parent) == 4 && ordered {
		c.Parent, c.ParentKey, c.ParentTable, c.ParentColumn = parent[0], parent[1], parent[2], parent[3]
	}
	if c.Type != filewise.TypeText {
		c.Most = 0
	}
	if c.Type == filewise.TypeUUID {
		c.Fresh = "gen_random_uuid()"
	}
	for _, v := range common {
		c.Common = append(c.Common, *v)
	}
	if len(common) == 0 {
		c.Shares = nil
	}
	all := c.Common
	for _, v := range bounds {
		all = append(all[:len(all):len(all)], *v)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(v string) bool { return c.Type == filewise.TypeTime && strings.HasSuffix(v, "infinity") })
	if c.Closed = len(labels) > 0; c.Closed && len(c.Common) == 0 {
		c.Common = labels
	}
	c.Low, c.High = extremes(c.Type, all)
	if len(all) > 0 && len(c.Common) == 0 && (c.Type == filewise.TypeUUID || c.Type == filewise.TypeText) {
		for i := 0; i < len(all); i += len(all)/50 + 1 {
			c.Common = append(c.Common, all[i])
		}
	}
	return c, err
}

// extremes returns the smallest and the greatest of the values.
func extremes(kind filewise.ColumnType, all []string) (low, high string) {
	if len(all) == 0 {
		return "", ""
	}
	order := func(a, b string) int { return cmp.Compare(a, b) }
	if kind == filewise.TypeWhole || kind == filewise.TypeNumber {
		order = func(a, b string) int {
			x, _ := strconv.ParseFloat(a, 64) // the server wrote these numbers
			y, _ := strconv.ParseFloat(b, 64)
			return cmp.Compare(x, y)
		}
	}
	return slices.MinFunc(all, order), slices.MaxFunc(all, order)
}
