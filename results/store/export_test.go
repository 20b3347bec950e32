package store

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filewise"
	"filewise/internal/process"
)

func sampleRun() Run {
	ended := time.Date(2026, 3, 1, 15, 0, 0, 5, time.UTC)
	return Run{ID: 12, Started: ended.Add(-time.Hour), Ended: &ended, State: Done, Version: "v1",
		Owner: process.Identity{PID: 1, Start: 2, Boot: "b", Host: "h", Space: "s"},
		Plan:  samplePlan(), Machine: []filewise.Fact{{Name: "CPU", Value: "<2>"}}, Server: []filewise.Fact{},
		Warnings: []filewise.Warning{}, Ending: "decided", Why: "w", Verdict: "v"}
}

func TestExportJSONHoldsEverything(t *testing.T) {
	run, trials := sampleRun(), []filewise.Trial{sampleTrial(1), sampleTrial(2)}
	var out bytes.Buffer
	must(t, ExportJSON(&out, run, trials))
	var got struct {
		Format string
		Schema int
		Run    Run
		Trials []filewise.Trial
	}
	must(t, json.Unmarshal(out.Bytes(), &got))
	if got.Format != "filewise-run" || got.Schema != 1 {
		t.Errorf("%q, %d", got.Format, got.Schema)
	}
	if diff := cmp.Diff(run, got.Run); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(trials, got.Trials); diff != "" {
		t.Error(diff)
	}
}

// JSON has no NaN, and a failed trial has no throughput.
func TestExportJSONAbsent(t *testing.T) {
	odd, failed := sampleTrial(1), sampleTrial(2)
	odd.Measures[0].Work, odd.Measures[0].Deltas[0].Value = math.NaN(), math.Inf(1)
	failed.State = filewise.Failed
	var out bytes.Buffer
	must(t, ExportJSON(&out, sampleRun(), []filewise.Trial{odd, failed, {}}))
	var got struct {
		Trials []struct {
			Measures []struct {
				Work       *float64
				Throughput *float64 `json:"throughput_per_s"`
				Deltas     []struct{ Value *float64 }
			}
		}
	}
	must(t, json.Unmarshal(out.Bytes(), &got))
	m := got.Trials[0].Measures[0]
	if m.Work != nil || m.Throughput != nil || m.Deltas[0].Value != nil || *m.Deltas[1].Value != 3 {
		t.Errorf("%+v", m)
	}
	if m := got.Trials[1].Measures[0]; m.Work == nil || m.Throughput != nil {
		t.Errorf("failed: %+v", m)
	}
}

// EXPORT.md names every field and column that there is.
func TestExportIsDocumented(t *testing.T) {
	b, err := os.ReadFile("EXPORT.md")
	must(t, err)
	documented := map[string]bool{}
	for i, word := range strings.Split(string(b), "`") {
		documented[word] = documented[word] || i%2 == 1
	}
	trial := sampleTrial(1)
	trial.Cell.Pilot = true
	run := sampleRun()
	run.Origin = &Origin{Host: "h", User: "u"}
	run.Plan.Target.ServerBin = "/bin"
	run.Plan.Layouts[0].Data = filewise.Spread{Allocation: "a", Growth: 1, Placement: "p"}
	var out bytes.Buffer
	must(t, ExportJSON(&out, run, []filewise.Trial{trial}))
	var v any
	must(t, json.Unmarshal(out.Bytes(), &v))
	for _, key := range append(keys(v), csvHeader...) {
		if !documented[key] {
			t.Errorf("%q is not documented", key)
		}
	}
}

// keys are the names of all fields of a JSON value, but those the user chose.
func keys(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			all = append(all, k)
			if k != "settings" {
				all = append(all, keys(x)...)
			}
		}
	case []any:
		for _, x := range v {
			all = append(all, keys(x)...)
		}
	}
	return all
}

func TestExportCSV(t *testing.T) {
	odd := sampleTrial(1)
	odd.Cell.Layout, odd.Reason, odd.Build = "8 files, \"new\"", "line\nbreak", ""
	odd.Measures = odd.Measures[:1]
	odd.Measures[0].Window = [2]time.Duration{time.Second, 3 * time.Second}
	odd.Measures[0].Work = 1e21
	pilot := filewise.Trial{Cell: filewise.Cell{Pilot: true, Layout: "1 file", Attempt: 1}, State: filewise.Failed, Reason: "=1+cmd|' /c'!A1"}
	var out bytes.Buffer
	must(t, ExportCSV(&out, sampleRun(), []filewise.Trial{odd, pilot, sampleTrial(3)}))
	if !strings.HasPrefix(out.String(), strings.Join(csvHeader, ",")+"\r\n") {
		t.Errorf("header: %q", out.String())
	}
	lines, err := csv.NewReader(&out).ReadAll()
	must(t, err)
	if len(lines) != 5 { // the third trial has two operations
		t.Fatalf("%d lines", len(lines))
	}
	want := [][]string{
		{"12", "1", "1", `8 files, "new"`, "2", "false", "done", "line\nbreak", "inserts", "500000000000000000000", "rows",
			"1000000000000000000000",
			"2", "0.000000005", "0.000000007", "1234.567890123", "", "2026-03-01T11:05:09.123456789Z"},
		{"12", "0", "0", "1 file", "1", "true", "failed", "'=1+cmd|' /c'!A1", "", "", "", "", "", "", "", "0", "", "0001-01-01T00:00:00Z"},
	}
	for i := range want { // what a sample cannot be judged by
		want[i] = append(want[i], slices.Repeat([]string{""}, len(csvHeader)-len(want[i]))...)
	}
	if diff := cmp.Diff(want, lines[1:3], cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestExportReportsWriteErrors(t *testing.T) {
	trials := []filewise.Trial{sampleTrial(1)}
	if err := ExportJSON(full{}, sampleRun(), trials); err == nil {
		t.Error("JSON")
	}
	if err := ExportCSV(full{}, sampleRun(), trials); err == nil {
		t.Error("CSV")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }

func BenchmarkAddTrial(b *testing.B) {
	s, err := Open(b.Context(), b.TempDir()+"/filewise.db")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	id, err := s.CreateRun(b.Context(), Run{Plan: samplePlan()})
	if err != nil {
		b.Fatal(err)
	}
	for block := 1; b.Loop(); block++ {
		if err := s.AddTrial(b.Context(), id, sampleTrial(block)); err != nil {
			b.Fatal(err)
		}
	}
}

// csvHeader are the columns of ExportCSV.
var csvHeader = []string{"run", "block", "position", "layout", "attempt", "pilot", "state", "reason",
	"family", "throughput", "unit", "work", "window_s", "tail_s", "sync_s", "elapsed_s", "instance", "started",
	"operations", "p50_s", "p99_s", "p999_s", "judged", "order", "layout_number", "rank", "twin", "baseline", "max_blocks",
	"margin_percent", "confidence", "goal", "rules", "p99_limit_s", "rest_work", "rest_s"}
