package capture

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// oracleTable is a table of the schema.
type oracleTable struct {
	name    string
	rows    float64
	why     string // why a study's set-up does not make the table. Empty means it does
	columns []oracleColumn
	indexes []oracleIndex
}

// oracleColumn is a column, with the form in which its values are stored.
type oracleColumn struct {
	filewise.ColumnFacts
	scale     int64
	nulls     float64
	histogram string
	ends      []bucket
}

type bucket struct {
	number, repeats float64
	value           string
}

type oracleIndex struct {
	name    string
	unique  bool
	columns []string
}

// table reads a table of the schema. It returns nil if there is none.
func (w *ofOracle) table(ctx context.Context, name string) (*oracleTable, error) {
	if t, known := w.tables[name]; known {
		return t, nil
	}
	t, err := w.read(ctx, name)
	if err == nil {
		w.tables[name] = t
	}
	return t, err
}

func (w *ofOracle) read(ctx context.Context, name string) (*oracleTable, error) {
	found, err := w.ask(ctx, "capture-table", nil, w.schema, name)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	t := &oracleTable{name: name, rows: real(found[0], 0)}
	switch r := found[0]; {
	case r.Text(1) != "":
		t.why = "lies in a cluster"
	case r.Text(2) != "":
		t.why = "is organized as an index"
	case r.Text(3) == "Y":
		t.why = "is a temporary one"
	}
	columns, err := w.ask(ctx, "capture-columns", nil, w.schema, name)
	if err != nil {
		return nil, err
	}
	for _, r := range columns {
		c := columnOf(r)
		if c.Said == "" {
			t.why = cmp.Or(t.why, fmt.Sprintf("has column %s of type %s, which a study's set-up does not make", c.Name, r.Text(1)))
		}
		t.columns = append(t.columns, c)
	}
	indexes, err := w.ask(ctx, "capture-indexes", nil, w.schema, name)
	if err != nil {
		return nil, err
	}
	for _, r := range indexes {
		if r.Text(2) != "NORMAL" {
			continue // of expressions, bitmaps or domains
		}
		if n := len(t.indexes); n == 0 || t.indexes[n-1].name != r.Text(0) {
			t.indexes = append(t.indexes, oracleIndex{name: r.Text(0), unique: r.Text(1) == "UNIQUE"})
		}
		last := &t.indexes[len(t.indexes)-1]
		last.columns = append(last.columns, r.Text(3))
	}
	for _, x := range t.indexes {
		if c := t.column(x.columns[len(x.columns)-1]); x.unique && c != nil {
			c.Unique = true
		}
	}
	return t, nil
}

func (t *oracleTable) column(name string) *oracleColumn {
	for i := range t.columns {
		if t.columns[i].Name == name {
			return &t.columns[i]
		}
	}
	return nil
}

// columnOf returns a column, with its type as a set-up writes it. The type is empty if a set-up cannot make the column.
func columnOf(r filewise.Row) oracleColumn {
	kind, length, chars := r.Text(1), int64(real(r, 2)), int64(real(r, 3))
	c := oracleColumn{scale: -1}
	c.Name, c.Distinct, c.Width = r.Text(0), real(r, 6), max(real(r, 7)-1, 0)
	switch {
	case kind == "NUMBER" && r.Text(4) == "" && r.Text(5) == "":
		c.Type, c.Said = filewise.TypeNumber, kind
	case kind == "NUMBER":
		c.Type, c.scale = filewise.TypeNumber, int64(real(r, 5))
		c.Said = fmt.Sprintf("NUMBER(%s, %d)", cmp.Or(r.Text(4), "38"), c.scale)
		if c.scale <= 0 {
			c.Type = filewise.TypeWhole
		}
	case kind == "FLOAT" || kind == "BINARY_FLOAT" || kind == "BINARY_DOUBLE":
		c.Type, c.Said = filewise.TypeNumber, kind
	case kind == "VARCHAR2" || kind == "CHAR":
		c.Type, c.Said, c.Most = filewise.TypeText, fmt.Sprintf("%s(%d CHAR)", kind, chars), int(chars)
	case kind == "NVARCHAR2" || kind == "NCHAR":
		c.Type, c.Said, c.Most = filewise.TypeText, fmt.Sprintf("%s(%d)", kind, chars), int(chars)
	case kind == "DATE" || strings.HasPrefix(kind, "TIMESTAMP"):
		c.Type, c.Said = filewise.TypeTime, kind
	case kind == "RAW":
		c.Said = fmt.Sprintf("RAW(%d)", length)
	case kind == "CLOB" || kind == "NCLOB" || kind == "BLOB":
		c.Said = kind
	}
	return c
}

