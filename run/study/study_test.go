package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"filewise"
	"filewise/run/plan"
)

// small has two engines, and an option that is set once.
func small() Form {
	return Form{
		Scenarios: []string{"inserts", "orders", "custom"}, Engines: []string{"sqlite", "postgres"},
		Once: []plan.Option{plan.Row(new(plan.Opt[string]), "serve", "", "`address` of the live page")},
	}
}

func environment(name string) (string, bool) {
	v, ok := map[string]string{"N": "8", "DB_PASSWORD": "hunter22", "HOST": "db", "EMPTY": ""}[name]
	return v, ok
}

func parse(text string) (Study, error) { return Parse("s.yaml", []byte(text), small(), environment) }

// told returns an experiment's settings, in one text.
func told(t *testing.T, s Study, e Experiment) string {
	t.Helper()
	o := plan.New()
	table := o.Table()
	if err := s.Fill(table, e); err != nil {
		t.Error(err)
	}
	var all []string
	for _, key := range []string{"engine", "target", "connections", "margin", "aa", "window", "files", "notify", "volume", "layout", "builds",
		"rounds"} {
		if row := plan.Find(table, key); row.To.Given() {
			all = append(all, key+"="+strings.Join(row.To.Texts(), "|"))
			row.To.Forget()
		}
	}
	for _, row := range table {
		if row.To.Given() {
			t.Errorf("%s is given too", row.Name)
		}
	}
	return strings.Join(all, " ")
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // name: values
	}{
		"one": {"scenario: inserts\nconnections: 4\naa: true\nwindow: 2s\nmargin: 0.5",
			[]string{"inserts: connections=4 margin=0.5 aa=true window=2s"}},
		"lists": {"files: [1, 4]\nnotify: [a, b]\nvolume: {a: /a, b: /b}\nlayout: [{name: 'x, y', files: 8}, 'files=1']",
			[]string{"experiment: files=1,4 notify=a|b volume=a=/a|b=/b layout=files=8,name=x, y|files=1"}},
		"keys of before 0.9.0": {"instances: 2\ncells: 4", []string{"experiment: builds=2 rounds=4"}},
		"variables": {"connections: ${N}\ntarget: postgres://me@${HOST}/$${N}",
			[]string{"experiment: target=postgres://me@db/${N} connections=8"}},
		"shared": {"engine: sqlite\nfiles: [1]\nexperiments:\n- {name: a, layout: [files=2]}\n- {name: b, target: x}",
			[]string{"a: engine=sqlite layout=files=2", "b: target=x files=1"}},
		"matrix": {"name: m\nmatrix: {engine: [sqlite, postgres], files: [[1, 2], [1, 4]]}",
			[]string{"m on sqlite, files 1,2: engine=sqlite files=1,2", "m on sqlite, files 1,4: engine=sqlite files=1,4",
				"m on postgres, files 1,2: engine=postgres files=1,2", "m on postgres, files 1,4: engine=postgres files=1,4"}},
		"scenarios": {"matrix: {engine: [sqlite], scenario: [inserts, orders]}\nexperiments: [{name: a}, {connections: 4}]",
			[]string{"a, inserts on sqlite: engine=sqlite", "a, orders on sqlite: engine=sqlite", "inserts on sqlite: engine=sqlite connections=4",
				"orders on sqlite: engine=sqlite connections=4"}},
		"nameless": {"matrix: {connections: [2, 4]}", []string{"experiment, connections 2: connections=2",
			"experiment, connections 4: connections=4"}},
		"own wins": {"matrix: {engine: [sqlite, postgres]}\nexperiments:\n- {name: a, engine: sqlite}", []string{"a: engine=sqlite"}},
		"anchors": {"definitions: {big: &big {connections: 64}}\nexperiments:\n- {<<: *big, name: a}\n- {<<: *big, name: b, connections: 2}",
			[]string{"a: connections=64", "b: connections=2"}},
		"same name": {"experiments: [{name: a}, {name: a}]", []string{"a: ", "a #2: "}},
		"once":      {"serve: here\nconnections: 2", []string{"experiment: connections=2"}},
	} {
		s, err := parse(c.text)
		var got []string
		for _, e := range s.Experiments {
			got = append(got, e.Name+": "+told(t, s, e))
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %q\n want %q", name, err, got, c.want)
		}
	}
	s, err := parse("serve: here")
	once := small().Once
	if err = errors.Join(err, s.FillOnce(once)); err != nil || once[0].To.Source() != plan.File || once[0].To.Texts()[0] != "here" {
		t.Errorf("once: %v, %v", once[0].To, err)
	}
}

