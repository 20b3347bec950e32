package capture

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// missing lists the errors that show that an object named in a statement does not exist.
var missing = []string{"1054", "1146", "1305"} // ER_BAD_FIELD_ERROR, ER_NO_SUCH_TABLE, ER_SP_DOES_NOT_EXIST

var (
	deletes = regexp.MustCompile(`(?i)^\s*DELETE +(FROM\b)`)
	selects = regexp.MustCompile(`(?is)^\s*(?:INSERT|REPLACE)\b[^?]*?\bINTO\b[^?]*?\b((?:SELECT|WITH)\b.*)$`)
	// expression matches the name of a common table expression, which is no table.
	expression = regexp.MustCompile("(?i)(?:\\bWITH(?: +RECURSIVE)?|\\)\\s*,)\\s*`?([^\\s`(]+)`?\\s*(?:\\([^()]*\\)\\s*)?\\bAS\\s*\\(")
)

// exists returns an error if an object named in a writing statement is missing. A session that cannot write refuses
// such a statement first. So queries are prepared in its place: of its tables and columns, and of what it reads.
func (w *ofInnoDB) exists(ctx context.Context, s filewise.Shape) error {
	columns := map[string][]string{}
	for _, t := range s.Tables {
		columns[t] = nil
	}
	add := func(table, column string) {
		if _, is := columns[table]; is && column != "" && !slices.Contains(columns[table], dialect.Ident(column)) {
			columns[table] = append(columns[table], dialect.Ident(column))
		}
	}
	for _, c := range s.Columns {
		add(s.Into, c)
	}
	for _, v := range s.Values {
		if v.Use == filewise.UseInsert || v.Use == filewise.UseSet || len(s.Tables) == 1 {
			add(v.Table, v.Column)
		}
	}
	text := parameters(s)
	expressions := expression.FindAllStringSubmatch(text, -1)
	var queries []string
	for _, t := range s.Tables {
		if slices.ContainsFunc(expressions, func(m []string) bool { return m[1] == t }) {
			continue
		}
		of := strings.Join(columns[t], ", ")
		if of == "" {
			of = "1"
		}
		queries = append(queries, fmt.Sprintf("SELECT %s FROM %s", of, w.path(ctx, t)))
	}
	if m := selects.FindStringSubmatch(text); m != nil {
		queries = append(queries, m[1])
	}
	if deletes.MatchString(text) {
		queries = append(queries, deletes.ReplaceAllString(text, "SELECT 1 $1"))
	}
	for _, q := range queries {
		if err := w.prepared(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// prepared returns an error only if an object named in a query is missing. It ignores other errors, because they come
// from the form of the query and not from the captured statement.
func (w *ofInnoDB) prepared(ctx context.Context, query string) error {
	if _, _, err := w.prepare(ctx, query); slices.Contains(missing, w.code(err)) {
		return err
	}
	return context.Cause(ctx)
}

// path returns a table's name, with or without its database, quoted for SQL. A dot can be part of the name.
func (w *ofInnoDB) path(ctx context.Context, name string) string {
	of, table, ok := strings.Cut(name, ".")
	if all, _ := w.tables(ctx); !ok || slices.Contains(all, name) {
		return dialect.Ident(name)
	}
	return dialect.Ident(of) + "." + dialect.Ident(table)
}
