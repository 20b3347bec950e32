package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"filewise"
	"filewise/archive"
	"filewise/experiment"
	"filewise/gate"
	"filewise/plan"
	"filewise/verdict"
	"filewise/verdict/tablecsv"
)

// judgementSchema is the version of the JSON document of judged numbers from elsewhere.
const judgementSchema = "filewise-judgement/1"

// fromElsewhere are numbers that came from elsewhere, judged.
type fromElsewhere struct {
	Schema    string         `json:"schema"`
	Source    string         `json:"source"` // the file; "-": standard input
	Headline  string         `json:"headline"`
	Sentences []string       `json:"sentences"`
	Blocks    []string       `json:"blocks"` // their names, in the order in which they were judged
	Verdict   verdict.Result `json:"verdict"`
	Notes     []string       `json:"notes"` // what of the file was not used
	// InTime are the differences as those of the time that the same work takes, where the file has times.
	InTime []string `json:"in_time,omitempty"`
	// Few are the layouts' differences where there are too few blocks for a verdict.
	Few  []verdict.Estimate `json:"few,omitempty"`
	Gate []gate.Outcome     `json:"gate,omitempty"` // what conditions of --fail-if came to
}

// judgeCSV judges the file's trials and prints what came of it.
func (a *app) judgeCSV(f *plan.JudgeOptions, g *resultFlags, path, family string, maxBlocks int) error {
	in, err := a.readCSV(path, family)
	if err != nil {
		return err
	}
	if n := measuredLayouts(in.Table); n < 2 {
		return filewise.Errorf(filewise.CodeTrials, "give a result of at least two layouts: NA and nothing are trials that are missing",
			"%s has results of %d layouts: there is nothing to compare", sourceName(path), n)
	}
	cfg, arms, err := csvDesign(f, in, maxBlocks)
	if err != nil {
		return err
	}
	if err := g.parse(in.Layouts); err != nil {
		return err
	}
	out := fromElsewhere{Schema: judgementSchema, Source: path, Blocks: in.Blocks, Notes: append([]string{}, in.Notes...)}
	if err := out.judge(cfg, arms, in.Table); err != nil {
		return filewise.Errorf(filewise.CodeUsage, "see filewise judge --help", "judge %s: %w", sourceName(path), err)
	}
	if in.Times {
		out.InTime = out.inTime()
	}
	out.Gate = g.judge(gate.Suite{Name: sourceName(path), Headline: out.Headline, Said: out.Sentences[1:]},
		archive.SubjectsOf("", out.Verdict, nil))
	if err := a.print(out, out.text); err != nil {
		return err
	}
	return g.end(a)
}

// measuredLayouts is how many layouts have a result at all.
func measuredLayouts(t verdict.Table) int {
	measured := map[int]bool{}
	for _, row := range t {
		for layout, cell := range row {
			if cell.Throughput > 0 {
				measured[layout] = true
			}
		}
	}
	return len(measured)
}

// judge judges the table; of fewer blocks than a verdict takes it says what can be said.
func (out *fromElsewhere) judge(cfg verdict.Config, arms []verdict.Arm, t verdict.Table) (err error) {
	if out.Verdict, err = verdict.Judge(cfg, arms, t); err != nil {
		return err
	}
	if len(t) >= verdict.FirstLook {
		out.Sentences = verdict.Sentences(out.Verdict, verdict.WordsOptions{})
	} else {
		if out.Few, err = verdict.Few(cfg, arms, t); err != nil {
			return err
		}
		if out.Sentences, err = verdict.FewSentences(cfg, arms, t); err != nil {
			return err
		}
		out.Notes = append(out.Notes, "Measure every layout more often, in random order, and give all trials: that shows how far the runs of "+
			"one layout differ.")
	}
	out.Headline = out.Sentences[0]
	return nil
}

// inTime are the differences from the baseline in time, layout by layout.
func (out *fromElsewhere) inTime() []string {
	estimates := out.Few
	if look, ok := out.Verdict.Last(); ok {
		estimates = slices.Clone(look.Estimates)
		for j := range estimates {
			estimates[j] = out.Verdict.Shown(look, j)
		}
	}
	var all []string
	for j, e := range estimates {
		if words := verdict.InTime(out.Verdict.Arms[j], e); j != out.Verdict.Config.Baseline && words != "" {
			all = append(all, words)
		}
	}
	return all
}

