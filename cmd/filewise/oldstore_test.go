package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filewise/lab/experiment"
)

// The store was written by Filewise of 2026-11-22, before the program model was remodelled: 20 small runs of all
// scenarios that SQLite, MariaDB and PostgreSQL can do, one of them killed; and the output of that version's "judge
// --json". The cause of run 3 alone is a later one: it took the calibration before each trial for a connection that
// rests.
const (
	oldStore  = "2026-11-22.db.gz"
	oldJudged = "2026-11-22.judged.json.gz"
)

// replacedWarnings are warnings that the account of the connections' time replaces now, below the verdict, and a
// newer one (too-short).
var replacedWarnings = []string{"less-data-than-memory", "shorter-than-checkpoint", "cpu-bound", "too-short"}

// TestOldStore reads, judges and reports what an older version stored: every number
// of every verdict is as it was then.
func TestOldStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(path, unzipped(t, oldStore), 0o600); err != nil {
		t.Fatal(err)
	}
	var before []map[string]any
	if err := json.Unmarshal(unzipped(t, oldJudged), &before); err != nil {
		t.Fatal(err)
	}
	if len(before) == 0 {
		t.Fatal("the fixture holds no run")
	}
	for _, want := range before {
		number := strconv.Itoa(int(want["run"].(float64)))
		t.Run(number, func(t *testing.T) {
			var got map[string]any
			if err := json.Unmarshal(said(t, path, "judge", number, "--json"), &got); err != nil {
				t.Fatal(err)
			}
			for _, judged := range []any{want["judgement"], got["judgement"]} {
				of := judged.(map[string]any)
				of["warnings"] = slices.DeleteFunc(of["warnings"].([]any), func(w any) bool {
					return slices.Contains(replacedWarnings, w.(map[string]any)["code"].(string))
				})
			}
			// Without a block the run's own end is reported since.
			if d := want["judgement"].(map[string]any)["decision"].(map[string]any); d["why"] == "all 0 stored blocks are judged" {
				delete(d, "why")
			}
			for key, value := range want {
				alike(t, key, value, got[key])
			}
			for _, format := range []string{"html", "markdown", "text"} {
				page := said(t, path, "report", number, "--format", format, "-o", "-")
				headline := want["headline"].(string)
				if undecided(headline) {
					headline = got["headline"].(string)
				}
				if want["state"] == "done" && format != "html" && !bytes.Contains(oneLine(page), oneLine([]byte(headline))) {
					t.Errorf("the report as %s does not say %q", format, headline)
				}
			}
		})
	}
}

// TestExportIsJudgedAsStored: what judge --csv makes of an exported run is the stored verdict,
// of every operation, in every number. Layouts within a latency limit are chosen by all latencies
// of a run, which no CSV has; the store holds no such run.
func TestExportIsJudgedAsStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(path, unzipped(t, oldStore), 0o600); err != nil {
		t.Fatal(err)
	}
	var runs []struct{ ID int }
	if err := json.Unmarshal(said(t, path, "list", "--json"), &runs); err != nil {
		t.Fatal(err)
	}
	compared, tails := 0, 0
	for _, r := range runs {
		id := strconv.Itoa(r.ID)
		file := filepath.Join(t.TempDir(), id+".csv")
		said(t, path, "export", id, "--output", file)
		var stored struct {
			Headline  string
			Judgement struct {
				Operations []struct {
					Name    string
					Verdict map[string]any
					Latency []p99Change
				} `json:"families"`
				Verdict map[string]any
				Latency []p99Change
			}
		}
		if err := json.Unmarshal(said(t, path, "show", id, "--json"), &stored); err != nil {
			t.Fatal(err)
		}
		type judged struct {
			Headline   string
			Verdict    map[string]any
			P99        []p99Change
			Operations []struct {
				Operation string `json:"family"`
				Verdict   map[string]any
				P99       []p99Change
			} `json:"families"`
		}
		again := func(args ...string) (out judged) {
			if err := json.Unmarshal(said(t, path, append(args, "judge", "--csv", file, "--json")...), &out); err != nil {
				t.Fatal(err)
			}
			return out
		}
		same := func(want, got map[string]any, operation string) {
			if compared++; !reflect.DeepEqual(want, got) {
				alike(t, "run "+id, want, got)
				t.Errorf("run %s %s: judged otherwise: %s", id, operation, cmp.Diff(want, got))
			}
		}
		verdicts := stored.Judgement.Operations
		if len(verdicts) == 0 {
			if stored.Judgement.Verdict["blocks"].(float64) > 0 {
				csv := again()
				same(stored.Judgement.Verdict, csv.Verdict, "")
				tails += sameP99(t, "run "+id, stored.Judgement.Latency, csv.P99)
			}
			continue
		}
		if verdicts[0].Verdict["blocks"].(float64) == 0 {
			continue
		}
		all := again()
		if all.Headline != stored.Headline || len(all.Operations) != len(verdicts) {
			t.Errorf("run %s: %d operations, %q; stored %d, %q", id, len(all.Operations), all.Headline, len(verdicts), stored.Headline)
			continue
		}
		for _, f := range verdicts {
			for _, g := range all.Operations {
				if g.Operation == f.Name {
					same(f.Verdict, g.Verdict, f.Name)
					tails += sameP99(t, "run "+id+" "+f.Name, f.Latency, g.P99)
				}
			}
		}
		same(verdicts[0].Verdict, again("--operation", verdicts[0].Name).Verdict, verdicts[0].Name)
	}
	if compared < 20 || tails < 20 {
		t.Errorf("%d verdicts were compared, and %d changes of p99", compared, tails)
	}
}

