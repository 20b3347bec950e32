package capture

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/sqlserver/dialect"
)

// slice is the number of rows that a set-up adds in one transaction.
const slice = 100000

// madeColumn is a column as a set-up makes it.
type madeColumn struct {
	filewise.ColumnFacts
	definition string
	numbered   bool // an IDENTITY column
}

// bounds returns the range of a column's made values: its own if that may be shown.
func bounds(c filewise.ColumnFacts, reported bool) (low, high string) {
	switch {
	case reported && c.Low != "" && c.High != "":
		return c.Low, c.High
	case c.Type == filewise.TypeTime:
		return "2000-01-01 00:00:00", "2030-01-01 00:00:00"
	}
	return "1", "1000"
}

// definition returns a column's part of CREATE TABLE. It is empty if the column is left out. Only keys are NOT NULL,
// since nothing is drawn for some types.
func (w *ofSQLServer) definition(r filewise.Row, c filewise.ColumnFacts) string {
	kind, length := c.Said, r.Int(3)
	switch kind {
	case "char", "varchar", "nchar", "nvarchar", "binary", "varbinary":
		switch size := fmt.Sprint(length); {
		case length < 0:
			kind += "(max)"
		case strings.HasPrefix(kind, "n"):
			kind += fmt.Sprintf("(%d)", length/2)
		default:
			kind += "(" + size + ")"
		}
	case "decimal", "numeric":
		kind += fmt.Sprintf("(%d, %d)", r.Int(7), r.Int(8))
	case "datetime2", "datetimeoffset", "time":
		kind += fmt.Sprintf("(%d)", r.Int(8))
	}
	switch {
	case kind == "" || r.Yes(6):
		return ""
	case r.Yes(5):
		kind += " IDENTITY(1, 1)"
	}
	null := " NULL"
	if r.Yes(9) || r.Yes(5) {
		null = " NOT NULL"
	}
	return dialect.Ident(c.Name) + " " + kind + null
}

// create returns a function that returns the statements to make a table with as many rows as this one. Its values have
// the same ranges. A column of few values has the same frequencies, if they may be shown. The values of row n depend on
// n alone.
func (w *ofSQLServer) create(name, schema string, rows int64, columns []madeColumn, indexes []filewise.Row) func(string,
	func(filewise.ColumnFacts) bool) []string {
	return func(spread string, tell func(filewise.ColumnFacts) bool) (all []string) {
		if schema != usualSchema && !w.schemas[schema] {
			w.schemas[schema] = true
			all = append(all, "CREATE SCHEMA "+dialect.Ident(schema))
		}
		table := dialect.Ident(schema) + "." + dialect.Ident(name)
		var defined, names, values, known []string
		for i, c := range columns {
			defined, known = append(defined, c.definition), append(known, c.Name)
			if v := sqlServerValue(c.ColumnFacts, i, tell(c.ColumnFacts)); v != "" && !c.numbered {
				names, values = append(names, dialect.Ident(c.Name)), append(values, v)
			}
		}
		all = append(all, strings.TrimSpace(fmt.Sprintf("CREATE TABLE %s (%s) %s", table, strings.Join(defined, ", "), spread)))
		all = append(all, w.indexes(table, known, indexes, true)...)
		into := table + " DEFAULT VALUES"
		if len(names) > 0 {
			into = fmt.Sprintf("%s (%s)\n  SELECT %s\n  FROM (SELECT TOP (IIF(%d - @s < %d, %[4]d - @s, %[5]d)) "+
				"@s + ROW_NUMBER() OVER (ORDER BY a.object_id) AS n\n"+
				"    FROM sys.all_objects AS a CROSS JOIN sys.all_objects AS b) AS g", table, strings.Join(names, ", "),
				strings.Join(values, ",\n    "), rows, slice)
		}
		step := map[bool]int{true: slice, false: 1}[len(names) > 0]
		if rows > 0 {
			all = append(all, fmt.Sprintf("DECLARE @s bigint = 0;\nWHILE @s < %d\nBEGIN\n  INSERT INTO %s;\n  SET @s += %d;\nEND", rows, into, step))
		}
		return append(all, w.indexes(table, known, indexes, false)...)
	}
}

