package gate_test

import (
	"bytes"
	"encoding/xml"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/results/gate"
)

func log(percent float64) float64 { return math.Log1p(percent / 100) }

func interval(effect, lo, hi float64) gate.Interval {
	return gate.Interval{log(effect), log(lo), log(hi)}
}

var unknown = gate.Interval{math.NaN(), math.NaN(), math.NaN()}

// A condition is met if its interval proves it; a possible one if it is not excluded.
func TestConditions(t *testing.T) {
	subjects := []gate.Subject{
		{Layout: "1 file", Reference: "1 file", Throughput: unknown, P99: unknown, Took: 7 * time.Millisecond},
		{Layout: "2 files", Reference: "1 file", Throughput: gate.Interval{log(-20), math.NaN(), math.NaN()}, P99: unknown}, // dropped before
		{Layout: "4 files", Reference: "1 file", Throughput: interval(-4, -9, 1), P99: interval(30, 12, 50), Took: 8 * time.Millisecond},
		{Layout: "8 files", Reference: "1 file", Throughput: interval(20, 11, 30), P99: unknown},
	}
	for _, c := range []struct {
		text   string
		failed bool
		said   string
	}{
		{"loss > 5 %", false, "throughput of 4 files against 1 file −4.0 % (−9.0 … +1.0)"},
		{"possible loss > 5 %", true, "4 files against"},
		{"possible loss > 9.5%", true, "2 files against 1 file −20.0 %, without an interval"},
		{"possible loss of 8 files > 0 %", false, "throughput of 8 files against 1 file +20.0 %"},
		{"gain > 10 %", true, "throughput of 8 files against 1 file +20.0 % (+11.0 … +30.0)"},
		{"gain of 4 files > 0 %", false, "4 files against"},
		{"gain > 11.5 %", false, "8 files"},
		{"p99 > 10 %", true, "p99 of 4 files against 1 file +30.0 % (+12.0 … +50.0)"},
		{"p99 > 15 %", false, "p99 of 4 files"},
		{"p99 > 7ms", true, "p99 of 4 files is 8 ms"},
		{"p99 > 8 ms", false, "p99 of 4 files is 8 ms"},
		{"p99 of 8 files > 1 ms", true, "not known, and nothing shows that it is below"},
		{"possible p99 of 8 files > 50 %", true, "not known"}, // nothing excludes it
	} {
		condition, err := gate.Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		all := gate.Judge([]gate.Condition{condition}, subjects)
		if len(all) != 1 || all[0].Failed != c.failed || !strings.Contains(all[0].Text, c.said) {
			t.Errorf("%s: %+v", c.text, all)
		}
		if err := gate.Error(all); (err != nil) != c.failed || err != nil && filewise.CodeOf(err) != filewise.CodeGate {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	many := slices.Repeat([]gate.Outcome{{Condition: "loss > 5 %", Operation: "insert", Failed: true, Text: "lost"}}, 5)
	if text := gate.Error(many).Error(); strings.Count(text, "loss > 5 % (insert): lost") != 3 || !strings.HasSuffix(text, "; and 2 more") {
		t.Error(text)
	}
	first, _ := gate.Parse("loss > 5 %")
	if all := gate.Judge([]gate.Condition{first}, nil); len(all) != 1 || all[0].Known || all[0].Failed {
		t.Errorf("nothing measured: %+v", all)
	}
	if first.Known([]string{"1 file"}) != nil {
		t.Error("a condition on any layout names none")
	}
	other, _ := gate.Parse("loss of 9 files > 5 %")
	if other.Known([]string{"1 file", "8 files"}) == nil {
		t.Error("there is no layout of 9 files")
	}
}

// A condition on p99 that nothing is known of lets nothing through; of one operation it suffices.
func TestUnknownP99(t *testing.T) {
	subject := func(operation string, took time.Duration) gate.Subject {
		return gate.Subject{Operation: operation, Layout: "8 files", Reference: "1 file", Throughput: unknown, P99: unknown, Took: took}
	}
	absolute, _ := gate.Parse("p99 > 1 s")
	change, _ := gate.Parse("p99 > 20 %")
	loss, _ := gate.Parse("loss > 5 %")
	for _, c := range []struct {
		condition gate.Condition
		subjects  []gate.Subject
		failed    int
	}{
		{absolute, nil, 1},
		{absolute, []gate.Subject{subject("backup", 0), subject("restore", 0)}, 2},
		{absolute, []gate.Subject{subject("backup", 0), subject("insert", time.Millisecond)}, 0},
		{change, []gate.Subject{subject("", time.Millisecond)}, 1},
		{loss, []gate.Subject{subject("", 0)}, 0},
	} {
		if all := gate.Judge([]gate.Condition{c.condition}, c.subjects); len(gate.Failed(all)) != c.failed {
			t.Errorf("%s: %+v", c.condition.Text, all)
		}
	}
}

func TestWrongConditions(t *testing.T) {
	for _, text := range []string{"", "loss", "loss > ", "loss > 5", "loss < 5 %", "loss >= 5 %",
		"loss ≥ 5 %", "loss > 5 ms", "loss > −1 %", "loss > NaN %", "cost > 5 %",
		"possible p99 > 5 ms", "loss > 100 %", "p99 > 0 ms", "loss of  > 5 %"} {
		if c, err := gate.Parse(text); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
}

// JUnit XML has correct counts, and carries any text.
func TestJUnit(t *testing.T) {
	var out bytes.Buffer
	suites := []gate.Suite{{Name: "run 12", Took: 1500 * time.Millisecond, Started: time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC),
		Headline:   "Recommended: <8 files> & \x07",
		Properties: [][2]string{{"filewise.decision", "use"}, {"filewise.layout", "<8 files>"}}, Outcomes: []gate.Outcome{
			{Condition: "loss > 5 %", Operation: "q1", Failed: true, Known: true, Text: "\"8 files\""}, {Condition: "gain > 1 %", Known: true},
			{Condition: "p99 > 5 ms"}}}, {Name: "run 13"}}
	if err := gate.JUnit(&out, suites); err != nil {
		t.Fatal(err)
	}
	var got struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Suites   []struct {
			Skipped   int     `xml:"skipped,attr"`
			Time      float64 `xml:"time,attr"`
			Timestamp string  `xml:"timestamp,attr"`
			Cases     []struct {
				Name    string `xml:"name,attr"`
				Out     string `xml:"system-out"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	if got.Tests != 5 || got.Failures != 1 || len(got.Suites) != 2 {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{`<property name="filewise.decision" value="use">`, `value="&lt;8 files&gt;"`} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("no %s in\n%s", want, out.Bytes())
		}
	}
	s := got.Suites[0]
	if s.Skipped != 1 || s.Time != 1.5 || s.Timestamp != "2026-11-23T05:00:00" || len(s.Cases) != 4 || s.Cases[0].Name != "verdict" ||
		!strings.HasPrefix(s.Cases[0].Out, "Recommended: <8 files> &") || s.Cases[1].Name != "q1 loss > 5 %" ||
		s.Cases[1].Failure == nil || s.Cases[1].Failure.Message != `"8 files"` || s.Cases[2].Failure != nil || s.Cases[3].Skipped == nil {
		t.Errorf("%+v", s)
	}
}
