package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filewise"
	"filewise/results/archive"
	"filewise/results/store"
	"filewise/run/plan"
)

// bundleFor is a bundle of a run with invented trials, whose text change may alter.
func bundleFor(t testing.TB, change func(any)) []byte {
	t.Helper()
	o := plan.New()
	o.Files, o.MaxBlocks, o.Seed = plan.Of([]int{1, 2}), plan.Of(3), plan.Of("1")
	made, err := registry().Make(o)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)
	run := store.Run{ID: 7, Started: start, State: store.Interrupted, Version: "v1", Plan: made.Plan}
	var trials []filewise.Trial
	for i, c := range made.Trials() {
		trials = append(trials, filewise.Trial{Cell: c, State: filewise.Done, Started: start.Add(time.Duration(i) * time.Minute),
			Elapsed: time.Minute,
			Stages:  []filewise.Stage{{Name: filewise.StageMeasure, Took: time.Second}},
			Measures: []filewise.Measure{{Operation: "inserts", Unit: "rows", Window: [2]time.Duration{0, time.Second}, Work: 1000 + float64(i),
				SliceLength: time.Second, Slices: []int64{9}}}})
	}
	var out bytes.Buffer
	if err := store.ExportBundle(&out, run, trials, store.Manifest{Version: "v1", Exported: start, Host: "db1", User: "ada"}); err != nil {
		t.Fatal(err)
	}
	if change == nil {
		return out.Bytes()
	}
	_, run, trials, err = store.ReadBundle(&out)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := store.ExportJSON(&text, run, trials); err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	change(v)
	changed, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// A run is carried to another store, looked at there like any other, reported when it comes twice, and goes on at its
// origin alone.
func TestImportCommand(t *testing.T) {
	h := newHome(t)
	file := filepath.Join(h.dir, "run.tar.gz")
	if err := os.WriteFile(file, bundleFor(t, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	out, text, code := h.run("import", file)
	if code != 0 || !strings.Contains(out, "Imported as run 1: inserts on sqlite, 8 trials, measured by ada@db1") {
		t.Fatalf("%d: %s%s", code, out, text)
	}
	out, _, code = h.run("import", file, "--json")
	var again imported
	if err := json.Unmarshal([]byte(out), &again); err != nil || code != 0 || again.Run != 1 || again.Added != 0 || again.From.User != "ada" {
		t.Errorf("%d: %s: %v", code, out, err)
	}
	for _, command := range []string{"list", "show", "report --format markdown", "judge 1", "export --format json"} {
		out, text, code := h.run(strings.Fields(command)...)
		if code != 0 {
			t.Errorf("%s: %d: %s", command, code, text)
		}
		if command == "list" && !strings.Contains(out, "imported: run 7 of ada@db1") || strings.HasPrefix(command, "report") &&
			!strings.Contains(out, "ada@db1") {
			t.Errorf("%s does not say where it comes from: %s", command, out)
		}
	}
	if _, text, code := h.run("resume"); code != exitUsage || !strings.Contains(text, "measured by ada@db1") {
		t.Errorf("resume: %d: %s", code, text)
	}
	carried := filepath.Join(h.dir, "again.tar.gz")
	if _, text, code := h.run("export", "1", "--bundle", carried); code != 0 {
		t.Fatalf("%d: %s", code, text)
	}
	if out, _, code := h.run("import", carried, "--store", filepath.Join(h.dir, "third.db")); code != 0 || !strings.Contains(out, "ada@db1") {
		t.Errorf("from hand to hand: %d: %s", code, out)
	}
	for _, wrong := range [][]string{{"import"}, {"import", "/no/such"}, {"import", h.dir}, {"import", "-"}, {"export", "--schema", "1"},
		{"export", "--bundle", "x", "--format", "csv"},
		{"export", "--rows", "slices"}, {"export", "--rows", "counters", "--format", "json"}, {"export", "--rows", "counters", "--bundle",
			"b"}, {"export", "--format", "xml"}, {"export", "--rows", "files", "--format", "parquet"}} {
		if _, text, code := h.run(wrong...); code != exitUsage || !strings.Contains(text, "→") {
			t.Errorf("%v: %d: %s", wrong, code, text)
		}
	}
}

// Whatever number or text of a plan is another one, the run is refused or can be shown:
// no bundle makes Filewise panic, or work without end.
func TestImportImplausible(t *testing.T) {
	whole := bundleFor(t, func(any) {})
	decoded := func() (v any) {
		if err := json.Unmarshal(whole, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	var paths []string
	leaves(decoded(), "", func(path string, _ func(any)) { paths = append(paths, path) })
	tried := 0
	for _, path := range paths {
		if strings.HasPrefix(path, ".trials.") && !strings.HasPrefix(path, ".trials.3.") {
			continue
		}
		for _, x := range []any{-1, 0, 1 << 40, 1e18, "x", ""} {
			v := decoded()
			leaves(v, "", func(at string, set func(any)) {
				if at == path {
					set(x)
				}
			})
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			tried++
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				run, trials, err := store.ParseRun(text, store.Manifest{})
				if err == nil {
					_, _ = archive.Run{Run: run, Trials: trials}.Data()
				}
			}()
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				t.Fatalf("%s = %v is judged without end", path, x)
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d were tried", tried)
	}
}

// leaves calls f with every number and text.
func leaves(v any, path string, f func(path string, set func(any))) {
	each := func(x any, path string, set func(any)) {
		switch x.(type) {
		case map[string]any, []any:
			leaves(x, path, f)
		case nil, bool:
		default:
			f(path, set)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			each(x, path+"."+k, func(y any) { v[k] = y })
		}
	case []any:
		for i, x := range v {
			each(x, fmt.Sprintf("%s.%d", path, i), func(y any) { v[i] = y })
		}
	}
}

// A run that was carried to another store gives the same report as at its origin, except for its number and its
// origin.
func TestImportedReport(t *testing.T) {
	h := newHome(t)
	own, other := filepath.Join(h.dir, "own.html"), filepath.Join(h.dir, "other.html")
	bundle, store := filepath.Join(h.dir, "run.tar.gz"), filepath.Join(h.dir, "other.db")
	for _, args := range [][]string{{"run", tiny}, {"report", "-o", own}, {"export", "--bundle", bundle},
		{"import", bundle, "--store", store}, {"report", "--store", store, "-o", other}} {
		if _, text, code := h.run(args...); code != 0 {
			t.Fatalf("%v: %d: %s", args, code, text)
		}
	}
	origin := regexp.MustCompile(`\s*<tr><th scope="row">imported</th><td class="words">run 1 of [^<]*</td></tr>`)
	a, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if len(origin.FindAll(b, -1)) != 1 || len(a) < 30_000 {
		t.Errorf("where it comes from is said %d times, in %d bytes", len(origin.FindAll(b, -1)), len(a))
	}
	if diff := cmp.Diff(string(a), origin.ReplaceAllString(string(b), "")); diff != "" {
		t.Errorf("another report (−own +carried):\n%s", diff)
	}
}
