package oracle

import (
	"maps"
	"slices"
	"strings"

	"filewise"
)

// dumpTable is a table of a copy, and what is hashed of its rows: columns, and the lengths of LOBs.
type dumpTable struct {
	Name   string
	Hashed []string
}

// mostHashed limits how many columns are hashed. Their hashes of 32 letters form one text of at most 4,000.
const mostHashed = 120

// hashed lists single-word types that STANDARD_HASH accepts (SQL Language Reference). Of columns with other types, such
// as LONG, XMLTYPE and users' types, only rows are counted.
var hashed = []string{"CHAR", "NCHAR", "VARCHAR2", "NVARCHAR2", "NUMBER", "FLOAT", "BINARY_FLOAT", "BINARY_DOUBLE", "DATE", "RAW", "ROWID"}

// dumpTables returns the tables in rows of table, column and type, in the rows' order. quote quotes a name.
func dumpTables(rows [][3]string, quote func(string) (string, error)) ([]dumpTable, error) {
	var all []dumpTable
	for _, r := range rows {
		if len(all) == 0 || all[len(all)-1].Name != r[0] {
			all = append(all, dumpTable{Name: r[0]})
		}
		column, err := quote(r[1])
		if err != nil {
			return nil, err
		}
		t, kind := &all[len(all)-1], r[2]
		switch {
		case len(t.Hashed) == mostHashed:
		case slices.Contains(hashed, kind), strings.HasPrefix(kind, "TIMESTAMP"), strings.HasPrefix(kind, "INTERVAL"):
			t.Hashed = append(t.Hashed, column)
		case slices.Contains([]string{"CLOB", "NCLOB", "BLOB"}, kind):
			t.Hashed = append(t.Hashed, "DBMS_LOB.GETLENGTH("+column+")")
		}
	}
	return all, nil
}

// same compares the numbers of rows and the sums of two copies, by table.
func same(first, second map[string]string) error {
	for _, t := range slices.Sorted(maps.Keys(first)) {
		if second[t] != first[t] {
			return filewise.Errorf(filewise.CodeTrials, "check whether the dump's files change while they are imported",
				"table %s of the copy has %q (rows, and the sum of their hashes), and had %q in the first copy", t, second[t], first[t])
		}
	}
	if len(second) != len(first) {
		return filewise.Errorf(filewise.CodeTrials, "check whether the dump's files change while they are imported",
			"the copy has %d tables, and the first copy had %d", len(second), len(first))
	}
	return nil
}
