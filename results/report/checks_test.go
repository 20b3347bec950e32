package report

import (
	"bytes"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
)

// failedAA is a judgement in which the baseline's twin is claimed to differ.
func failedAA() verdict.Result {
	arms := []verdict.Arm{{Name: "1 file"}, {Name: "1 file again", Twin: "1 file"}}
	return verdict.Result{Config: verdict.DefaultConfig(), Arms: arms, Analyses: []verdict.Analysis{{Block: 3, Recommended: 0,
		Estimates: []verdict.Estimate{{Mark: verdict.MarkBaseline}, {Mark: verdict.MarkAAFails, Effect: 0.2, Lo: 0.1, Hi: 0.3}}}}}
}

// A failed A/A check of any operation stands on top.
func TestFailedAAOfAOperationLeads(t *testing.T) {
	d := Data{Plan: experiment.Plan{Baseline: "1 file", AA: "1 file again", Calibrate: true,
		Layouts: []filewise.Layout{{Name: "1 file"}, {Name: "1 file again"}}}}
	d.Judgement.Operations = []experiment.Operation{{Name: "open"}, {Name: "recovery", Result: failedAA()}}
	if got := newView(d).Headline(); !strings.HasPrefix(got, "Do not rely on this: the A/A check failed (recovery). ") {
		t.Errorf("summary %q", got)
	}
	d.Judgement.Operations[1].Result.Analyses = nil
	d.Judgement.Operations[0].Result = d.Judgement.Operations[1].Result
	if got := newView(d).Headline(); strings.Contains(got, "A/A") {
		t.Errorf("summary %q", got)
	}
	if all := newView(d).further(); len(all) > 0 {
		t.Errorf("no verdict of any operation, and said of each: %q", all)
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
	d.Judgement = experiment.Judgement{Operations: []experiment.Operation{{Result: r,
		Sentences: verdict.Sentences(r, verdict.WordsOptions{})}}}
	var out bytes.Buffer
	if err := Terminal(&out, d, TerminalOptions{Width: 200}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "Do not use this result: the A/A check failed") || !strings.Contains(out.String(), "A/A fails") {
		t.Errorf("it begins\n%s", out.String())
	}
}

// Stalls, and how often they can occur unseen, stand in the first lines; the small print names the estimand.
func TestStallsStandInTheFirstLines(t *testing.T) {
	var table verdict.Table
	for b := range 8 {
		row := []verdict.Cell{{Throughput: 1000 + float64(b*b%7), OK: true}, {Throughput: 1002.5 - float64(b*b*b%9), OK: true}}
		table = append(table, row)
	}
	table[4][1].Throughput = 512
	layouts := []filewise.Layout{{Name: "1 file", Rank: 1}, {Name: "4 files", Rank: 4}}
	r, err := verdict.Judge(verdict.DefaultConfig(), []verdict.Arm{{Name: "1 file", Rank: 1}, {Name: "4 files", Rank: 4}}, table)
	if err != nil {
		t.Fatal(err)
	}
	d := Data{Plan: experiment.Plan{Baseline: "1 file", Layouts: layouts, Rules: 3}}
	d.Judgement = experiment.Judgement{Operations: []experiment.Operation{{Result: r,
		Sentences: verdict.Sentences(r, verdict.WordsOptions{})}}}
	const want = "Stalled: 1 of 8 trials of 4 files (48 % slower than a typical one; total work 5.9 % less)."
	for _, short := range []bool{false, true} {
		var out bytes.Buffer
		if err := Terminal(&out, d, TerminalOptions{Width: 300, Short: short}); err != nil {
			t.Fatal(err)
		}
		if lines := strings.SplitN(out.String(), "\n", 4); !strings.Contains(strings.Join(lines[:3], "\n"), want) {
			t.Errorf("short %v: it begins\n%s", short, strings.Join(lines, "\n"))
		}
	}
	if words := strings.Join(newView(d).methodWords(), "\n"); !strings.Contains(words,
		"concern the typical trial, the median of the logarithm") {
		t.Errorf("the small print:\n%s", words)
	}
}
