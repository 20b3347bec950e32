package capture

import (
	"context"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/sqlserver/dialect"
)

// find returns the row of a table, named with its schema or without. A dot can be part of the name. It returns nil if
// there is no table.
func (w *ofSQLServer) find(ctx context.Context, name string) (filewise.Row, error) {
	names := []string{dialect.Ident(name)}
	if schema, table, ok := strings.Cut(name, "."); ok {
		names = []string{dialect.Ident(schema) + "." + dialect.Ident(table), dialect.Ident(name)}
	}
	for _, n := range names {
		rows, err := w.ask(ctx, "table", nil, n)
		if err != nil || len(rows) > 0 {
			return firstOf(rows), err
		}
	}
	return nil, nil
}

func firstOf(rows []filewise.Row) filewise.Row {
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

const sqlServerPage = 8192

// usualSchema is the schema that a name without one means.
const usualSchema = "dbo"

// Table returns a table's facts, and its columns' by the statistics that the server has made.
func (w *ofSQLServer) Table(ctx context.Context, name string, withhold func(string) bool) (filewise.TableFacts, error) {
	r, err := w.find(ctx, name)
	if err != nil || r == nil {
		return filewise.TableFacts{}, err
	}
	t := filewise.TableFacts{Name: name, Table: r.Text(2), Bytes: r.Int(4) * sqlServerPage, Rows: float64(r.Int(5))}
	if schema := r.Text(1); schema != usualSchema {
		t.Table = schema + "." + t.Table
	}
	switch {
	case r.Text(3) != "U":
		t.Whole = "it is a view"
	case r.Yes(6):
		t.Whole = "it is memory-optimized"
	case r.Yes(8):
		t.Whole = "it is partitioned"
	case r.Yes(7):
		t.Whole = "it has no clustered index, by which its rows could be moved"
	}
	columns, err := w.ask(ctx, "columns", nil, r.Int(0))
	var making []madeColumn
	for _, x := range columns {
		c := w.column(x)
		if x.Yes(11) {
			t.Key = c.Name
		}
		if !withhold(c.Name) && c.Type != filewise.TypeUnknown {
			w.histogram(ctx, &c, r.Int(0), x.Int(0))
		}
		t.Columns = append(t.Columns, c)
		if as := w.definition(x, c); as != "" {
			making = append(making, madeColumn{c, as, x.Yes(5)})
		}
	}
	if err != nil || r.Text(3) != "U" || len(making) == 0 {
		return t, err
	}
	indexes, err := w.ask(ctx, "indexes", nil, r.Int(0))
	t.Create = w.create(r.Text(2), r.Text(1), r.Int(5), making, indexes)
	return t, err
}

func (w *ofSQLServer) column(r filewise.Row) filewise.ColumnFacts {
	c := filewise.ColumnFacts{Name: r.Text(1), Said: r.Text(2), Unique: r.Yes(10)}
	c.Type = sqlServerKinds.Of(c.Said)
	if length := int(r.Int(3)); c.Type == filewise.TypeText && length > 0 {
		if c.Most = length; strings.HasPrefix(c.Said, "n") { // UTF-16 takes 2 bytes
			c.Most = length / 2
		}
	}
	if c.Type == filewise.TypeUUID {
		c.Fresh = "NEWID()"
	}
	least := c.Type == filewise.TypeWhole || c.Type == filewise.TypeText // a least value exists for these types
	if parent := r.Text(13); parent != "" && least {
		c.Parent, c.ParentKey = dialect.Ident(r.Text(12))+"."+dialect.Ident(parent), dialect.Ident(r.Text(14))
	}
	return c
}

var sqlServerKinds = customsql.Kinds{filewise.TypeWhole: "tinyint smallint int bigint", filewise.TypeBool: "bit",
	filewise.TypeNumber: "decimal numeric float real money smallmoney", filewise.TypeUUID: "uniqueidentifier",
	filewise.TypeText: "char varchar nchar nvarchar text ntext sysname",
	filewise.TypeTime: "date datetime datetime2 smalldatetime datetimeoffset"}

// histogram reads a column's range and frequencies. Without statistics, or the right to read them, it reads nothing.
func (w *ofSQLServer) histogram(ctx context.Context, c *filewise.ColumnFacts, table, column int64) {
	steps, err := w.ask(ctx, "histogram", map[string]any{"Moments": c.Type == filewise.TypeTime}, table, column)
	if err != nil {
		return
	}
	steps = slices.DeleteFunc(steps, func(r filewise.Row) bool { return r[0] == nil }) // leave out the step of NULLs
	rows, letters := 0.0, 0
	for _, r := range steps {
		rows += float64(r.Int(1) + r.Int(2))
		c.Distinct += float64(1 + r.Int(3))
		letters += len([]rune(r.Text(0)))
	}
	if rows == 0 {
		c.Distinct = 0
		return
	}
	c.Low, c.High = steps[0].Text(0), steps[len(steps)-1].Text(0)
	if c.Type == filewise.TypeText {
		c.Width = float64(letters) / float64(len(steps))
	}
	slices.SortStableFunc(steps, func(a, b filewise.Row) int { return int(b.Int(1) - a.Int(1)) })
	for _, r := range steps {
		v := r.Text(0)
		if c.Type == filewise.TypeBool {
			v = map[string]string{"0": "f", "1": "t"}[v] // in capture's form
		}
		c.Common, c.Shares = append(c.Common, v), append(c.Shares, float64(r.Int(1))/rows)
	}
}
