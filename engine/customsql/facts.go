package customsql

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// Kinds maps each kind of values to the names of a server's column types, separated by spaces.
type Kinds map[filewise.ColumnType]string

// Of returns the kind of a type.
func (k Kinds) Of(name string) filewise.ColumnType {
	for kind, names := range k {
		if slices.Contains(strings.Fields(names), name) {
			return kind
		}
	}
	return filewise.TypeUnknown
}

// mostChosen is the most values of a column that are reported one by one.
const mostChosen = 50

// Choice returns an expression that picks a column's frequent values by their shares, for made-up rows. part is a
// number from 0 to 1, and literal writes a value in SQL. The result is "" if the column's values are withheld or too
// many.
func Choice(c filewise.ColumnFacts, reported bool, part string, literal func(value string) string) string {
	few := len(c.Common) > 0 && len(c.Common) <= mostChosen && c.Distinct <= mostChosen
	if !reported || c.Unique || !few || c.Type == filewise.TypeTime {
		return ""
	}
	last := literal(c.Common[len(c.Common)-1])
	if len(c.Common) == 1 {
		return last
	}
	sum, all, text := 0.0, 0.0, "CASE"
	for _, s := range c.Shares {
		all += s
	}
	for i, v := range c.Common[:len(c.Common)-1] {
		sum += c.Shares[i] / all
		text += fmt.Sprintf(" WHEN %s < %.6f THEN %s", part, sum, literal(v))
	}
	return text + " ELSE " + last + " END"
}