// indexes returns the statements for the clustered indexes or for the others. An index on a column that is left out is
// left out too.
func (w *ofSQLServer) indexes(table string, known []string, rows []filewise.Row, clustered bool) (all []string) {
	for len(rows) > 0 {
		first, keys, left := rows[0], []string{}, false
		for len(rows) > 0 && rows[0].Int(0) == first.Int(0) {
			column := rows[0].Text(3)
			left = left || !slices.Contains(known, column)
			if column = dialect.Ident(column); rows[0].Yes(4) {
				column += " DESC"
			}
			keys, rows = append(keys, column), rows[1:]
		}
		if left || (first.Int(0) == 1) != clustered {
			continue
		}
		kind := map[bool]string{true: "UNIQUE "}[first.Yes(2)] + map[bool]string{true: "CLUSTERED ", false: "NONCLUSTERED "}[clustered]
		all = append(all, fmt.Sprintf("CREATE %sINDEX %s ON %s (%s)", kind, dialect.Ident(first.Text(1)), table, strings.Join(keys, ", ")))
	}
	return all
}

// sqlServerValue returns a column's value in row g.n. Empty means NULL.
func sqlServerValue(c filewise.ColumnFacts, i int, reported bool) string {
	part := fmt.Sprintf("CAST(CAST(HASHBYTES('MD5', CAST(g.n AS binary(8)) + CAST(%d AS binary(4))) AS binary(4)) AS bigint) / "+
		"4294967296.0", i)
	if v := customsql.Choice(c, reported, part, func(v string) string { return sqlServerLiteral(c.Type, v) }); v != "" {
		return v
	}
	low, high := bounds(c, reported)
	switch c.Type {
	case filewise.TypeWhole:
		if c.Unique {
			return low + " + g.n - 1"
		}
		return fmt.Sprintf("CAST(%s + FLOOR(%s * (CAST(%s AS float) - %[1]s + 1)) AS bigint)", low, part, high)
	case filewise.TypeNumber:
		return fmt.Sprintf("%s + %s * (%s - (%[1]s))", low, part, high)
	case filewise.TypeBool:
		return fmt.Sprintf("IIF(%s < 0.5, 0, 1)", part)
	case filewise.TypeUUID:
		return "NEWID()"
	case filewise.TypeTime:
		from := "CAST('" + strings.Replace(low, " ", "T", 1) + "' AS datetime2(0))"
		to := "CAST('" + strings.Replace(high, " ", "T", 1) + "' AS datetime2(0))"
		return fmt.Sprintf("DATEADD(minute, CAST(%s * DATEDIFF(minute, %s, %s) AS int), %[2]s)", part, from, to)
	case filewise.TypeText:
		width := max(min(int(c.Width+0.5), 4000), 1)
		if c.Most > 0 {
			width = min(width, c.Most)
		}
		if c.Unique {
			return fmt.Sprintf("RIGHT(CONCAT(REPLICATE('0', 40), g.n), %d)", max(width, min(10, max(c.Most, 10))))
		}
		return fmt.Sprintf("LEFT(CONCAT(FLOOR(%s * 1000000000), REPLICATE('filewise', %d)), %d)", part, width/8+1, width)
	}
	return ""
}

func sqlServerLiteral(kind filewise.ColumnType, value string) string {
	switch kind {
	case filewise.TypeText, filewise.TypeUUID:
		return "N'" + strings.ReplaceAll(value, "'", "''") + "'"
	case filewise.TypeBool:
		return map[string]string{"f": "0", "t": "1"}[value]
	}
	return value
}
