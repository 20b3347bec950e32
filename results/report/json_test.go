package report_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"filewise"
	"filewise/results/report"
)

func TestJSONDocument(t *testing.T) {
	var doc struct {
		Schema  string
		Layouts []struct {
			Name       string
			Percent    *float64 `json:"difference_percent"`
			Low        *float64 `json:"difference_low"`
			Typical    *float64
			Recommends bool `json:"recommended"`
			Mark       string
		}
		Trials []struct {
			State    string
			Reason   string
			Measures []map[string]json.RawMessage
		}
		Plan      struct{ Seed uint64 }
		Judgement struct {
			Verdict struct {
				Analyses []json.RawMessage `json:"looks"`
			}
		}
	}
	d := stored(t)
	out := render(t, report.JSON, d)
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "filewise-report/1" {
		t.Errorf("schema %q", doc.Schema)
	}
	if len(doc.Trials) != len(d.Trials) || len(doc.Layouts) != 5 || len(doc.Judgement.Verdict.Analyses) != 4 || doc.Plan.Seed != 4241 {
		t.Errorf("%d trials, %d layouts, %d analyses, seed %d", len(doc.Trials), len(doc.Layouts),
			len(doc.Judgement.Verdict.Analyses), doc.Plan.Seed)
	}
	failed := 0
	for _, tr := range doc.Trials {
		if tr.State == "failed" {
			failed++
			if tr.Reason == "" {
				t.Error("a failed trial has no reason")
			}
			continue
		}
		if _, has := tr.Measures[0]["slices"]; has {
			t.Fatal("slices are in the report")
		}
		if _, has := tr.Measures[0]["throughput"]; !has {
			t.Error("no throughput")
		}
	}
	if failed != 1 {
		t.Errorf("%d failed trials, want 1", failed)
	}
	if l := doc.Layouts[3]; l.Name != "8 files" || !l.Recommends || l.Mark != "best" || l.Percent == nil || *l.Percent < 4 ||
		*l.Low > *l.Percent {
		t.Errorf("8 files: %+v", l)
	}
}

func TestJSONHasNullForWhatIsNotKnown(t *testing.T) {
	out := string(render(t, report.JSON, partial(t)["no-block"]))
	for _, want := range []string{`"typical": null`, `"difference_percent": null`, `"ended": null`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestNumbersThatAreNoneDoNotSpoilAReport: the store keeps them.
func TestNumbersThatAreNoneDoNotSpoilAReport(t *testing.T) {
	d := stored(t)
	m := &d.Trials[5].Measures[0]
	m.Work, m.Bytes = math.NaN(), math.Inf(1)
	m.Deltas = []filewise.Delta{{Probe: "cpu", Name: "busy", Unit: "ms", Value: math.NaN()}}
	for ext, write := range formats {
		out := string(render(t, write, d))
		if ext == "json" && !(strings.Contains(out, `"work": null`) && strings.Contains(out, `"bytes": null`) &&
			strings.Contains(out, `"value": null`)) {
			t.Error("what is no number is not null")
		}
		if ext == "html" && strings.Contains(out, "unsupported value") {
			t.Error("the charts have no data")
		}
	}
}