// Table returns a table's facts and its columns', by the last statistics.
func (w *ofOracle) Table(ctx context.Context, name string, withhold func(string) bool) (f filewise.TableFacts, err error) {
	t, err := w.table(ctx, name)
	if err != nil || t == nil || t.why != "" {
		return f, err
	}
	if err := w.values(ctx, t, withhold); err != nil {
		return f, err
	}
	bytes, err := w.ask(ctx, "capture-bytes", nil, w.schema, name)
	if err != nil {
		return f, err
	}
	f = filewise.TableFacts{Name: name, Table: t.name, Rows: t.rows, Key: t.columns[0].Name, Create: t.create,
		Columns: filewise.Each(t.columns, func(c oracleColumn) filewise.ColumnFacts { return c.ColumnFacts })}
	if len(bytes) == 1 {
		f.Bytes = int64(real(bytes[0], 0))
	}
	if i := slices.IndexFunc(t.indexes, func(x oracleIndex) bool { return x.unique }); i >= 0 {
		f.Key = t.indexes[i].columns[0]
	}
	return f, nil
}

// values reads the statistics of the columns' values, except of withheld columns.
func (w *ofOracle) values(ctx context.Context, t *oracleTable, withhold func(string) bool) error {
	withheld := []string{}
	for _, c := range t.columns {
		if withhold(c.Name) {
			withheld = append(withheld, c.Name)
		}
	}
	vars := map[string]any{"Withheld": withheld}
	ranges, err := w.ask(ctx, "capture-ranges", vars, w.schema, t.name)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if c := t.column(r.Text(0)); c != nil && !slices.Contains(withheld, c.Name) {
			c.Low, c.High, c.nulls, c.histogram, c.ends = stored(c.Type, r.Text(1)), stored(c.Type, r.Text(2)), real(r, 3), r.Text(4), nil
		}
	}
	ends, err := w.ask(ctx, "capture-histograms", vars, w.schema, t.name)
	if err != nil {
		return err
	}
	for _, r := range ends {
		c := t.column(r.Text(0))
		if c == nil || slices.Contains(withheld, c.Name) {
			continue
		}
		b := bucket{number: real(r, 1), repeats: real(r, 4), value: r.Text(2)}
		if c.Type == filewise.TypeText {
			b.value = r.Text(3)
		}
		c.ends = append(c.ends, b)
	}
	for i := range t.columns {
		t.columns[i].frequent(t.rows)
	}
	return nil
}

// frequent takes a histogram's frequent values, with their shares of the rows.
func (c *oracleColumn) frequent(rows float64) {
	c.Common, c.Shares = nil, nil
	if len(c.ends) == 0 || c.Type == filewise.TypeTime || c.Type == filewise.TypeUnknown {
		return
	}
	all, before := c.ends[len(c.ends)-1].number, 0.0
	if c.histogram == "TOP-FREQUENCY" {
		all = max(all, rows-c.nulls)
	}
	ends := slices.Clone(c.ends)
	for i := range ends {
		n := ends[i].number - before
		before = ends[i].number
		if c.histogram == "HYBRID" {
			n = ends[i].repeats
		}
		ends[i].repeats = n
	}
	if c.histogram != "FREQUENCY" && c.histogram != "TOP-FREQUENCY" && c.histogram != "HYBRID" {
		return
	}
	slices.SortStableFunc(ends, func(a, b bucket) int { return cmp.Compare(b.repeats, a.repeats) })
	for _, b := range ends {
		if b.value != "" && b.repeats > 0 && len(c.Common) <= 50 {
			c.Common, c.Shares = append(c.Common, b.value), append(c.Shares, b.repeats/all)
		}
	}
}

// real returns column n as a number, or 0 if it is no number.
func real(r filewise.Row, n int) float64 {
	x, _ := r.Real(n)
	return x
}
