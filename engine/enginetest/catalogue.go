package enginetest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Catalogue holds the vendor's reference of the views to which an engine's SQL refers.
type Catalogue map[string]CatalogueView

// CatalogueView is one of them; one without columns is a procedure, or has none to be named.
type CatalogueView struct {
	Since, Permission, Scope string
	Columns                  map[string]CatalogueColumn
}

// CatalogueColumn is a column. If Since is empty, it is as old as the view.
type CatalogueColumn struct{ Type, Since string }

// ReadCatalogue reads a file of views, each with its columns indented below it:
//
//	sys.dm_os_sys_info | 2008 | VIEW SERVER STATE
//	  physical_memory_kb bigint 2012
func ReadCatalogue(t *testing.T, path string) Catalogue {
	t.Helper()
	text, err := os.ReadFile(path)
	fatal(t, err)
	all, view := Catalogue{}, ""
	for n, line := range strings.Split(string(text), "\n") {
		fields := strings.Split(line, " | ")
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case line[0] == ' ' && view != "":
			words := strings.SplitN(strings.TrimSpace(line), " ", 3)
			if len(words) < 2 {
				t.Fatalf("%s:%d: a column has a name and a type", path, n+1)
			}
			all[view].Columns[words[0]] = CatalogueColumn{words[1], strings.Join(words[2:], "")}
		case len(fields) < 3 || all[fields[0]].Columns != nil:
			t.Fatalf("%s:%d: a view has its own name, since when it is there, and what it needs", path, n+1)
		default:
			view = fields[0]
			all[view] = CatalogueView{fields[1], fields[2], strings.Join(fields[3:], ""), map[string]CatalogueColumn{}}
		}
	}
	return all
}

// Of returns the parts of a column's type that describe how a driver gives it: "int" of "int",
// "nvarchar" of "nvarchar(60)".
func (c CatalogueColumn) Of() string {
	kind, _, _ := strings.Cut(c.Type, "(")
	return kind
}

// tokens are words with quoted ones, numbers, and single signs; texts and comments are
// left out, so that what they hold is no name.
var tokens = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|[NnQq]?'(?:[^']|'')*'|` +
	`"[^"]*"|\[(?:[^\]]|\]\])*\]|[@:]*[\pL_#][\pL\d_$#]*|@p?\d+|:\d+|\d[\d.]*|\S`)

func tokenized(sql string) []string {
	var out []string
	for _, x := range tokens.FindAllString(sql, -1) {
		switch {
		case strings.HasPrefix(x, "--"), strings.HasPrefix(x, "/*"):
		case strings.HasSuffix(x, "'"):
			out = append(out, "''")
		default:
			out = append(out, x)
		}
	}
	return out
}

// CatalogueUse is a statement's use of a catalogue.
type CatalogueUse struct {
	Views   map[string][]string // their columns that are named
	Unknown []string            // names that it does not have, in the words of an error
	aliases map[string]string
	named   map[string]bool // by the statement itself
	known   Catalogue
	words   []string
}

// Use finds the views and columns that a statement refers to. It understands the parts of SQL that the engines use: views
// after FROM, JOIN, APPLY or EXEC, with aliases, subqueries and functions.
func (c Catalogue) Use(sql string) *CatalogueUse {
	u := &CatalogueUse{Views: map[string][]string{}, aliases: map[string]string{}, named: map[string]bool{}, known: c, words: tokenized(sql)}
	for i := range u.words {
		u.view(i)
	}
	columns := 0
	for view := range u.Views {
		columns += len(c[view].Columns)
	}
	if columns == 0 {
		return u
	}
	selecting := []bool{false} // by depth of parentheses
	for i := range u.words {
		switch word, last := u.at(i), len(selecting)-1; {
		case word == "select":
			selecting[last] = true
		case word == "(":
			selecting = append(selecting, selecting[last])
		case word == ")" && last > 0:
			selecting = selecting[:last]
		case word == ";" || slices.Contains(others, word):
			selecting[last] = false
		case selecting[last]:
			u.column(i)
		}
	}
	return u
}

// others lists the first words of statements that are not SELECT.
var others = []string{"begin", "exec", "drop", "if", "alter", "restore", "throw", "create", "insert", "declare"}

func (u *CatalogueUse) at(i int) string {
	if i < 0 || i >= len(u.words) {
		return ""
	}
	return strings.ToLower(u.words[i])
}

var (
	simple     = regexp.MustCompile(`^[a-z][\w$#]*$`)
	dictionary = regexp.MustCompile(`^(user_|all_|plan_|dba_|v_?\$|session_|database_|product_|dual)`)
)

