package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/experiment"
	"filewise/verdict"
	"filewise/verdict/tablecsv"
)

// judgementSchema is the version of the JSON document of judged foreign numbers.
const judgementSchema = "filewise-judgement/1"

// foreign are numbers that came from elsewhere, judged.
type foreign struct {
	Schema    string         `json:"schema"`
	Source    string         `json:"source"` // the file; "-": standard input
	Headline  string         `json:"headline"`
	Sentences []string       `json:"sentences"`
	Blocks    []string       `json:"blocks"` // their names, in the order in which they were judged
	Verdict   verdict.Result `json:"verdict"`
	Notes     []string       `json:"notes"` // what of the file was not used
}

// judgeCSV judges the file's trials and prints what came of it.
func (a *app) judgeCSV(cmd *cobra.Command, f *judgeFlags, path string, maxBlocks int) error {
	in, err := a.readCSV(path)
	if err != nil {
		return err
	}
	if n := len(in.Table); n < verdict.FirstLook {
		return filewise.Errorf(filewise.CodeUsage, "measure every layout at least that often, in random order, and give all trials",
			"%s holds %d blocks; a verdict needs at least %d", sourceName(path), n, verdict.FirstLook)
	}
	cfg, arms, err := f.design(cmd, in, maxBlocks)
	if err != nil {
		return err
	}
	r, err := verdict.Judge(cfg, arms, in.Table)
	if err != nil {
		return filewise.Errorf(filewise.CodeUsage, "see filewise judge --help", "judge %s: %w", sourceName(path), err)
	}
	sentences := verdict.Sentences(r, verdict.WordsOptions{})
	out := foreign{Schema: judgementSchema, Source: path, Headline: sentences[0], Sentences: sentences,
		Blocks: in.Blocks, Verdict: r, Notes: append([]string{}, in.Notes...)}
	if a.json {
		return a.printJSON(out)
	}
	return a.printForeign(out)
}

func sourceName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// readCSV reads the file, or standard input for "-".
func (a *app) readCSV(path string) (in tablecsv.Input, err error) {
	from := a.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return in, filewise.Errorf(filewise.CodeUsage, "give a file that can be read, or - for standard input", "%w", err)
		}
		defer file.Close()
		from = file
	}
	if in, err = tablecsv.Read(from); err == nil {
		return in, nil
	}
	var wrong *tablecsv.Error
	remedy := "one line is one trial, and the first line names the columns block, layout and throughput"
	if !errors.As(err, &wrong) && !errors.Is(err, io.EOF) {
		remedy = "give a CSV file that can be read"
	}
	return in, filewise.Errorf(filewise.CodeUsage, remedy, "%s: %w", sourceName(path), err)
}

// design is how the numbers are judged: the flags' rules, with layouts ranked by
// the number that their names begin with, where all do.
func (f *judgeFlags) design(cmd *cobra.Command, in tablecsv.Input, maxBlocks int) (verdict.Config, []verdict.Arm, error) {
	cfg := verdict.DefaultConfig()
	p := experiment.Plan{Margin: 2, Confidence: cfg.Confidence, Goal: cfg.Goal}
	ranks := ranksOf(in.Layouts)
	arms := make([]verdict.Arm, len(in.Layouts))
	for i, name := range in.Layouts {
		arms[i] = verdict.Arm{Name: name, Rank: ranks[i]}
		if twin, again := strings.CutSuffix(name, " again"); again && slices.Contains(in.Layouts, twin) {
			arms[i].Twin = twin // an A/A check, as run --aa names it
			p.AA = name
		}
		p.Layouts = append(p.Layouts, filewise.Layout{Name: name, Rank: ranks[i], Data: filewise.Spread{Files: ranks[i]}})
		if p.Baseline == "" && ranks[i] == 1 && arms[i].Twin == "" {
			p.Baseline = name // 1 file, unless told otherwise
		}
	}
	if err := f.override(cmd, &p); err != nil {
		return cfg, nil, err
	}
	switch {
	case maxBlocks == 0:
		maxBlocks = max(cfg.MaxBlocks, len(in.Table))
	case maxBlocks < verdict.FirstLook || maxBlocks > maxJudgedBlocks:
		return cfg, nil, badValue("max-blocks", maxBlocks, fmt.Sprintf("give the number of blocks that was planned, from %d to %d", verdict.FirstLook, maxJudgedBlocks))
	}
	cfg.Margin, cfg.Confidence, cfg.Goal, cfg.MaxBlocks = p.MarginLog(), p.Confidence, p.Goal, maxBlocks
	for i, name := range in.Layouts {
		if name == p.Baseline {
			cfg.Baseline = i
		}
	}
	return cfg, arms, nil
}

// maxJudgedBlocks: for more, the verdict has no boundaries.
const maxJudgedBlocks = 500

// ranksOf orders layouts by "fewest files": by the number that each name begins
// with; where one has none, by their order.
func ranksOf(names []string) []int {
	ranks := make([]int, len(names))
	for i, name := range names {
		digits := name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			for j := range ranks {
				ranks[j] = j + 1
			}
			return ranks
		}
		ranks[i] = n
	}
	return ranks
}

// printForeign writes the verdict, and how it formed.
func (a *app) printForeign(out foreign) error {
	w := &lineWriter{w: a.stdout}
	for i, s := range out.Sentences {
		if i == 1 {
			w.printf("\n")
		}
		w.printf("%s\n", s)
	}
	w.printf("\nHow it formed\n")
	for _, look := range out.Verdict.Looks {
		w.printf("  after block %2d (%d trials): %s\n", look.Block, look.Trials, lookLine(out.Verdict, look))
	}
	for _, note := range out.Notes {
		w.printf("\nNote: %s\n", note)
	}
	for _, x := range out.Verdict.Warnings {
		w.printf("\nWarning: %s\n  → %s\n", x.Message, x.Remedy)
	}
	return w.err
}

// lookLine is a look in one line: the layouts still in question, and the outcome.
func lookLine(r verdict.Result, look verdict.Look) string {
	var parts []string
	for j, e := range look.Estimates {
		if j != r.Config.Baseline && e.Alive && e.Known() {
			parts = append(parts, fmt.Sprintf("%s %s (%s … %s)", r.Arms[j].Name, percentText(e.Effect), percentText(e.Lo), percentText(e.Hi)))
		}
	}
	outcome := "go on"
	switch look.Stop {
	case verdict.ReasonRecommend, verdict.ReasonKeepBaseline:
		outcome = "proven: " + r.Arms[look.Recommended].Name
	case verdict.ReasonAllResolved:
		outcome = "every layout is resolved"
	case verdict.ReasonFutile:
		outcome = "the blocks left could hardly decide it"
	case verdict.ReasonMaxBlocks:
		outcome = "no blocks left"
	}
	return strings.Join(append(parts, outcome), "; ")
}

// percentText is an effect on the log scale in percent: "−0.4 %".
func percentText(effect float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f %%", verdict.Percent(effect)), "-", "−", 1)
}
