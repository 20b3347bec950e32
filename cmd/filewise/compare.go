package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/verdict"
)

// comparisonSchema is the version of compare's JSON document.
const comparisonSchema = "filewise-comparison/1"

// compareConfidence is that of the intervals, in percent, unless told otherwise.
const compareConfidence = 95

func (a *app) compareCommand() *cobra.Command {
	var confidence float64
	var meant []string
	cmd := &cobra.Command{
		Use:   "compare BEFORE AFTER",
		Short: "Compare two runs, before and after a change of storage, version or settings",
		Long: `Compare tells for every layout that two stored runs have in common how its
throughput changed, and how its difference from the baseline did, with intervals.

Two runs share no blocks: whatever else happened to the machine in between is in the
change of throughput, and no statistics can take it out. What changed for all
layouts alike is not in the change of their differences.

Runs that differ in what has to be equal (engine, workload, size, durability …) are
refused, unless --meant says that this is what was changed; other differences are
named.`,
		Example: `  filewise compare 11 12
  filewise compare 11 last --meant durability --json`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(confidence >= 50 && confidence <= 99.99) {
				return badValue("confidence", confidence, "give a percentage from 50 to 99.99, such as 95")
			}
			for _, m := range meant {
				if _, err := choice("meant", m, meantNames...); err != nil {
					return err
				}
			}
			before, err := a.load(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			after, err := a.load(cmd.Context(), args[1])
			if err != nil {
				return err
			}
			c, err := compareRuns(before, after, confidence/100, meant)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(c)
			}
			return a.printComparison(c)
		},
	}
	cmd.Flags().Float64Var(&confidence, "confidence", compareConfidence, "confidence of the intervals in `percent`, over all layouts together")
	cmd.Flags().StringSliceVar(&meant, "meant", nil, "`things` that were changed on purpose, of those otherwise refused: "+strings.Join(meantNames, ", "))
	completeFlag(cmd, "meant", meantNames...)
	return cmd
}

// comparison is what compare prints.
type comparison struct {
	Schema      string             `json:"schema"`
	Before      int64              `json:"before"` // run
	After       int64              `json:"after"`
	Confidence  float64            `json:"confidence"`
	Differences []difference       `json:"differences"`
	Families    []familyComparison `json:"families"`
	Left        []string           `json:"layouts_not_in_both"`
}

type familyComparison struct {
	Family  string      `json:"family,omitempty"`
	Layouts []changeDoc `json:"layouts"`
}

// changeDoc is a change in percent; null is not known.
type changeDoc struct {
	Layout       string   `json:"layout"`
	TrialsBefore int      `json:"trials_before"`
	TrialsAfter  int      `json:"trials_after"`
	Percent      *float64 `json:"change_percent"`
	Low          *float64 `json:"change_low"`
	High         *float64 `json:"change_high"`
	Resolved     bool     `json:"resolved"`          // the interval excludes no change
	Relative     *float64 `json:"difference_change"` // of the difference from the baseline
	RelativeLow  *float64 `json:"difference_low"`
	RelativeHigh *float64 `json:"difference_high"`
	Text         string   `json:"text"` // the same as it is shown
}

// compareRuns refuses what cannot be compared.
func compareRuns(before, after stored, confidence float64, meant []string) (comparison, error) {
	out := comparison{Schema: comparisonSchema, Before: before.run.ID, After: after.run.ID, Confidence: confidence,
		Differences: append([]difference{}, differences(before.run, after.run, meant)...), Left: []string{}}
	if before.run.ID == after.run.ID {
		return out, filewise.Errorf(filewise.CodeUsage, "name two runs", "run %d cannot be compared with itself", before.run.ID)
	}
	var why []string
	for _, d := range out.Differences {
		if d.Kind == differsRefused {
			why = append(why, fmt.Sprintf("%s: %s, then %s", d.What, d.Before, d.After))
		}
	}
	if len(why) > 0 {
		return out, filewise.Errorf(filewise.CodeUsage, "if that is what was changed, say so with --meant ("+strings.Join(meantNames, ", ")+")",
			"runs %d and %d are of different things; %s", before.run.ID, after.run.ID, strings.Join(why, "; "))
	}
	a, err := before.run.Plan.Samples(before.trials)
	if err != nil {
		return out, err
	}
	b, err := after.run.Plan.Samples(after.trials)
	if err != nil {
		return out, err
	}
	for _, x := range a {
		for _, y := range b {
			if x.Family == y.Family {
				if err := out.family(x, y, before.run.Plan.Baseline); err != nil {
					return out, err
				}
			}
		}
	}
	if len(out.Families) == 0 {
		return out, filewise.Errorf(filewise.CodeUsage, "compare runs of the same workload", "runs %d and %d have no family of operations in common", before.run.ID, after.run.ID)
	}
	out.Left = notInBoth(before.run.Plan, after.run.Plan)
	return out, nil
}

