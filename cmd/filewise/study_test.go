package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/run"
	"filewise/run/plan"
	"filewise/run/study"
)

// Every flag of run has its key in study files, which sets it. One that a file cannot set at all belongs into
// notInStudies, with the reason.
func TestEveryFlagHasItsKey(t *testing.T) {
	form := studyForm()
	seen := map[string]bool{}
	for _, row := range slices.Concat(plan.New().Table(), form.Once) {
		if seen[row.Name] {
			t.Errorf("key %s stands twice", row.Name)
		}
		seen[row.Name] = true
	}
	fresh := new(app)
	run, root := fresh.runCommand(), &cobra.Command{}
	fresh.registerShared(root)
	root.AddCommand(run)
	look := func(fl *pflag.Flag) {
		table := slices.Concat(plan.New().Table(), form.Once) // nothing that excludes it is given
		row := plan.Find(table, fl.Name)
		switch {
		case notInStudies[fl.Name]:
			return
		case row == nil:
			t.Errorf("--%s has no key", fl.Name)
			return
		case row.Usage == "":
			t.Errorf("--%s: usage %q", fl.Name, row.Usage)
		}
		s, err := study.Parse("s.yaml", []byte(fl.Name+": "+valueFor(row)), form, os.LookupEnv)
		if err == nil {
			err = errors.Join(s.Fill(table, s.Experiments[0]), s.FillOnce(form.Once))
		}
		if err != nil || row.To.Source() != plan.File || len(row.To.Texts()) == 0 {
			t.Errorf("--%s: %v, %v", fl.Name, err, row.To.Texts())
			return
		}
		set := run.Flags()
		if set.Lookup(fl.Name) == nil {
			set = run.InheritedFlags()
		}
		for _, text := range row.To.Texts() {
			if err := set.Set(fl.Name, text); err != nil {
				t.Errorf("--%s does not take what its key gives: %v", fl.Name, err)
			}
		}
	}
	run.Flags().VisitAll(look)
	run.InheritedFlags().VisitAll(look)
}

// valueFor is a value that a key may have.
func valueFor(row *plan.Option) string {
	switch row.To.Pointer().(type) {
	case *int, *int64:
		if most := row.Bounds[1]; most > 0 {
			return fmt.Sprint(min(max(8, row.Bounds[0]), most))
		}
		return fmt.Sprint(max(8, row.Bounds[0]))
	case *float64:
		return "0.5"
	case *bool:
		return "true"
	case *time.Duration:
		return "2s"
	case *[]int:
		return "[1, 4]"
	case *[]string:
		return "[a]"
	case *[]plan.Pair:
		return "{a: b}"
	case *[]plan.LayoutSpec:
		return "[{files: 1}]"
	}
	switch {
	case row.Name == "engine":
		return registry().Names()[0]
	case len(row.Choices) > 0:
		return row.Choices[0]
	}
	return "x"
}

