package capture

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/postgres/dialect"
)

// quoted returns a table's name, with or without its schema, quoted for SQL. A dot can be part of the name.
func (w *ofPostgres) quoted(ctx context.Context, name string) (string, error) {
	as := dialect.Ident(name)
	schema, table, ok := strings.Cut(name, ".")
	if !ok {
		return as, nil
	}
	rows, err := w.ask(ctx, "quoted", nil, as, dialect.Ident(schema)+"."+dialect.Ident(table))
	return firstOf(rows).Text(0), err
}

// names returns the names of a table's columns.
func (w *ofPostgres) names(ctx context.Context, quoted string) ([]string, error) {
	return w.texts(ctx, "names", quoted)
}

var postgresKinds = customsql.Kinds{filewise.TypeWhole: "int2 int4 int8 oid", filewise.TypeNumber: "numeric float4 float8",
	filewise.TypeText: "text varchar bpchar name citext char bytea", filewise.TypeTime: "timestamp timestamptz date",
	filewise.TypeBool: "bool", filewise.TypeUUID: "uuid", filewise.TypeJSON: "json jsonb"}

// wholeNumeric matches the type of a number without fractions, as keys of commercial applications have it.
var wholeNumeric = regexp.MustCompile(`^numeric\(\d+,0\)`)

// Table returns facts about a table and its columns, as of the last ANALYZE.
func (w *ofPostgres) Table(ctx context.Context, name string, withhold func(string) bool) (t filewise.TableFacts, err error) {
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

func (w *ofPostgres) tableOf(ctx context.Context, quoted string, withhold func(string) bool) (t filewise.TableFacts, err error) {
	rows, err := w.ask(ctx, "table", nil, quoted)
	if err != nil || len(rows) == 0 {
		return t, err
	}
	row := rows[0]
	t.Name, t.Table, t.Bytes, t.Key, t.Rules = quoted, row.Text(0), row.Int(2), row.Text(3), int(row.Int(9))
	t.Rows, _ = row.Real(1)
	t.Alone = filewise.KindSingle
	if other := row.Text(4); other != "" {
		t.Whole = "its unique key " + other + " does not contain " + t.Key
	}
	if schema := row.Text(6); schema != "public" {
		t.Table = schema + "." + t.Table
	}
	if heirs := row.Text(7); heirs != "" {
		t.Whole = "others inherit from it: " + heirs
	}
	if of := row.Text(8); of != "" {
		t.Whole = "it inherits from " + of
	}
	kind := row.Text(5)
	if kind != "r" {
		t.Whole, t.Alone = "it is a view, or divided already", ""
	}
	columns, err := w.names(ctx, quoted)
	if err != nil {
		return t, err
	}
	withheld := append([]string{}, filewise.Those(columns, withhold)...) // never nil, because the server needs a list
	if rows, err = w.ask(ctx, "columns", nil, quoted, withheld); err != nil {
		return t, err
	}
	t.Columns = filewise.Each(rows, postgresColumn)
	rows, err = w.ask(ctx, "foreign", nil, quoted)
	t.Foreign = filewise.Each(rows, func(r filewise.Row) filewise.ForeignKey {
		return filewise.ForeignKey{Columns: listOf(r[0]), Parent: r.Text(1), Keys: listOf(r[2])}
	})
	if err == nil && kind == "v" {
		err = w.throughView(ctx, quoted, t.Columns, withhold)
	}
	return t, err
}

// listOf returns the texts in an array, and none for NULL.
func listOf(array any) []string {
	of, _ := array.([]any)
	return filewise.Each(of, func(v any) string { return fmt.Sprint(v) })
}

func postgresColumn(r filewise.Row) filewise.ColumnFacts {
	c := filewise.ColumnFacts{Name: r.Text(0), Said: r.Text(1), Type: postgresKinds.Of(r.Text(2)), Most: int(r.Int(4)), Unique: r.Yes(5),
		Composite: r.Yes(6), Checked: r.Yes(7), Common: listOf(r[10])}
	if wholeNumeric.MatchString(c.Said) {
		c.Type = filewise.TypeWhole
	}
	c.Distinct, _ = r.Real(8)
	c.Width, _ = r.Real(9)
	labels, parent := listOf(r[3]), listOf(r[13])
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
	if shares, ok := r[11].([]any); ok && len(c.Common) > 0 {
		c.Shares = filewise.Each(shares, func(v any) float64 { return v.(float64) })
	}
	all := slices.Concat(c.Common, listOf(r[12]))
	all = slices.DeleteFunc(all, func(v string) bool { return c.Type == filewise.TypeTime && strings.HasSuffix(v, "infinity") })
	if c.Closed = len(labels) > 0; c.Closed && len(c.Common) == 0 {
		c.Common = labels
	}
	c.Low, c.High = extremes(c.Type, all)
	if c.Type == filewise.TypeWhole {
		c.From, c.To = bulk(listOf(r[12]))
	}
	if len(all) > 0 && len(c.Common) == 0 && (c.Type == filewise.TypeUUID || c.Type == filewise.TypeText) {
		for i := 0; i < len(all); i += len(all)/50 + 1 {
			c.Common = append(c.Common, all[i])
		}
	}
	return c
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

// bulk returns the shortest range with nine tenths of a histogram's buckets, if the others lie far from it.
func bulk(bounds []string) (from, to string) {
	numbers := filewise.Each(bounds, func(v string) int64 {
		n, _ := strconv.ParseInt(v, 10, 64) // the server wrote it
		return n
	})
	n, best := len(numbers)*9/10, 0
	if n < 9 {
		return "", ""
	}
	width := func(i int) float64 { return float64(numbers[i+n]) - float64(numbers[i]) }
	for i := range len(numbers) - n {
		if width(i) < width(best) {
			best = i
		}
	}
	if float64(numbers[len(numbers)-1])-float64(numbers[0]) < 2*width(best) {
		return "", ""
	}
	return bounds[best], bounds[best+n]
}

// throughView copies to a view's columns the facts of the table columns that they show, because the server has no
// statistics of views. It learns those columns from a statement that the server prepares.
func (w *ofPostgres) throughView(ctx context.Context, quoted string, columns []filewise.ColumnFacts, withhold func(string) bool) error {
	rows, err := w.ask(ctx, "view", nil, quoted)
	if err != nil {
		return err
	}
	_, fields, err := w.prepare(ctx, firstOf(rows).Text(0))
	if err != nil {
		return err
	}
	shown := map[uint32]filewise.TableFacts{}
	for i, f := range fields[:min(len(fields), len(columns))] {
		c := &columns[i]
		c.View = true
		rows, err := w.ask(ctx, "shown", nil, f[0], f[1])
		if err != nil {
			return err
		}
		if len(rows) == 0 { // the column is an expression
			continue
		}
		if _, is := shown[f[0]]; !is {
			if shown[f[0]], err = w.tableOf(ctx, rows[0].Text(0), withhold); err != nil {
				return err
			}
		}
		of := shown[f[0]].Columns
		at := slices.IndexFunc(of, func(o filewise.ColumnFacts) bool { return o.Name == rows[0].Text(1) })
		if at < 0 {
			continue
		}
		name := c.Name
		*c = of[at]
		if c.Name, c.View = name, true; withhold(name) && !c.Closed {
			c.Low, c.High, c.From, c.To, c.Common, c.Shares = "", "", "", "", nil, nil
		}
	}
	return nil
}
