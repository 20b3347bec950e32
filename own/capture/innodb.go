package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/innodb/dialect"
)

// ofInnoDB watches a database of MariaDB or MySQL.
type ofInnoDB struct {
	asking
	vars    map[string]string // global variables
	foreign map[string]string // a foreign key of each table that has one or is referred to; nil if not read
	unread  error             // why they could not be read
	listed  []string          // names of the tables; nil if not read
}

func watchInnoDB(_ context.Context, in asking) (Watcher, error) {
	return &ofInnoDB{asking: in, vars: in.About().Settings}, nil
}

// Server returns the product and version.
func (w *ofInnoDB) Server() string { return w.About().Server }

const byLog = "; or log the statements (general_log, or slow_query_log with long_query_time = 0) and give the file by --log"

// Counted reads the digests in performance_schema.
func (w *ofInnoDB) Counted(ctx context.Context) ([]filewise.CountedStatement, error) {
	if w.vars["performance_schema"] != "ON" {
		return nil, filewise.Errorf(filewise.CodeUsage, "set performance_schema = ON and restart the server"+byLog,
			"performance_schema is off, so that the server counts no statements")
	}
	rows, err := w.ask(ctx, "counted", nil, w.database)
	if w.code(err) == tableDenied {
		return nil, filewise.Errorf(filewise.CodeUsage, w.Remedy(err), "the account may not read performance_schema: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if len(rows) > 0 {
		all := filewise.Each(rows, countedDigest)
		w.sampled(ctx, all)
		_ = w.named(ctx, all) // if it fails, a statement whose names stay wrong is left out later
		return w.outer(ctx, all), nil
	}
	rows, err = w.ask(ctx, "consumer", nil)
	if err == nil && len(rows) > 0 && rows[0].Text(0) != "YES" {
		return nil, filewise.Errorf(filewise.CodeUsage, "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = "+
			"'statements_digest'"+byLog, "the server counts no statements: the consumer statements_digest is off")
	}
	return nil, err
}

func countedDigest(r filewise.Row) filewise.CountedStatement {
	text := unit.ReplaceAllString(r.Text(1), "$1")
	// For x'00' MariaDB has (unknown). If that was no value, the server will refuse the text.
	s := filewise.CountedStatement{ID: r.Text(0), Text: strings.ReplaceAll(text, "(unknown)", "?")}
	s.Calls, _ = r.Real(2)
	s.Seconds, _ = r.Real(3)
	s.Rows, _ = r.Real(4)
	s.Seconds, s.Key = s.Seconds*dialect.Picosecond, s.Text
	switch {
	case s.ID == "":
		s.Hidden = "of any database, and forgotten: performance_schema_digests_size is too small"
	case strings.HasSuffix(s.Text, "...") && !strings.HasSuffix(s.Text, ", ..."):
		s.Hidden = "its text is cut: performance_schema_max_digest_length, max_digest_length"
	}
	return s
}

// Sessions counts the sessions of the database. It is called before the first statement is prepared, for which this
// program has a session there, too.
func (w *ofInnoDB) Sessions(ctx context.Context) (active, connected int, err error) {
	rows, err := w.ask(ctx, "sessions", nil, w.database)
	return int(firstOf(rows).Int(0)), int(firstOf(rows).Int(1)), err
}

// Shape has the server prepare a statement whose values are taken out.
func (w *ofInnoDB) Shape(ctx context.Context, statement string, constants []string) (filewise.Shape, error) {
	ctx, cancel := context.WithTimeout(ctx, filewise.AskPatience)
	defer cancel()
	s, err := w.rules.Shape(statement, w.database, func(table string) ([]string, error) {
		return w.texts(ctx, "visible", w.database, table)
	})
	if err != nil {
		return s, err
	}
	s.Keep(constants)
	for i, v := range s.Values {
		if v.Constant == "" && v.Literal == "" && geometry.MatchString(s.Pieces[i]) {
			s.Values[i].Said = "geometry"
		}
	}
	if err := w.fold(ctx, &s); err != nil {
		return s, err
	}
	_, _, err = w.prepare(ctx, parameters(s))
	if slices.Contains(writing, w.code(err)) { // the server reports it before it looks for named objects
		err = w.exists(ctx, s)
	}
	return s, err
}

// parameters returns a statement with ? in place of its values. Literals stay, because only they are allowed in some
// places, such as a path behind ->>.
func parameters(s filewise.Shape) string {
	var b strings.Builder
	for i, v := range s.Values {
		b.WriteString(s.Pieces[i] + cmp.Or(v.Literal, "?"))
	}
	return b.String() + s.Pieces[len(s.Values)]
}

var geometry = regexp.MustCompile("(?i)From(?:Text|WKB|GeoJSON)[` ]*\\( *$")

const tableDenied = "1142" // ER_TABLEACCESS_DENIED

// writing lists the codes of a statement that was refused because it writes. Either the transaction is read-only
// (ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION), or the account lacks the right (ER_TABLEACCESS_DENIED,
// ER_COLUMNACCESS_DENIED).
var writing = []string{"1792", tableDenied, "1143"}

// Table returns facts about a table and its columns. It reads the catalogue, the ends of indexes, and a few rows from
// both ends of the table.
func (w *ofInnoDB) Table(ctx context.Context, name string, withhold func(string) bool) (filewise.TableFacts, error) {
	t, err := w.table(ctx, name)
	if err != nil {
		return t, fmt.Errorf("table %s: %w", name, err)
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		limited, cancel := context.WithTimeout(ctx, time.Second)
		if err := w.sample(limited, t, c, withhold(c.Name)); err != nil {
			c.Low, c.High, c.Common, c.Shares, c.Distinct, c.Width = "", "", nil, nil, 0, 0 // no right, or no time
		}
		if c.Closed && len(c.Common) == 0 {
			c.Common = labels(c.Said)
		}
		cancel()
	}
	return t, nil
}

func (w *ofInnoDB) table(ctx context.Context, name string) (filewise.TableFacts, error) {
	t := filewise.TableFacts{}
	rows, err := w.ask(ctx, "table", nil, w.database, name)
	if err != nil || len(rows) == 0 {
		return t, err
	}
	t.Name, t.Table, t.Bytes = name, name, rows[0].Int(0)
	t.Rows, _ = rows[0].Real(1)
	kind, options := rows[0].Text(2), rows[0].Text(3)
	if rows, err = w.ask(ctx, "columns", nil, w.database, name); err != nil {
		return t, err
	}
	for _, r := range rows {
		data := r.Text(2)
		c := filewise.ColumnFacts{Name: r.Text(0), Said: r.Text(1), Type: kindOf(data, r.Text(1)), Most: int(min(r.Int(3), 1<<20))}
		switch {
		case c.Said == "binary(16)":
			c.Fresh = "UNHEX(REPLACE(UUID(), '-', ''))"
		case c.Type == filewise.TypeUUID:
			c.Fresh = "UUID()"
		}
		c.Closed = data == "enum" || data == "set"
		if slices.Contains(spatial, data) {
			t.Whole = "its column " + c.Name + " is spatial, which partitioned tables do not have"
		}
		t.Columns = append(t.Columns, c)
	}
	if kind != "BASE TABLE" || strings.Contains(options, "partitioned") {
		t.Whole = "it is a view, or divided already"
	} else {
		t.Alone = filewise.KindPerTable
	}
	if err := w.checks(ctx, &t, kind); err != nil {
		return t, err
	}
	if err := errors.Join(w.keys(ctx, &t), w.parents(ctx, &t)); err != nil {
		return t, err
	}
	switch constraint, err := w.foreignKey(ctx, name); {
	case err != nil: // the other facts about the table are still useful
		t.Whole = "its foreign keys could not be read: " + err.Error()
	case constraint != "":
		t.Whole = "it takes part in the foreign key " + constraint + ", and InnoDB has none on partitions"
	}
	return t, nil
}

// foreignKey returns a foreign key of the database in which a table takes part, or "". It reads all of them once.
func (w *ofInnoDB) foreignKey(ctx context.Context, table string) (string, error) {
	if w.foreign == nil && w.unread == nil {
		all := map[string]string{}
		var rows []filewise.Row
		rows, w.unread = w.ask(context.WithoutCancel(ctx), "foreign-keys", nil, w.database)
		for _, r := range rows {
			for _, end := range []int{1, 3} { // the database of each end, then its table
				if r.Text(end) == w.database {
					all[r.Text(end+1)] = r.Text(0)
				}
			}
		}
		if w.unread == nil {
			w.foreign = all
		}
	}
	return w.foreign[table], w.unread
}

// checks records which columns a CHECK names. MariaDB's JSON is a text with a CHECK that it is valid.
func (w *ofInnoDB) checks(ctx context.Context, t *filewise.TableFacts, kind string) error {
	if kind != "BASE TABLE" {
		return nil
	}
	rows, err := w.ask(ctx, "create", map[string]any{"Database": w.database, "Table": t.Table})
	for line := range strings.SplitSeq(firstOf(rows).Text(1), "\n") {
		_, check, _ := strings.Cut(line, " CHECK (")
		for i := range t.Columns {
			switch c := &t.Columns[i]; {
			case strings.HasPrefix(check, "json_valid("+dialect.Ident(c.Name)+"))"):
				c.Type = filewise.TypeJSON
			case strings.Contains(check, dialect.Ident(c.Name)):
				c.Checked = true
			}
		}
	}
	return err
}

// labels returns the labels of an ENUM or a SET, given its type.
func labels(text string) (all []string) {
	for _, m := range label.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.ReplaceAll(m[1], "''", "'"))
	}
	return all
}

