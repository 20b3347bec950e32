// Package spread chooses which of a user's tables a layout spreads over files. It refuses tables that cannot be spread.
package spread

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// Table is a user's table.
type Table struct {
	Schema, Name string
	Bytes        int64    // indexes included
	Why          []string // reasons why it cannot have the layout; empty if it can
}

func (t Table) String() string { return t.Schema + "." + t.Name }

// Large is the share of all data from which a table is spread if no tables are named.
const Large = 0.05

// Choose returns the tables with these names or, if there are no names, the large ones.
func Choose[T any](all []T, of func(T) Table, names []string) ([]T, error) {
	if len(names) == 0 {
		sum := int64(0)
		for _, t := range all {
			sum += of(t).Bytes
		}
		all = slices.DeleteFunc(slices.Clone(all), func(t T) bool { return float64(of(t).Bytes) < Large*float64(sum) })
		if len(all) == 0 {
			return nil, filewise.Errorf(filewise.CodeUsage, "name another --database, or an account that sees its tables",
				"there is no user table")
		}
		return all, nil
	}
	var named []T
	var missing []string
	for _, name := range names {
		found := slices.DeleteFunc(slices.Clone(all), func(t T) bool { return of(t).String() != name && of(t).Name != name })
		switch {
		case len(found) == 0:
			missing = append(missing, name)
			continue
		case len(found) > 1:
			return nil, filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("give it as %s or %s", of(found[0]), of(found[1])),
				"there are %d tables %s", len(found), name)
		}
		named = append(named, found[0])
	}
	if len(missing) > 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "give it as it is called, or as SCHEMA.TABLE, without quotes",
			"there is no table %s, or the account does not see it", strings.Join(missing, " or "))
	}
	return named, nil
}

// RefuseIf adds a reason why a table cannot have the layout, if the condition is true.
func (t *Table) RefuseIf(is bool, why string) {
	if is {
		t.Why = append(t.Why, why)
	}
}

// CheckKey adds a reason if no column can divide the table. key names the column that all its unique keys have.
func (t *Table) CheckKey(key, unique string) {
	t.RefuseIf(unique == "", "it has no unique key, so that there is nothing to divide it by")
	t.RefuseIf(key == "" && unique != "", "no column is in all of its unique keys ("+unique+
		"), and a partitioned table's must all contain the partition key")
}

// Refused returns an error that lists all tables that cannot have the layout, and names the others. It returns nil if
// all can.
func Refused[T any](all []T, of func(T) Table) error {
	var why, others []string
	for _, x := range all {
		t := of(x)
		if len(t.Why) == 0 {
			others = append(others, t.String())
			continue
		}
		why = append(why, fmt.Sprintf("table %s cannot be spread: %s", t, strings.Join(t.Why, "; ")))
	}
	if len(why) == 0 {
		return nil
	}
	remedy := "name other tables: --table SCHEMA.TABLE"
	if len(others) > 0 {
		remedy = "name the tables that can be spread: --table " + strings.Join(others, " --table ")
	}
	return filewise.Errorf(filewise.CodePreflight, remedy, "%s: %w", strings.Join(why, "\n"), filewise.ErrUnsupported)
}
