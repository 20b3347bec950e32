package capturing

import (
	"context"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/sqlserver/internal/result"
)

// find finds a table by a name with a schema or without; a dot can be of the name. None is nil.
func (w *Watcher) find(ctx context.Context, name string) (result.Row, error) {
	names := []string{w.Ident(name)}
	if schema, table, ok := strings.Cut(name, "."); ok {
		names = []string{w.Ident(schema) + "." + w.Ident(table), w.Ident(name)}
	}
	for _, n := range names {
		rows, err := w.ask(ctx, "table", nil, n)
		if err != nil || len(rows) > 0 {
			return first(rows), err
		}
	}
	return nil, nil
}

func first(rows []result.Row) result.Row {
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

const page = 8192

// usual is the schema that a name without one means.
const usual = "dbo"

// Table reports a table, and of its columns by the statistics that the server has made.
func (w *Watcher) Table(ctx context.Context, name string, withhold func(string) bool) (filewise.TableFacts, error) {
	r, err := w.find(ctx, name)
	if err != nil || r == nil {
		return filewise.TableFacts{}, err
	}
	t := filewise.TableFacts{Name: name, Table: r.Text("table_name"), Bytes: r.Int("pages") * page, Rows: float64(r.Int("stored"))}
	if schema := r.Text("table_schema"); schema != usual {
		t.Table = schema + "." + t.Table
	}
	switch {
	case r.Text("kind") != "U":
		t.Whole = "it is a view"
	case r.Yes("in_memory"):
		t.Whole = "it is memory-optimized"
	case r.Yes("divided"):
		t.Whole = "it is partitioned"
	case r.Yes("heap"):
		t.Whole = "it has no clustered index, by which its rows could be moved"
	}
	columns, err := w.ask(ctx, "columns", nil, r.Int("id"))
	var making []made
	for _, x := range columns {
		c := w.column(x)
		if x.Yes("first") {
			t.Key = c.Name
		}
		if !withhold(c.Name) && c.Type != filewise.TypeUnknown {
			w.histogram(ctx, &c, r.Int("id"), x.Int("id"))
		}
		t.Columns = append(t.Columns, c)
		if as := w.definition(x, c); as != "" {
			making = append(making, made{c, as, x.Yes("numbered")})
		}
	}
	if err != nil || r.Text("kind") != "U" || len(making) == 0 {
		return t, err
	}
	indexes, err := w.ask(ctx, "indexes", nil, r.Int("id"))
	t.Create = w.create(r.Text("table_name"), r.Text("table_schema"), r.Int("stored"), making, indexes)
	return t, err
}

func (w *Watcher) column(r result.Row) filewise.ColumnFacts {
	c := filewise.ColumnFacts{Name: r.Text("column_name"), Said: r.Text("type_name"), Unique: r.Yes("own")}
	c.Type = kinds.Of(c.Said)
	if length := int(r.Int("length")); c.Type == filewise.TypeText && length > 0 {
		if c.Most = length; strings.HasPrefix(c.Said, "n") { // in UTF-16
			c.Most = length / 2
		}
	}
	if c.Type == filewise.TypeUUID {
		c.Fresh = "NEWID()"
	}
	least := c.Type == filewise.TypeWhole || c.Type == filewise.TypeText // of these there is one
	if parent := r.Text("parent_table"); parent != "" && least {
		c.Parent, c.ParentKey = w.Ident(r.Text("parent_schema"))+"."+w.Ident(parent), w.Ident(r.Text("parent_column"))
	}
	return c
}

var kinds = customsql.Kinds{filewise.TypeWhole: "tinyint smallint int bigint", filewise.TypeBool: "bit",
	filewise.TypeNumber: "decimal numeric float real money smallmoney", filewise.TypeUUID: "uniqueidentifier",
	filewise.TypeText: "char varchar nchar nvarchar text ntext sysname",
	filewise.TypeTime: "date datetime datetime2 smalldatetime datetimeoffset"}

// histogram reports a column's range and frequencies. Without statistics, or the right to see them, it reports nothing.
func (w *Watcher) histogram(ctx context.Context, c *filewise.ColumnFacts, table, column int64) {
	steps, err := w.ask(ctx, "histogram", map[string]any{"Moments": c.Type == filewise.TypeTime}, table, column)
	if err != nil {
		return
	}
	steps = slices.DeleteFunc(steps, func(r result.Row) bool { return r["high"] == nil }) // the step of NULLs
	rows, letters := 0.0, 0
	for _, r := range steps {
		rows += float64(r.Int("same") + r.Int("between_rows"))
		c.Distinct += float64(1 + r.Int("others"))
		letters += len([]rune(r.Text("high")))
	}
	if rows == 0 {
		c.Distinct = 0
		return
	}
	c.Low, c.High = steps[0].Text("high"), steps[len(steps)-1].Text("high")
	if c.Type == filewise.TypeText {
		c.Width = float64(letters) / float64(len(steps))
	}
	slices.SortStableFunc(steps, func(a, b result.Row) int { return int(b.Int("same") - a.Int("same")) })
	for _, r := range steps {
		v := r.Text("high")
		if c.Type == filewise.TypeBool {
			v = map[string]string{"0": "f", "1": "t"}[v] // as capture has them
		}
		c.Common, c.Shares = append(c.Common, v), append(c.Shares, float64(r.Int("same"))/rows)
	}
}
