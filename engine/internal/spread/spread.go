// Package spread chooses which tables of a user's a layout spreads over files, and refuses
// those that cannot be.
package spread

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
)

// Table is one of the user's.
type Table struct {
	Schema, Name string
	Bytes        int64 // with its indexes
}

func (t Table) String() string { return t.Schema + "." + t.Name }

// Large is the share of all data from which a table is spread that nobody names.
const Large = 0.05

// Choose are the tables of these names, or the large ones.
func Choose[T any](all []T, of func(T) Table, names []string) ([]T, error) {
	if len(names) == 0 {
		sum := int64(0)
		for _, t := range all {
			sum += of(t).Bytes
		}
		all = slices.DeleteFunc(slices.Clone(all), func(t T) bool { return float64(of(t).Bytes) < Large*float64(sum) })
		if len(all) == 0 {
			return nil, filewise.Errorf(filewise.CodeUsage, "name another --database, or an account that sees its tables",
				"there is no table of a user's")
		}
		return all, nil
	}
	var named []T
	for _, name := range names {
		found := slices.DeleteFunc(slices.Clone(all), func(t T) bool { return of(t).String() != name && of(t).Name != name })
		switch {
		case len(found) == 0:
			return nil, filewise.Errorf(filewise.CodeUsage, "give it as it is called, or as SCHEMA.TABLE, without quotes",
				"there is no table %s, or the account does not see it", name)
		case len(found) > 1:
			return nil, filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("give it as %s or %s", of(found[0]), of(found[1])),
				"there are %d tables %s", len(found), name)
		}
		named = append(named, found[0])
	}
	return named, nil
}

// Refuse says why a table cannot have the layout; nil: it can.
func (t Table) Refuse(why []string) error {
	if len(why) == 0 {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight, "name the tables that are to be spread, without it: --table SCHEMA.TABLE",
		"table %s cannot be spread: %s: %w", t, strings.Join(why, "; "), filewise.ErrUnsupported)
}