func TestParseRefuses(t *testing.T) {
	bomb := "definitions:\n  a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 8 {
		next, this := string(rune('b'+i)), string(rune('a'+i))
		bomb += "  " + next + ": &" + next + " [" + strings.TrimSuffix(strings.Repeat("*"+this+", ", 10), ", ") + "]\n"
	}
	for text, want := range map[string][2]string{
		"":                                    {"s.yaml:1:1: there is nothing", "filewise init"},
		"# only a comment":                    {"there is nothing", "filewise init"},
		"conections: 4":                       {`s.yaml:1:1: key "conections" is unknown`, "connections"},
		"scenario: inserts\nconnections: lot": {"s.yaml:2:14: connections is text (lot), expected: a whole number", "such as 8"},
		"connections: 2001":                   {"connections 2001: out of range", "from 1 to 2000"},
		"connections: 99999999999999999999":   {"connections", ""},
		"connections: [4]":                    {"connections is a list, expected: a whole number", ""},
		"connections:":                        {"connections is empty", ""},
		"aa: perhaps":                         {"aa is text (perhaps), expected: true or false", ""},
		"window: 5":                           {"window is a whole number (5), expected: a time", "500ms"},
		"window: soon":                        {`window "soon" is not a time`, "500ms"},
		"margin: .inf":                        {"margin", ""},
		"files: []":                           {"files is empty", ""},
		"files: [1, x]":                       {"files[2] is text (x)", ""},
		"layout: [{fils: 1}]":                 {`key "fils" is unknown in layout[1]`, "files"},
		"layout: [{cells: 1}]":                {`key "cells" is unknown in layout[1]`, ""}, // which is no former key there
		"engine: sqlit":                       {`s.yaml:1:9: engine "sqlit" is unknown`, `did you mean "sqlite"`},
		"engine: sqlite\nengine: postgres":    {"s.yaml:2:1: engine is given twice", "once"},
		"a: 1\n  b: 2":                        {"s.yaml:1:", "indent"},
		"connections: ${NOPE}":                {"the variable NOPE is not set", "export NOPE"},
		"connections: ${N":                    {"connections is text", ""},
		"target: ${a b}":                      {"${a b} is no variable", "letters"},
		"connections: ${EMPTY}":               {"connections is an empty text", ""},
		"password: hunter22":                  {"a password does not stand in a study file", "${NAME}"},
		"serve: x\nexperiments: [{serve: y}]": {`key "serve" is unknown`, ""},
		"matrix: {engine: [sqlite]}\nengine: sqlite": {"engine is both in the matrix and outside of it", ""},
		"matrix: {connections: [1, 2000, 2001]}":     {"2001", ""},
		"matrix: {connections: []}":                  {"connections is empty", ""},
		"name: ''":                                   {"name", ""},
		"- 1":                                        {"is a list, expected: a mapping", ""},
		"a: *nothing":                                {"the alias *nothing stands for nothing", "&nothing"},
		"a: &a [*a]":                                 {"the alias *a stands for nothing", ""},
		"engine: !!str sqlite":                       {"the tag !!str is not understood", ""},
		"engine: sqlite\n---\nengine: sqlite":        {"a second document", "experiments"},
		bomb:                                         {"values or", "aliases"},
		strings.Repeat("[", 200_000):                 {"are nested more than", "not closed"},
		"x: " + strings.Repeat("{a: ", 60_000):       {"are nested more than", "not closed"},
		strings.Repeat("- ", 100_000):                {"are nested more than", ""},
		"x: " + strings.Repeat("y", maxBytes):        {"bytes are more than", "separate files"},
		"scenario: custom\ncustom: {}":               {"custom has no transactions", "transactions"},
		"custom: {transactions: {a: {sql: x}}, parameters: {p: {int: {from: 1}}}}":                     {"has no to", "to"},
		"custom: {transactions: {a: {sql: x}}, parameters: {p: {imt: {from: 1, to: 2}}}}":              {`key "imt" is unknown`, `"int"`},
		"custom: {transactions: {a: {sql: x}}, parameters: {p: {timestamp: {from: soon, to: later}}}}": {`"soon" is no moment`, "2026-01-31"},
		"custom: {transactions: {a: {sql: x}}, checks: [{query: y}]}":                                  {"one of expect and committed", "expect"},
		"custom: {transactions: {a: {sql: {sqlserverr: x}}}}":                                          {`key "sqlserverr" is unknown`, ""},
		"custom: {transactions: {a: {sql: {file: nowhere.sql}}}}":                                      {"nowhere.sql", "relative"},
	} {
		s, err := parse(text)
		short := text[:min(len(text), 60)]
		if err == nil || filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(err.Error(), want[0]) ||
			!strings.Contains(filewise.RemedyOf(err), want[1]) {
			t.Errorf("%q: %v (%s), want %q", short, err, filewise.RemedyOf(err), want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%q shows the password", short)
		}
		_ = s
	}
}