var label = regexp.MustCompile(`'((?:[^']|'')*)'`)

// parents records the tables that hold the values of columns with foreign keys.
func (w *ofInnoDB) parents(ctx context.Context, t *filewise.TableFacts) error {
	type single struct{ table, column string }
	of := map[string]single{}
	last := ""
	var all []filewise.ForeignKey
	rows, err := w.ask(ctx, "parents", nil, w.database, t.Name)
	for _, r := range rows {
		constraint, column, parent, key := r.Text(0), r.Text(1), r.Text(2), r.Text(3)
		if constraint != last {
			last, all = constraint, append(all, filewise.ForeignKey{Parent: dialect.Ident(parent)})
			of[column] = single{parent, key}
		}
		f := &all[len(all)-1]
		f.Columns, f.Keys = append(f.Columns, column), append(f.Keys, dialect.Ident(key))
	}
	for _, f := range all {
		if len(f.Columns) > 1 {
			t.Foreign = append(t.Foreign, f)
			continue
		}
		i := slices.IndexFunc(t.Columns, func(c filewise.ColumnFacts) bool { return c.Name == f.Columns[0] })
		if i < 0 {
			continue
		}
		c := &t.Columns[i]
		c.Parent, c.ParentKey = f.Parent, f.Keys[0]
		c.ParentTable, c.ParentColumn = of[c.Name].table, of[c.Name].column
	}
	return err
}

