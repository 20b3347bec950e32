package sqlfile

import (
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
)

var funcs = template.FuncMap{"ident": func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }}

const sample = `-- What this file is for.

-- name: tables
-- One table
CREATE TABLE {{ident .Table}} (
  id INTEGER); -- no end here
DROP TABLE x;
-- name: procedure whole
BEGIN
  SELECT 1;
  SELECT 2;
END;

-- Of what follows.
-- name: two
-- only comment;
;
-- name: call-pay call-end whole
CALL fw_{{op}}();
`

func TestStatements(t *testing.T) {
	f, err := Parse("a.sql", sample, funcs)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tables", "procedure", "two", "call-pay", "call-end"}, f.Sections()); diff != "" {
		t.Error(diff)
	}
	for section, want := range map[string][]string{
		"tables":    {"-- One table\nCREATE TABLE \"a\"\"b\" (\n  id INTEGER); -- no end here\nDROP TABLE x"},
		"procedure": {"BEGIN\n  SELECT 1;\n  SELECT 2;\nEND;"},
		"two":       nil,
		"call-pay":  {"CALL fw_pay();"},
		"call-end":  {"CALL fw_end();"},
	} {
		got, err := f.Statements(section, map[string]any{"Table": `a"b`})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", section, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	for name, text := range map[string]string{
		"no section":    "-- nothing\n",
		"text before":   "SELECT 1;\n-- name: a\nSELECT 2;",
		"twice":         "-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;",
		"empty section": "-- name: a\n\n-- name: b\nSELECT 1;",
		"bad name":      "-- name: A b\nSELECT 1;",
		"bad names":     "-- name: a B\nSELECT 1;",
		"bad template":  "-- name: a\nSELECT {{.X;",
		"unknown func":  "-- name: a\nSELECT {{quote .X}};",
	} {
		f, err := Parse("a.sql", text, funcs)
		if err == nil {
			_, err = f.Statements("a", map[string]any{"X": ""})
		}
		if err == nil || !strings.HasPrefix(err.Error(), "a.sql") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	f := Must(Parse("a.sql", sample, funcs))
	if _, err := f.Statements("tables", map[string]any{}); err == nil {
		t.Error("a missing variable is rendered")
	}
	if _, err := f.Statements("none", nil); err == nil {
		t.Error("a missing section is rendered")
	}
	if _, err := f.Statement("two", nil); err == nil {
		t.Error("no statement passes for one")
	}
}

// Whatever the text: no panic, every section renders or explains why, and no
// statement is empty or loses text.
func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add("-- name: a\r\nSELECT 1;\r\n")
	f.Add("-- name: a whole\n;")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("f.sql", text, funcs)
		if err != nil {
			return
		}
		for _, s := range file.Sections() {
			statements, err := file.Statements(s, map[string]any{"Table": "t"})
			if err != nil {
				continue
			}
			for _, st := range statements {
				if strings.TrimSpace(st) == "" {
					t.Errorf("section %q has an empty statement", s)
				}
				if !strings.Contains(text, "{{") && !strings.Contains(text, "\r") && !strings.Contains(text, st) {
					t.Errorf("section %q: %q is not in the text", s, st)
				}
			}
		}
	})
}

func TestShort(t *testing.T) {
	for statement, want := range map[string]string{
		" SELECT 1\n":                            "SELECT 1",
		"SELECT 1\nFROM t":                       "SELECT 1 …",
		"-- Why.\n-- And how.\n\nCREATE TABLE t": "CREATE TABLE t",
		"-- Nothing else.":                       "-- Nothing else.",
		strings.Repeat("x", 101):                 strings.Repeat("x", 100) + " …",
	} {
		if got := Short(statement); got != want {
			t.Errorf("%q becomes %q", statement, got)
		}
	}
}
