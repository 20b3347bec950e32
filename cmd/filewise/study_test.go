package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise/study"
	"filewise/workload"
)

// Every flag of run has its key in study files, of its type. One that has none is
// of a type that studyTypes does not know: add that there. One that cannot be said
// in a file at all belongs into notInStudies, with the reason.
func TestEveryFlagHasItsKey(t *testing.T) {
	keys := map[string]study.Key{}
	for _, k := range studyTable().Keys {
		if keys[k.Name].Name != "" {
			t.Errorf("key %s stands twice", k.Name)
		}
		keys[k.Name] = k
	}
	fresh := new(app)
	run, root := fresh.runCommand(), &cobra.Command{}
	fresh.registerShared(root)
	root.AddCommand(run)
	values := map[study.Type]string{study.Whole: "8", study.Number: "0.5", study.Switch: "true", study.Time: "2s", study.Wholes: "[1, 4]", study.Texts: "[a]",
		study.Text: "x", study.Pairs: "{a: b}", study.Parts: "[{files: 1}]"}
	look := func(fl *pflag.Flag) {
		k, ok := keys[fl.Name]
		switch {
		case notInStudies[fl.Name]:
			return
		case !ok:
			t.Errorf("--%s has no key: see studytable.go", fl.Name)
			return
		case k.Type == "":
			t.Errorf("--%s is of type %s, which studyTypes does not know: add it", fl.Name, fl.Value.Type())
			return
		case k.Usage == "" || strings.Contains(k.Usage, "`"):
			t.Errorf("--%s: usage %q", fl.Name, k.Usage)
		}
		value := values[k.Type]
		if len(k.Choices) > 0 && k.Type == study.Text {
			value = k.Choices[0]
		}
		if k.Least != nil && k.Type == study.Whole {
			value = fmt.Sprint(*k.Least)
		}
		s, err := study.Parse("s.yaml", []byte(fl.Name+": "+value), studyTable(), os.LookupEnv)
		if err != nil {
			t.Errorf("--%s: %v", fl.Name, err)
			return
		}
		given := append(s.Once, s.Experiments[0].Values...)
		set := run.Flags()
		if set.Lookup(fl.Name) == nil {
			set = run.InheritedFlags()
		}
		if err := setTexts(set, fl.Name, given[0].Texts); err != nil {
			t.Errorf("--%s does not take what its key gives: %v", fl.Name, err)
		}
	}
	run.Flags().VisitAll(look)
	run.InheritedFlags().VisitAll(look)
}

// compiled is the schema that the command prints.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := study.Schema(studyTable())
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

// agrees wants the parser and the schema to accept a text, or neither.
func agrees(t *testing.T, s *jsonschema.Schema, path, text string, good bool) {
	t.Helper()
	_, err := study.Parse(path, []byte(text), studyTable(), func(string) (string, bool) { return "8", true })
	var v any
	if yerr := yaml.Unmarshal([]byte(text), &v); yerr != nil {
		t.Errorf("%s: %v", path, yerr)
		return
	}
	if serr := s.Validate(v); (err == nil) != good || (serr == nil) != good {
		t.Errorf("%s: want good: %v; parser: %v; schema: %v\n%s", path, good, err, serr, text)
	}
}

// What init writes is accepted by the parser and the schema, with every key that it
// has as a comment; damaged, by neither.
func TestExamplesAreValid(t *testing.T) {
	s := compiled(t)
	for _, sc := range workload.Scenarios() {
		text := study.Example(studyTable(), sc)
		agrees(t, s, sc.Name+".yaml", text, true)
		for _, damage := range [][2]string{{"engine: sqlite", "engin: sqlite"}, {"engine: sqlite", "engine: sqlitee"}, {"files: [", "files: [x, "}, {"scenario: ", "scenario: un"}} {
			agrees(t, s, sc.Name+".yaml", strings.Replace(text, "\n"+damage[0], "\n"+damage[1], 1), false)
		}
	}
}

// The examples of docs/study-files.md are accepted; those marked as wrong are not.
func TestStudyDocs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "study-files.md"))
	if err != nil {
		t.Fatal(err)
	}
	s, n := compiled(t), 0
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		agrees(t, s, "docs.yaml", m[1], !strings.HasPrefix(m[1], "# wrong"))
		n++
	}
	if n < 5 {
		t.Errorf("docs/study-files.md has %d examples", n)
	}
}
