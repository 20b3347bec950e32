package capture

import (
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/customsql"
)

// create returns the statements that make a table with as many rows as this one. Its values have the same ranges. A
// column of few values has the same frequencies, if they may be shown. The values of row n depend on n alone.
func (t *oracleTable) create(spread string, tell func(filewise.ColumnFacts) bool) []string {
	var defined, names, values []string
	for i, c := range t.columns {
		defined = append(defined, `"`+c.Name+`" `+c.Said)
		if v := c.expression(i, tell(c.ColumnFacts)); v != "" {
			names, values = append(names, `"`+c.Name+`"`), append(values, v)
		}
	}
	all := []string{strings.TrimSpace(fmt.Sprintf(`CREATE TABLE "%s" (%s) %s`, t.name, strings.Join(defined, ", "), spread))}
	if rows := int64(t.rows); rows > 0 && len(names) > 0 {
		all = append(all, fmt.Sprintf(`BEGIN
  FOR s IN 0 .. %d LOOP
    INSERT INTO "%s" (%s)
    SELECT %s
    FROM (SELECT s * %d + LEVEL AS n FROM dual CONNECT BY LEVEL <= LEAST(%[5]d, %[6]d - s * %[5]d)) g;
    COMMIT;
  END LOOP;
END;`, (rows-1)/slice, t.name, strings.Join(names, ", "), strings.Join(values, ",\n      "), slice, rows))
	}
	for _, x := range t.indexes {
		unique := ""
		if x.unique {
			unique = "UNIQUE "
		}
		all = append(all, fmt.Sprintf(`CREATE %sINDEX "%s" ON "%s" ("%s")`, unique, x.name, t.name, strings.Join(x.columns, `", "`)))
	}
	return all
}

// expression returns a column's value in row g.n. Empty means NULL.
func (c *oracleColumn) expression(i int, reported bool) string {
	part := fmt.Sprintf("ORA_HASH(g.n, 4294967295, %d) / 4294967296", i)
	if v := customsql.Choice(c.ColumnFacts, reported, part, c.literal); v != "" {
		return v
	}
	low, high := bounds(c.ColumnFacts, reported)
	switch c.Type {
	case filewise.TypeWhole, filewise.TypeNumber:
		whole := c.scale <= 0 && !strings.ContainsAny(low+high, ".")
		switch {
		case c.Unique && whole:
			return low + " + g.n - 1"
		case whole:
			return fmt.Sprintf("%s + FLOOR(%s * (%s - (%s) + 1))", low, part, high, low)
		}
		return fmt.Sprintf("ROUND(%s + %s * (%s - (%s)), %d)", low, part, high, low, max(c.scale, 2))
	case filewise.TypeTime:
		const moment = "TO_DATE('%s', 'YYYY-MM-DD HH24:MI:SS')"
		from, to := fmt.Sprintf(moment, low), fmt.Sprintf(moment, high)
		return fmt.Sprintf("%s + %s * (%s - %s)", from, part, to, from)
	case filewise.TypeText:
		width := max(min(int(c.Width+0.5), c.Most), 1)
		if c.Unique {
			return fmt.Sprintf("LPAD(g.n, %d, '0')", min(max(width, 10), c.Most))
		}
		return fmt.Sprintf("RPAD(ORA_HASH(g.n, 4294967295, %d), %d, 'filewise')", i, width)
	}
	return ""
}

func (c *oracleColumn) literal(value string) string {
	if c.Type == filewise.TypeText {
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	return value
}
