package report_test

import (
	"html"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/cause"
	"filewise/lab/experiment"
)

// Every format lists the conditions with what was measured, and a verdict that is hardly about files has that in its
// headline.
func TestConditionsInEveryFormat(t *testing.T) {
	d := stored(t)
	d.Plan.Conditional = true
	d.Judgement.Conditions = []filewise.Condition{
		{Name: filewise.CondReach, Threshold: "every file", Measured: "all took part", OK: true},
		{Name: filewise.CondReads, Threshold: "data four times", Measured: "54.0 MiB of data", Mend: "more --warehouses"},
		{Name: filewise.CondWrites, Threshold: "pages", Unknown: true},
	}
	d.Plan.Rungs = []experiment.Rung{{Options: []string{"--memory", "96MiB"}, Conditions: d.Judgement.Conditions}}
	d.Judgement.Relevance = &cause.Relevance{Files: 0.09, Sentence: "Where the time went."}
	for name, write := range formats {
		if name == "short.txt" || name == "color.txt" { // one has the headline alone, the other is txt in colours
			continue
		}
		got := html.UnescapeString(string(render(t, write, d)))
		wants := []string{"This is for this workload, which hardly uses data files.", "54.0 MiB of data", "more --warehouses", "96MiB"}
		if name != "json" {
			wants = append(wants, "reach ✔, reads ✘", "writes ?")
		}
		for _, want := range wants {
			if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
	d.Judgement.Relevance.Files = 0.1
	if got := string(render(t, formats["md"], d)); strings.Contains(got, "hardly uses") {
		t.Error("a tenth of the time is not hardly any")
	}
}
