package limit

import (
	"strings"
	"testing"

	"filewise"
)

func TestPassed(t *testing.T) {
	gauges := []filewise.Gauge{{Name: "active", Unit: "sessions", Value: 6}, {Name: "free connections", Value: 3}}
	for text, want := range map[string]string{
		"active>5": "active is 6 sessions (limit: active>5)", "active>6": "", "active >= 6": "active is 6 sessions (limit: active>=6)",
		"Active<7": "active is 6 sessions (limit: Active<7)", "free connections<=3": "free connections is 3 (limit: free connections<=3)",
		"free connections<3": "",
		"active>1e3":         "", "active>0.5": "active is 6 sessions (limit: active>0.5)",
	} {
		l, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Passed([]Limit{l}, gauges); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
		if err := Known([]Limit{l}, gauges); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	l, _ := Parse("actve>5")
	err := Known([]Limit{l}, gauges)
	if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(filewise.RemedyOf(err), "active") ||
		!strings.Contains(filewise.RemedyOf(err), "free connections") {
		t.Errorf("%v (%s)", err, filewise.RemedyOf(err))
	}
	if _, err := Passed([]Limit{l}, gauges); err == nil {
		t.Error("a gauge that is not there is within its limit")
	}
	if err := Known([]Limit{l}, nil); filewise.RemedyOf(err) == "" {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	for _, text := range []string{"", "active", ">5", "active>", "active>x", "active=5", "active==5", "active>-1", "active>1.2.3",
		"active>1e999", "active>NaN", "active>>5", "5>active", "active>5;drop"} {
		if _, err := Parse(text); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("active>5")
	f.Add("free connections<=1e-3")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(l.String())
		if err != nil || again != l {
			t.Fatalf("%q reads as %v, then %v: %v", text, l, again, err)
		}
	})
}
