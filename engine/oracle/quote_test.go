package oracle

import (
	"strings"
	"testing"

	"filewise"
	"filewise/engine/oracle/dialect"
	"filewise/internal/marker"
)

// Names and texts that try to break out of their quotes.
var breakouts = []string{
	`a"b`, `"; DROP TABLESPACE users; --`, `" OR 1=1`, "a\x00b", "a\nb", "a\r\n;", "", strings.Repeat("x", 31), "\xff", "a\u2028b", `\"`,
	`''`, `'; DROP TABLE t; --`, `' || x || '`, `/*`, `--`, `:1`, `&x`,
}

func TestQuoting(t *testing.T) {
	for _, s := range breakouts {
		if q, err := dialect.Ident(s); err == nil && (q != `"`+s+`"` || strings.Contains(s, `"`) || len(s) > dialect.MaxIdent) {
			t.Errorf("ident(%q) = %s", s, q)
		}
		if q, err := dialect.Literal(s); err == nil && strings.Trim(strings.ReplaceAll(q[1:len(q)-1], "''", ""), " ") !=
			strings.ReplaceAll(s, "'",
				"") && strings.Contains(s, "'") && strings.Count(q, "'")%2 != 0 {
			t.Errorf("literal(%q) = %s", s, q)
		}
	}
}

// Whatever the text: a literal that is accepted reads back as the text and ends
// nowhere before its end; a name as well.
func FuzzQuoting(f *testing.F) {
	for _, s := range breakouts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if q, err := dialect.Literal(s); err == nil {
			inner := q[1 : len(q)-1]
			if q[0] != '\'' || q[len(q)-1] != '\'' || strings.ReplaceAll(inner, "''", "'") != s && strings.Count(s, "''") == 0 ||
				strings.Contains(strings.ReplaceAll(inner, "''", ""), "'") || strings.ContainsAny(q, "\n\r\x00") {
				t.Errorf("literal(%q) = %s", s, q)
			}
		}
		if q, err := dialect.Ident(s); err == nil && (strings.Count(q, `"`) != 2 || q != `"`+s+`"`) {
			t.Errorf("ident(%q) = %s", s, q)
		}
	})
}

// Whatever the directory: a place that is accepted gives a path in it by the
// server's rules, and a clause that can be quoted.
func FuzzPlace(f *testing.F) {
	for _, s := range []string{"", "+DATA", "/u02", `C:\ora`, `\\nas\s\x`, "/u'; DROP TABLESPACE users; --", "relative", "/a?b", "+DATA/x",
		"C:ora"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, dir string) {
		p, err := dialect.PlaceOf(filewise.Volume{Name: "v", Dir: dir})
		if err != nil {
			if filewise.CodeOf(err) != filewise.CodeUsage {
				t.Errorf("%q: %v", dir, err)
			}
			return
		}
		file := datafile{place: p, path: p.File("x_0001.dbf"), bytes: unit, tablespace: "X"}
		clause, err := file.clause()
		if err != nil {
			return // not UTF-8: refused before anything is executed
		}
		named := p.Kind == dialect.PlaceUnix || p.Kind == dialect.PlaceWindows
		if named != (file.path != "") || named && (!p.Holds(file.path) || !p.Same(file.path, file.path)) {
			t.Errorf("%q: kind %v, path %q", dir, p.Kind, file.path)
		}
		if strings.Count(clause, "'")%2 != 0 || strings.ContainsAny(clause, "\n\r") || file.asked().Path == "" {
			t.Errorf("%q: %s", dir, clause)
		}
	})
}

// What a server sends is no reason to panic, and no name but Filewise's is taken for one.
func FuzzNames(f *testing.F) {
	f.Add("FILEWISE_ABCDEFGHIJKLMNOPQRT00", "19.0.0.0.0")
	f.Add(newName()+"PKG", "12.2")
	f.Add("", "-1.x")
	f.Fuzz(func(t *testing.T, name, version string) {
		if build := buildOfProgram(name); build != "" && (!marker.IsName(build) || !strings.HasPrefix(name, build)) {
			t.Errorf("%q is taken for a program of %q", name, build)
		}
		if hasName(name) && !marker.IsName(name[:dialect.MaxIdent-3]) {
			t.Errorf("%q is taken for Filewise's", name)
		}
		_, _ = releaseOf(version)
		_, _ = number(version)
	})
}

func TestNames(t *testing.T) {
	n := newNames(true)
	if n.Tablespace == n.Index || !marker.IsName(n.Tablespace) || !marker.IsName(n.Index) {
		t.Errorf("%+v", n)
	}
	seen := map[string]bool{}
	for i := range 2000 {
		table := n.table(i)
		for _, name := range []string{table.Name, table.Key, table.Procedure} {
			if seen[name] || len(name) > dialect.MaxIdent {
				t.Fatalf("%d: %s", i, name)
			}
			seen[name] = true
		}
		if !hasName(table.Name) || !hasName(table.Key) || hasName(table.Procedure) || buildOfProgram(table.Procedure) != n.Tablespace {
			t.Fatalf("%d: %+v is not known as Filewise's", i, table)
		}
	}
	if buildOfProgram(n.Package) != n.Tablespace || !hasName(n.Tablespace) {
		t.Errorf("%+v", n)
	}
	for _, other := range []string{"FILEWISE_NOTES", n.Tablespace + "X", n.Tablespace + "T0", n.Tablespace + "T0000",
		strings.ToLower(n.Tablespace), "FILEWISE_ABCDEFGHIJKLMNOPQRT00"} {
		if hasName(other) || buildOfProgram(other) != "" {
			t.Errorf("%s is taken for Filewise's", other)
		}
	}
}