// compiled is the schema that the command prints.
func compiled(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	text, err := study.Schema(studyForm())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsRune(text, '`') {
		t.Error("a description has a backquote")
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// agrees requires the parser and the schema to accept a text, or neither.
func agrees(t *testing.T, s *jsonschema.Resolved, path, text string, good bool) {
	t.Helper()
	_, err := study.Parse(path, []byte(text), studyForm(), func(string) (string, bool) { return "8", true })
	var v any
	if yerr := yaml.Unmarshal([]byte(text), &v); yerr != nil {
		t.Errorf("%s: %v", path, yerr)
		return
	}
	if serr := s.Validate(v); (err == nil) != good || (serr == nil) != good {
		t.Errorf("%s: want good: %v; parser: %v; schema: %v\n%s", path, good, err, serr, text)
	}
}

// exampleOf returns init's output.
func exampleOf(t *testing.T, sc workload.Scenario) string {
	t.Helper()
	text, err := study.Example(studyForm(), registry(), sc)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What init writes is accepted by the parser and the schema, with every key that it
// has as a comment; damaged, by neither.
func TestExamplesAreValid(t *testing.T) {
	s := compiled(t)
	for _, sc := range workload.Scenarios() {
		text := exampleOf(t, sc)
		agrees(t, s, sc.Name+".yaml", text, true)
		for _, damage := range [][2]string{
			{"engine: ", "engin: "}, {"engine: ", "engine: un"}, {"files: [", "files: [x, "}, {"scenario: ", "scenario: un"},
		} {
			agrees(t, s, sc.Name+".yaml", strings.Replace(text, "\n"+damage[0], "\n"+damage[1], 1), false)
		}
	}
}

// heldKey is a key of an example as a comment, with the value that holds without it.
var heldKey = regexp.MustCompile(`(?m)^#([a-z0-9-]+: [^…\n]+)$`)

// What init writes can be planned, and states the defaults of its other keys.
func TestExamplesRunAsTheyStand(t *testing.T) {
	planned := func(text string) (experiment.Plan, error) {
		s, err := study.Parse("s.yaml", []byte(strings.Replace(text, "#seed: …", "seed: 1", 1)), studyForm(), os.LookupEnv)
		if err != nil {
			return experiment.Plan{}, err
		}
		all, err := s.Plan(registry(), plan.New(), nil, func(p plan.Made) error { _, err := run.Prepare(p.Engine, p.Plan); return err })
		if err != nil {
			return experiment.Plan{}, err
		}
		all[0].Plan.Command, all[0].Plan.Ladder, all[0].Plan.BudgetMost = nil, nil, 0 // which go by what was given
		return all[0].Plan, nil
	}
	for _, sc := range workload.Scenarios() {
		text := exampleOf(t, sc)
		want, err := planned(text)
		if err != nil {
			t.Errorf("%s: %v", sc.Name, err)
			continue
		}
		if keys := heldKey.FindAllString(text, -1); len(keys) < 10 {
			t.Errorf("%s says the values of %d keys", sc.Name, len(keys))
		}
		if got, err := planned(heldKey.ReplaceAllString(text, "$1")); err == nil && reflect.DeepEqual(got, want) {
			continue
		}
		for _, key := range heldKey.FindAllString(text, -1) {
			if got, err := planned(strings.Replace(text, "\n"+key+"\n", "\n"+key[1:]+"\n", 1)); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s with %s: %v, %+v\n want %+v", sc.Name, key[1:], err, got, want)
			}
		}
		t.Errorf("%s with all that it says holds is another plan", sc.Name)
	}
}

// What init writes for custom SQL can be planned on servers whose SQL is another one (Oracle 12 of the first contact).
func TestExampleOfCustomByURL(t *testing.T) {
	sc, err := workload.Lookup("custom")
	if err != nil {
		t.Fatal(err)
	}
	engine := regexp.MustCompile(`(?m)^engine: .*$`)
	for url, want := range map[string]string{"oracle://ada@db/PDB1": "CONNECT BY LEVEL", "sqlserver://ada@db": "MAXRECURSION",
		"postgres://ada@db/x": "RECURSIVE", "mariadb://ada@db/": "RECURSIVE"} {
		s, err := study.Parse("s.yaml", []byte(engine.ReplaceAllString(exampleOf(t, sc), "target: "+url)), studyForm(), os.LookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		var texts strings.Builder
		_, err = s.Plan(registry(), plan.New(), nil, func(p plan.Made) error {
			env, err := run.Prepare(p.Engine, p.Plan)
			if err != nil {
				return err
			}
			for _, step := range env.Scripts[0].Steps {
				texts.WriteString(step.SQL + "\n")
			}
			return nil
		})
		if err != nil || !strings.Contains(texts.String(), want) {
			t.Errorf("%s: %v (%s), %q is not in\n%.2000s", url, err, filewise.RemedyOf(err), want, texts.String())
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