func TestSecrets(t *testing.T) {
	s, err := parse("target: postgres://me:${DB_PASSWORD}@db/\npassword: ${DB_PASSWORD}\nconnections: x")
	if err == nil || !slices.Contains(s.Secrets, "hunter22") {
		t.Errorf("%v: %d secrets", err, len(s.Secrets))
	}
	s, err = parse("password: ${DB_PASSWORD}")
	if err != nil || s.Experiments[0].Password.Reveal() != "hunter22" {
		t.Error(err)
	}
	s, err = parse("notify: https://hooks.slack.com/services/T0/B0/CANARY")
	list, listErr := parse("notify: [https://a.example/, https://b.example/CANARY]")
	for _, all := range [][]filewise.Secret{s.Secrets, list.Secrets} {
		if !slices.ContainsFunc(all, func(s filewise.Secret) bool { return strings.HasSuffix(s.Reveal(), "CANARY") }) {
			t.Errorf("of an address to notify: %d secrets, %v, %v", len(all), err, listErr)
		}
	}
	_, err = parse("target: postgres://me:typedin@db/\nconections: 1")
	if err == nil || strings.Contains(err.Error(), "typedin") {
		t.Error("an excerpt shows a password: ", err)
	}
}

// What is secret in comments and SQL is found, and what names a variable is none.
func TestPlainSecrets(t *testing.T) {
	for text, want := range map[string]bool{
		"# target: postgres://ada:CANARY@db/":                                    true,
		"targets: [postgres://ada:${A}@db1/, 'postgres://ada:CANARY@db2/']":      true,
		"custom: {setup: CREATE USER x IDENTIFIED BY 'CANARY'}":                  true,
		"ALTER ROLE x PASSWORD 'CANARY';":                                        true,
		"# notify: https://hooks.slack.com/services/T0/B0/CANARY":                true,
		"target: postgres://ada:${A}@db/?sslpassword=${B}":                       false,
		"targets: [postgres://ada:${A}@db1/, postgres://ada:${A}@db2/]":          false,
		"# the password of ada is in the environment; see https://docs.example/": false,
	} {
		found := Plain(text)
		canary := slices.ContainsFunc(found, func(s filewise.Secret) bool { return strings.Contains(s.Reveal(), "CANARY") })
		if canary != want || !want && len(found) > 0 {
			t.Errorf("%s: %d secrets", text, len(found))
		}
	}
}

// Wherever a secret stands in a file, an error about the line below it, or about its
// own, does not show it.
func TestExcerptHidesSecrets(t *testing.T) {
	for _, text := range []string{
		"notify: https://hooks.slack.com/services/T0/B0/CANARY", "notify:\n  - hooks.slack.com/services/CANARY",
		"notify: [https://a.example/, https://b.example/CANARY]", "target: postgres://me@db/?pasword=CANARY",
		"target: postgres://me:with CANARY@db/", "target: db.example/?password=CANARY",
		"password:\n  CANARY", "password: |\n  CANARY", "password: >-\n\n  CANARY", "pasword: CANARY",
		"pass word: CANARY", "my pass word: CANARY", "password: 'CANARY",
		"{password:\n'CANARY'}",
		"password: [CANARY]", "set: {wsrep_sst_auth: 'root:CANARY'}", "set:\n  - wsrep_sst_auth=root:CANARY",
		"set:\n  primary_conninfo:\n    CANARY",
		"custom:\n  setup: CREATE USER x IDENTIFIED BY 'CANARY'", "custom:\n  setup: ALTER ROLE x PASSWORD 'CANARY'",
	} {
		for _, broken := range []string{text + "\nconections: 1", text + ": : ]", text} {
			_, err := parse(broken)
			if err != nil && strings.Contains(err.Error()+filewise.RemedyOf(err), "CANARY") {
				t.Errorf("%q: %v", broken, err)
			}
		}
	}
	if _, err := parse("password: 4711471147"); err == nil || strings.Contains(err.Error(), "4711471147") {
		t.Error(err)
	}
	_, err := parse("password: ${DB_PASSWORD}\nconections: 1")
	if err == nil || !strings.Contains(err.Error(), "1 | password: ${DB_PASSWORD}") {
		t.Error("the name of a variable is hidden: ", err)
	}
}