func sourceName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// readCSV reads the file, or standard input for "-".
func (a *app) readCSV(path, family string) (in tablecsv.Input, err error) {
	from := a.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return in, filewise.Errorf(filewise.CodeUsage, "give a file that can be read, or - for standard input", "%w", err)
		}
		defer file.Close()
		from = file
	}
	if in, err = tablecsv.Read(from, family); err == nil {
		return in, nil
	}
	var wrong *tablecsv.Error
	remedy := "one line is one trial, and the first line names the columns block, layout and throughput (or time)"
	if !errors.As(err, &wrong) && !errors.Is(err, io.EOF) {
		remedy = "give a CSV file that can be read"
	}
	return in, filewise.Errorf(filewise.CodeUsage, remedy, "%s: %w", sourceName(path), err)
}

// csvDesign is how the numbers are judged: by the flags' rules.
func csvDesign(f *plan.JudgeOptions, in tablecsv.Input, maxBlocks int) (verdict.Config, []verdict.Arm, error) {
	cfg := verdict.DefaultConfig()
	named := in.Design // by a file that Filewise exported; flags go before it
	p := experiment.Plan{Rules: cmp.Or(named.Rules, cfg.Rules), Margin: cmp.Or(named.Margin, 2), Baseline: named.Baseline,
		Confidence: cfg.Confidence, Goal: cmp.Or(named.Goal, cfg.Goal)}
	arms := in.Arms()
	for _, arm := range arms {
		if arm.Twin != "" {
			p.AA = arm.Name
		}
		p.Layouts = append(p.Layouts, filewise.Layout{Name: arm.Name, Rank: arm.Rank, Data: filewise.Spread{Files: arm.Rank}})
		if p.Baseline == "" && arm.Rank == 1 && arm.Twin == "" {
			p.Baseline = arm.Name // 1 file, unless told otherwise
		}
	}
	if err := f.Override(&p); err != nil {
		return cfg, nil, err
	}
	switch {
	case maxBlocks == 0:
		maxBlocks = max(cmp.Or(named.MaxBlocks, cfg.MaxBlocks), len(in.Table))
	case maxBlocks < verdict.FirstLook || maxBlocks > tablecsv.MaxBlocks:
		return cfg, nil, plan.BadValue("max-blocks", maxBlocks, fmt.Sprintf("give the number of blocks that was planned, from %d to %d",
			verdict.FirstLook, tablecsv.MaxBlocks))
	}
	cfg.Rules, cfg.Margin, cfg.Confidence, cfg.Goal, cfg.MaxBlocks = p.JudgedBy(), p.MarginLog(), p.Confidence, p.Goal, maxBlocks
	if named.Confidence > 0 && !f.Confidence.Given() { // of one of several families, as it is
		cfg.Confidence = named.Confidence
	}
	for i, name := range in.Layouts {
		if name == p.Baseline {
			cfg.Baseline = i
		}
	}
	return cfg, arms, nil
}

// text is the verdict, and how it formed.
func (out fromElsewhere) text(w *lineWriter) {
	for i, s := range out.Sentences {
		if i == 1 {
			w.printf("\n")
		}
		w.printf("%s\n", s)
	}
	for i, s := range out.InTime {
		if i == 0 {
			w.printf("\nIn time, as the file has it\n")
		}
		w.printf("  %s\n", s)
	}
	if len(out.Verdict.Looks) > 0 {
		w.printf("\nHow it formed\n")
	}
	for _, look := range out.Verdict.Looks {
		w.printf("  after block %2d (%d trials): %s\n", look.Block, look.Trials, tablecsv.LookLine(out.Verdict, look))
	}
	for _, note := range out.Notes {
		w.printf("\nNote: %s\n", note)
	}
	defer func() { gateText(w, out.Gate) }()
	for _, x := range out.Verdict.Warnings {
		w.printf("\nWarning: %s\n  → %s\n", x.Message, x.Remedy)
	}
}
