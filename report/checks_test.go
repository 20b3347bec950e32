package report

import (
	"bytes"
	"strings"
	"testing"

	"filewise"
	"filewise/experiment"
	"filewise/verdict"
)

// failedAA is a judgement in which the baseline's twin is claimed to differ.
func failedAA() verdict.Result {
	arms := []verdict.Arm{{Name: "1 file"}, {Name: "1 file again", Twin: "1 file"}}
	return verdict.Result{Config: verdict.DefaultConfig(), Arms: arms, Looks: []verdict.Look{{Block: 3, Recommended: 0,
		Estimates: []verdict.Estimate{{Mark: verdict.MarkBaseline}, {Mark: verdict.MarkAAFails, Effect: 0.2, Lo: 0.1, Hi: 0.3}}}}}
}

// A failed A/A check of any family stands on top.
func TestFailedAAOfAFamilyLeads(t *testing.T) {
	d := Data{Plan: experiment.Plan{Baseline: "1 file", AA: "1 file again", Calibrate: true,
		Layouts: []filewise.Layout{{Name: "1 file"}, {Name: "1 file again"}}}}
	d.Judgement.Families = []experiment.Family{{Name: "open"}, {Name: "recovery", Result: failedAA()}}
	if got := newView(d).Headline(); !strings.HasPrefix(got, "Do not rely on this: the A/A check failed (recovery). ") {
		t.Errorf("summary %q", got)
	}
	d.Judgement.Families[1].Result.Looks = nil
	d.Judgement.Families[0].Result = d.Judgement.Families[1].Result
	if got := newView(d).Headline(); strings.Contains(got, "A/A") {
		t.Errorf("summary %q", got)
	}
	if all := newView(d).further(); len(all) > 0 {
		t.Errorf("no verdict of any family, and said of each: %q", all)
	}
	words := strings.Join(newView(d).checkWords(), "\n")
	for _, want := range []string{"Holm's procedure", "1 file again is the same layout", "probed by a short piece"} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in %q", want, words)
		}
	}
}

// The terminal's first line is the warning.
func TestFailedAALeadsOnTheTerminal(t *testing.T) {
	r := failedAA()
	d := Data{Plan: experiment.Plan{Baseline: "1 file", AA: "1 file again",
		Layouts: []filewise.Layout{{Name: "1 file"}, {Name: "1 file again"}}}}
	d.Judgement = experiment.Judgement{Families: []experiment.Family{{Result: r, Sentences: verdict.Sentences(r, verdict.WordsOptions{})}}}
	var out bytes.Buffer
	if err := Terminal(&out, d, TerminalOptions{Width: 200}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "Do not use this result: the A/A check failed") || !strings.Contains(out.String(), "A/A fails") {
		t.Errorf("it begins\n%s", out.String())
	}
}