// view takes a reference to a view that begins at a word, and its alias.
func (u *CatalogueUse) view(i int) {
	name, end := u.at(i), i+1
	before := u.at(i - 1)
	qualified := name == "sys" && u.at(i+1) == "."
	if qualified {
		name, end = "sys."+u.at(i+2), i+3
	}
	if _, known := u.known[name]; !known {
		bare := slices.Contains([]string{"from", "join", "apply"}, before) && dictionary.MatchString(name)
		if qualified && !strings.HasPrefix(name, "sys.dbms_") && !strings.HasPrefix(name, "sys.utl_") || bare {
			u.Unknown = append(u.Unknown, "view "+name)
		}
		return
	}
	if !qualified && before != "from" && before != "join" {
		return
	}
	if _, twice := u.Views[name]; !twice {
		u.Views[name] = nil
	}
	if u.at(end) == "(" { // a function's arguments
		for depth := 0; end < len(u.words); end++ {
			depth += map[string]int{"(": 1, ")": -1}[u.at(end)]
			if depth == 0 {
				end++
				break
			}
		}
	}
	if u.at(end) == "as" {
		end++
	}
	if alias := u.at(end); simple.MatchString(alias) && !reserved[alias] {
		u.aliases[alias] = name
		u.named[alias] = true
	}
}

// column takes a word that can name a column.
func (u *CatalogueUse) column(i int) {
	name := strings.Trim(u.at(i), `"`)
	switch {
	case !simple.MatchString(name) || reserved[name]:
	case u.at(i-1) == ".": // sys.view, database.sys, alias.column
		if view, ok := u.aliases[u.at(i-2)]; ok {
			u.refer(name, view)
		} else if u.derives(u.at(i-2)) && !u.gives(name) {
			u.Unknown = append(u.Unknown, "column "+name+" of a subquery")
		}
	case u.at(i+1) == "." || u.at(i+1) == "(" || u.at(i-1) == "as" || u.named[name] || u.known[name].Columns != nil:
	default:
		var all []string
		for view := range u.Views {
			all = append(all, view)
		}
		u.refer(name, all...)
	}
}

// Overlooked returns the places of a statement where the name of a view or column could be misspelt
// without Use telling.
func (c Catalogue) Overlooked(sql string) (all []string) {
	u := c.Use(sql)
	for i, word := range u.words {
		name, before, next := strings.Trim(u.at(i), `"`), u.at(i-1), u.at(i+1)
		is := before == "." && c["sys."+name].Columns != nil || (before == "from" || before == "join") && c[name].Columns != nil
		for view := range u.Views {
			_, has := c[view].Columns[name]
			is = is || has && !reserved[name] && before != "as" && next != "(" && next != "." && (before != "(" || next != "=")
		}
		if !is {
			continue
		}
		words := slices.Clone(u.words)
		words[i] = strings.Trim(word, `"`) + "x"
		if len(c.Use(strings.Join(words, " ")).Unknown) == 0 {
			all = append(all, strings.Join(u.words[max(0, i-4):min(len(u.words), i+3)], " "))
		}
	}
	return all
}

// derives reports whether an alias is a subquery's.
func (u *CatalogueUse) derives(alias string) bool {
	for i := range u.words {
		if u.at(i) == alias && (u.at(i-1) == ")" || u.at(i-1) == "as" && u.at(i-2) == ")") {
			return true
		}
	}
	return false
}

// gives reports whether a subquery may have a column: it is named without an alias, or by AS.
func (u *CatalogueUse) gives(name string) bool {
	for i := range u.words {
		if u.at(i) == name && u.at(i-1) != "." {
			return true
		}
	}
	return false
}

// refer looks a column up in the views that may have it.
func (u *CatalogueUse) refer(name string, views ...string) {
	found := false
	for _, view := range views {
		if _, ok := u.known[view].Columns[name]; ok {
			u.Views[view], found = append(u.Views[view], name), true
		}
	}
	if found {
		return
	}
	for i, word := range u.words { // given by the statement: an alias of an expression
		if strings.ToLower(word) == name && u.at(i-1) == "as" {
			return
		}
	}
	slices.Sort(views)
	u.Unknown = append(u.Unknown, fmt.Sprintf("column %s of %s", name, strings.Join(views, ", ")))
}

// reserved are words of SQL, and names of types, that are no column's.
var reserved = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`select distinct top from where and or not in is null like between exists case when then else end
		as on join left right outer inner cross apply group order by having asc desc partition
		union all set begin if return declare exec execute
		for xml raw into with collate latin1_general_bin2 microsecond second minute sys sysdate user rownum option maxdop`) {
		all[word] = true
	}
	return all
}()

// CatalogueName is a column of a view.
type CatalogueName struct{ View, Name string }

// calls are the types of what functions return.
var calls = map[string]string{"count_big": "bigint", "count": "int", "has_perms_by_name": "int", "suser_sname": "nvarchar",
	"applock_mode": "nvarchar", "rtrim": "nvarchar", "min": "nvarchar"}

// Results returns the types of what the statement's SELECT lists name by AS. Casts,
// columns, and functions that are known have one; others are left out.
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

// typed returns the type of the expression that ends at a word.
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

// castTo returns the type behind the AS of a CAST whose parenthesis begins there.
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

// Bare returns the columns that SELECT lists have as they are.
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