func (c *comparison) family(x, y experiment.FamilySample, baseline string) error {
	changes, err := verdict.Compare(x.Sample, y.Sample, baseline, c.Confidence)
	if errors.Is(err, verdict.ErrTable) {
		return filewise.Errorf(filewise.CodeUsage, "compare runs that share layouts, with complete blocks", "runs %d and %d: %w", c.Before, c.After, err)
	}
	if err != nil {
		return err
	}
	f := familyComparison{Family: x.Family}
	for _, k := range changes {
		doc := changeDoc{
			Layout: k.Arm, TrialsBefore: k.Before, TrialsAfter: k.After, Resolved: k.Resolved(),
			Percent: percentOf(k.Effect), Low: percentOf(k.Lo), High: percentOf(k.Hi),
			Relative: percentOf(k.Relative), RelativeLow: percentOf(k.RelativeLo), RelativeHigh: percentOf(k.RelativeHi),
		}
		doc.Text = changeWords(doc)
		f.Layouts = append(f.Layouts, doc)
	}
	c.Families = append(c.Families, f)
	return nil
}

func percentOf(effect float64) *float64 {
	p := verdict.Percent(effect)
	if math.IsNaN(p) || math.IsInf(p, 0) {
		return nil
	}
	return &p
}

// notInBoth are the layouts of one run alone.
func notInBoth(p, q experiment.Plan) []string {
	out := []string{}
	has := func(p experiment.Plan, name string) bool {
		for _, l := range p.Layouts {
			if l.Name == name {
				return true
			}
		}
		return false
	}
	for _, l := range p.Layouts {
		if !has(q, l.Name) {
			out = append(out, l.Name)
		}
	}
	for _, l := range q.Layouts {
		if !has(p, l.Name) {
			out = append(out, l.Name)
		}
	}
	return out
}

func (a *app) printComparison(c comparison) error {
	w := &lineWriter{w: a.stdout}
	w.printf("Run %d against run %d (%s %% intervals, over all layouts together)\n", c.After, c.Before, strings.TrimSuffix(fmt.Sprintf("%.4g", 100*c.Confidence), ".0"))
	for _, f := range c.Families {
		w.printf("\n")
		if f.Family != "" {
			w.printf("%s\n", f.Family)
		}
		for _, l := range f.Layouts {
			w.printf("  %s: %s\n", l.Layout, l.Text)
		}
	}
	for _, name := range c.Left {
		w.printf("\n%s is in one of the runs only.\n", name)
	}
	for _, d := range c.Differences {
		word := "Changed"
		if d.Kind == differsWarned {
			word = "Warning: the runs also differ in"
		}
		w.printf("\n%s %s: %q, then %q", word, d.What, d.Before, d.After)
	}
	w.printf("\nWhatever else happened to the machine between the runs is in these changes.\n")
	return w.err
}

// changeWords is a layout's change in words.
func changeWords(l changeDoc) string {
	if l.Percent == nil || l.Low == nil {
		return "too few trials to tell"
	}
	s := fmt.Sprintf("%s %% (%s … %s; %d and %d trials)", signedText(*l.Percent), signedText(*l.Low), signedText(*l.High), l.TrialsBefore, l.TrialsAfter)
	if !l.Resolved {
		s += fmt.Sprintf(": no change larger than %.1f %%", max(math.Abs(*l.Low), math.Abs(*l.High)))
	}
	if l.Relative != nil && l.RelativeLow != nil {
		s += fmt.Sprintf("; its ratio to the baseline %s %% (%s … %s)", signedText(*l.Relative), signedText(*l.RelativeLow), signedText(*l.RelativeHigh))
	}
	return s
}

func signedText(percent float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f", percent), "-", "−", 1)
}
