package enginetest

import (
	"slices"
	"strings"
)

// CatalogueName is a column of a view.
type CatalogueName struct{ View, Name string }

// calls are the types of what functions return.
var calls = map[string]string{"count_big": "bigint", "count": "int", "has_perms_by_name": "int", "suser_sname": "nvarchar",
	"applock_mode": "nvarchar", "rtrim": "nvarchar", "min": "nvarchar"}

// Results are the types of what the statement's SELECT lists name by AS: those of casts, of
// columns, and of functions that are known; others are left out.
func (u *CatalogueUse) Results() map[string]string {
	all := map[string]string{}
	for i := range u.words {
		name := u.at(i + 1)
		if u.at(i) != "as" || reserved[name] || u.aliases[name] != "" {
			continue
		}
		if kind := u.typed(i - 1); kind != "" {
			all[name] = kind
		}
	}
	return all
}

// typed is the type of the expression that ends at a word.
func (u *CatalogueUse) typed(end int) string {
	if last := u.at(end); last != ")" {
		if last == "@result" {
			return "int"
		}
		views := []string{u.aliases[u.at(end-2)]}
		if u.at(end-1) != "." {
			views = views[:0]
			for view := range u.Views {
				views = append(views, view)
			}
		}
		for _, view := range views {
			if c, ok := u.known[view].Columns[last]; ok {
				return c.Of()
			}
		}
		return ""
	}
	begin, depth := end, 0
	for ; begin >= 0; begin-- {
		depth += map[string]int{")": 1, "(": -1}[u.at(begin)]
		if depth == 0 {
			break
		}
	}
	switch f := u.at(begin - 1); {
	case f == "cast" || f == "try_cast":
		return u.castTo(begin, end)
	case calls[f] != "":
		return calls[f]
	case u.at(begin+1) == "select": // of its one column
		for i := begin + 2; i < end; i++ {
			if u.at(i) == "cast" {
				return u.castTo(i+1, end)
			}
			if calls[u.at(i)] != "" {
				return calls[u.at(i)]
			}
		}
	}
	return ""
}

// castTo is the type behind the AS of a CAST whose parenthesis begins there.
func (u *CatalogueUse) castTo(begin, end int) string {
	depth := 0
	for i := begin; i <= end; i++ {
		depth += map[string]int{"(": 1, ")": -1}[u.at(i)]
		if depth == 1 && u.at(i) == "as" {
			return u.at(i + 1)
		}
	}
	return ""
}

// Bare are the columns that SELECT lists have as they are.
func (u *CatalogueUse) Bare() []CatalogueName {
	var all []CatalogueName
	for i := range u.words {
		name, before := strings.Trim(u.at(i), `"`), u.at(i-1)
		views := []string{u.aliases[u.at(i-2)]}
		if before == "." {
			before = u.at(i - 3)
		} else {
			views = views[:0]
			for view := range u.Views {
				views = append(views, view)
			}
		}
		listed := slices.Contains([]string{"select", "distinct", ","}, before) && slices.Contains([]string{"from", ","}, u.at(i+1))
		for _, view := range views {
			if _, ok := u.known[view].Columns[name]; ok && listed {
				all = append(all, CatalogueName{view, name})
			}
		}
	}
	return all
}