// keys records the primary key, and what unique keys mean for new rows and for partitions.
func (w *ofInnoDB) keys(ctx context.Context, t *filewise.TableFacts) error {
	unique := map[string][]string{}
	rows, err := w.ask(ctx, "keys", nil, w.database, t.Name)
	for _, r := range rows {
		index, column, kind := r.Text(0), r.Text(2), r.Text(3)
		if kind == "FULLTEXT" || kind == "SPATIAL" {
			t.Whole = "its index " + index + " is " + kind + ", which partitioned tables do not have"
		}
		if r.Text(1) == "0" {
			unique[index] = append(unique[index], column)
		}
	}
	if primary := unique["PRIMARY"]; len(primary) > 0 {
		t.Key = primary[0]
	}
	for index, columns := range unique {
		if t.Key != "" && !slices.Contains(columns, t.Key) {
			t.Whole = "its unique key " + index + " does not contain " + t.Key
		}
		last := columns[len(columns)-1]
		for i := range t.Columns {
			if c := &t.Columns[i]; c.Name == last {
				c.Composite = len(columns) > 1 && (c.Composite || !c.Unique)
				c.Unique = true
			}
		}
	}
	return err
}

var spatial = strings.Fields("geometry point linestring polygon multipoint multilinestring multipolygon geometrycollection geomcollection")

func kindOf(data, whole string) filewise.ColumnType {
	switch {
	case whole == "char(36)":
		return filewise.TypeUUID
	case data == "bit", wholeDecimal.MatchString(whole):
		return filewise.TypeWhole
	}
	return innodbKinds.Of(data)
}

// wholeDecimal matches the type of a decimal without fractions, as keys of commercial applications have it.
var wholeDecimal = regexp.MustCompile(`^decimal\(\d+,0\)`)

var innodbKinds = customsql.Kinds{
	filewise.TypeWhole: "tinyint smallint mediumint int bigint year", filewise.TypeNumber: "decimal float double",
	filewise.TypeText: "char varchar tinytext text mediumtext longtext enum set binary varbinary tinyblob blob mediumblob longblob",
	filewise.TypeUUID: "uuid", filewise.TypeTime: "date datetime timestamp", filewise.TypeJSON: "json"}

// sampleRows is the number of rows that are read at each end of a table, and common how many of their values are
// reported.
const sampleRows, common = 5000, 50

// sample reads a column's range, lengths and frequencies. If withheld, it reads only lengths.
func (w *ofInnoDB) sample(ctx context.Context, t filewise.TableFacts, c *filewise.ColumnFacts, withheld bool) error {
	vars := map[string]any{"Database": w.database, "Table": t.Name, "Column": c.Name, "Bits": strings.HasPrefix(c.Said, "bit("),
		"Key": t.Key, "Rows": sampleRows, "Most": common + 1}
	if t.Key == "" {
		vars["Rows"] = 2 * sampleRows
	}
	if c.Type == filewise.TypeText {
		rows, err := w.ask(ctx, "sample-width", vars)
		if err != nil {
			return err
		}
		c.Width, _ = firstOf(rows).Real(0)
	}
	if withheld || rawBytes.MatchString(c.Said) || c.Type == filewise.TypeJSON || c.Type == filewise.TypeUnknown || c.Width > 200 {
		return nil
	}
	rows, err := w.ask(ctx, "sample-range", vars)
	if err != nil {
		return err
	}
	c.Low, c.High = firstOf(rows).Text(0), firstOf(rows).Text(1)
	rows, err = w.ask(ctx, "sample-common", vars)
	var sum, n float64
	for _, r := range rows {
		n, _ = r.Real(1)
		sum, _ = r.Real(2)
		if r[0] != nil {
			c.Common, c.Shares = append(c.Common, r.Text(0)), append(c.Shares, n/max(sum, 1))
		}
	}
	switch {
	case len(c.Common) <= common:
		c.Distinct = float64(len(c.Common))
	case n*20 >= sum/common: // all values are about equally frequent
		c.Common, c.Shares = c.Common[:common], c.Shares[:common]
	}
	return err
}