// p99Change is a layout's change, in a run's judgement and in its export's.
type p99Change struct {
	Layout string
	P99    int64                     `json:"p99_ns"`
	Best   int64                     `json:"best_ns"`
	Worst  int64                     `json:"worst_ns"`
	Change *experiment.LatencyChange `json:"p99_change"`
}

// sameP99 compares the changes of p99 of a run with its export's, and p99 itself with the trials'; it counts them.
func sameP99(t *testing.T, of string, run, csv []p99Change) (compared int) {
	t.Helper()
	for _, want := range run {
		for _, got := range csv {
			if got.Layout != want.Layout || want.Change == nil {
				continue
			}
			compared++
			if diff := cmp.Diff(want.Change, got.Change, cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
				t.Errorf("%s, %s: p99 changes otherwise: %s", of, want.Layout, diff)
			}
			if want.P99 < got.Best || want.P99 > got.Worst {
				t.Errorf("%s, %s: p99 %d is not from %d to %d", of, want.Layout, want.P99, got.Best, got.Worst)
			}
		}
	}
	return compared
}

// unzipped is a file of testdata/stores.
func unzipped(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "stores", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// said returns the output of a command that reads the store.
func said(t *testing.T, store string, args ...string) []byte {
	t.Helper()
	var out, failed bytes.Buffer
	if err := execute(t.Context(), append(args, "--store", store), new(bytes.Buffer), &out, &failed); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, failed.Bytes())
	}
	return out.Bytes()
}

func oneLine(text []byte) []byte { return bytes.Join(bytes.Fields(text), []byte(" ")) }

// worded are the fields whose words may become better; the numbers in them stay.
var worded = regexp.MustCompile(`(sentences|warnings|message|remedy|why|words|detail)(/\d+)?$`)

var (
	number = regexp.MustCompile(`\d+(\.\d+)?`)
	// ofTrials is in warnings of several trials, which gave the first one's number and give the range of all since.
	ofTrials = regexp.MustCompile(`in \d+ of \d+ trials`)
)

// undecided reports whether a text is the first one of an undecided verdict. It speaks of what a layout can gain at
// most since, not of the widest limit to either side: the verdict itself proves that the other numbers are unchanged.
// An unsound design's has other words since.
func undecided(text string) bool {
	return strings.HasPrefix(text, "Undecided: ") || strings.HasPrefix(text, "No sound verdict is possible from this design: ")
}

// alike compares values of JSON: the older version's values are still there.
func alike(t *testing.T, at string, want, got any) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s: %v, was an object", at, got)
			return
		}
		for key, value := range w {
			alike(t, at+"/"+key, value, g[key])
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			t.Errorf("%s: %d elements, were %d", at, len(g), len(w))
			return
		}
		for i, value := range w {
			alike(t, at+"/"+strconv.Itoa(i), value, g[i])
		}
	case float64:
		g, ok := got.(float64)
		if !ok || math.Abs(g-w) > 1e-9*max(math.Abs(w), 1) {
			t.Errorf("%s: %v, was %v", at, got, w)
		}
	case string:
		g, _ := got.(string)
		if worded.MatchString(at) && slices.Equal(number.FindAllString(w, -1), number.FindAllString(g, -1)) {
			return
		}
		if in := ofTrials.FindString(w); in != "" && in == ofTrials.FindString(g) {
			return
		}
		// The layout that uses the CPU least is named since, not the fastest one.
		if strings.HasPrefix(g, "In every layout the CPU was at least ") && strings.Contains(w, "CPU-bound") {
			return
		}
		if g != w && !(undecided(w) && undecided(g)) {
			t.Errorf("%s: %q, was %q", at, got, w)
		}
	default:
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: %v, was %v", at, got, want)
		}
	}
}
