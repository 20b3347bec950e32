package dialect

import (
	"fmt"
	"strings"
)

// column is a column of an index. Its place among the keys counts from 1; 0 means that it is only included.
type column struct {
	name       string
	key        int
	descending bool
}

// actual selects what a guard compares. The table's quoted name is given as a literal.
const actual = `
  SELECT i.name, CAST(i.type AS int), CAST(i.is_unique AS int), ISNULL(i.filter_definition, N''), CAST(k.key_ordinal AS int),
      CAST(k.is_descending_key AS int), c.name
    FROM sys.indexes AS i
    JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id
    JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
   WHERE i.object_id = OBJECT_ID(%s, N'U') AND i.is_disabled = 0 AND i.is_hypothetical = 0`

// Guard returns a statement that fails unless the current database has the table with its present indexes. It names no
// database, so that it also works on a copy.
func (t Table) Guard() string {
	var rows []string
	for _, x := range t.Indexes {
		kind := min(x.ID, typeNonclustered)
		for _, c := range x.columns {
			rows = append(rows, fmt.Sprintf("(%s, %d, %d, %s, %d, %d, %s)", Literal(x.name), kind, bit(x.unique), Literal(x.filter), c.key,
				bit(c.descending), Literal(c.name)))
		}
	}
	name := Literal(Ident(t.Schema) + "." + Ident(t.Name))
	was := "\n  SELECT * FROM (VALUES " + strings.Join(rows, ",\n    ") +
		") AS w (index_name, index_type, is_unique, filter, key_ordinal, is_descending, column_name)"
	is := fmt.Sprintf(actual, name)
	return "IF EXISTS (" + was + "\n  EXCEPT" + is + ")\n  OR EXISTS (" + is + "\n  EXCEPT" + was + ")\nBEGIN;\n  THROW 50006, " +
		Literal("table "+t.String()+" is not as it was when this script was written: write it again") + ", 1;\nEND;"
}

func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}