func TestExcerpt(t *testing.T) {
	_, err := parse("scenario: inserts\nengine: sqlit\n")
	want := "s.yaml:2:9: engine \"sqlit\" is unknown\n     1 | scenario: inserts\n     2 | engine: sqlit\n       |         ^"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestOnly(t *testing.T) {
	s, err := parse("experiments: [{name: a, matrix: {connections: [1, 2]}}, {name: b}]")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"a": 2, "a, connections 2": 1, "b": 1} {
		if got, err := s.Only([]string{name}); err != nil || len(got) != want {
			t.Errorf("%s: %d, %v", name, len(got), err)
		}
	}
	if _, err := s.Only([]string{"c"}); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Error(err)
	}
}

func TestCustom(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "setup.sql"), []byte("CREATE TABLE t (id INT);\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `scenario: custom
custom:
  tables: {t: id}
  setup: {file: setup.sql}
  think: {mean: 5ms}
  parameters:
    w: worker
    t: {text: 7}
    c: {choice: {a: 2, "": 1}}
    z: {zipf: {from: 1, to: 9}}
  transactions:
    a:
      sql: |
        SELECT 1;
        SELECT ${N};
    b: {weight: 2, sql: {postgres: [x, y], default: z}}
  checks:
    - {query: q, expect: no rows}
    - {query: q, committed: a, plus: 3}
`
	s, err := Parse(filepath.Join(dir, "s.yaml"), []byte(text), small(), environment)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Experiments[0].Custom
	sql := c.Transactions[0].SQL[""][0]
	if sql.Line != 14 || !strings.Contains(sql.Text, "${N}") || c.Setup[""][0].Line != 1 || !c.Transactions[1].SQL["postgres"][0].Whole ||
		!c.Checks[0].NoRows || c.Checks[1].Plus != 3 || c.Checks[1].Each != 1 || !c.Think.Exponential || c.Parameters[3].Theta != 0.99 {
		t.Errorf("%+v", c)
	}
	own, err := c.For("postgres")
	if err != nil || len(own.Transactions[1].SQL[""]) != 2 {
		t.Error(err)
	}
}

// schema compiles the schema of the small table.
func schema(t testing.TB) *jsonschema.Schema {
	text, err := Schema(small())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	c := jsonschema.NewCompiler()
	if err = errors.Join(err, c.AddResource("s.json", doc)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchema(t *testing.T) {
	s := schema(t)
	for text, good := range map[string]bool{
		`{"engine": "sqlite", "connections": 4, "files": [1, 2], "layout": [{"files": 1}]}`:  true,
		`{"engine": "${ENGINE}", "connections": "${N}", "window": "2s", "files": "1,2"}`:     true,
		`{"matrix": {"engine": ["sqlite", "postgres"]}, "experiments": [{"name": "a"}]}`:     true,
		`{"custom": {"transactions": {"a": {"sql": ["x"]}}, "parameters": {"w": "worker"}}}`: true,
		`{"engin": "sqlite"}`:                     false,
		`{"engine": "sqlit"}`:                     false,
		`{"connections": "lot"}`:                  false,
		`{"connections": 0}`:                      false,
		`{"window": 5}`:                           false,
		`{"password": "hunter22"}`:                false,
		`{"matrix": {"engine": "sqlite"}}`:        false,
		`{"experiments": []}`:                     false,
		`{"custom": {}}`:                          false,
		`{"custom": {"transactions": {"a": {}}}}`: false,
		`{"experiments": [{"experiments": []}]}`:  false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzParse: nothing panics, takes long or refuses without a place and a code.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a: 1", "engine: sqlite\nmatrix: {connections: [1, 2]}", "x: &a [*a]", "<<: {a: 1}", "? a", "a: |\n  b\n",
		"custom: {transactions: {a: {sql: x}}}", "\ta: b", "!!map {}", "%YAML 1.2\n---\na: 1", "- - - -", "{{{{", "files: ${N}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(text)
		if err != nil && (filewise.CodeOf(err) != filewise.CodeUsage || !strings.HasPrefix(err.Error(), "s.yaml:")) {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && len(s.Experiments) == 0 {
			t.Errorf("%q: no experiments", text)
		}
	})
}
