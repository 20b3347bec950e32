package archive

import (
	"fmt"
	"slices"
	"strings"

	"filewise/gate"
	"filewise/internal/say"
	"filewise/verdict"
)

// elsewhereSchema is the version of the JSON document of judged numbers from elsewhere.
const elsewhereSchema = "filewise-judgement/1"

// Elsewhere are numbers that came from elsewhere, judged.
type Elsewhere struct {
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

// MeasuredLayouts is how many layouts have a result at all.
func MeasuredLayouts(t verdict.Table) int {
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

// JudgeElsewhere judges the table that came from a source; of fewer blocks than a verdict takes
// it says what can be said. times: what was measured is the time that the same work takes.
func JudgeElsewhere(source string, cfg verdict.Config, arms []verdict.Arm, t verdict.Table, times bool) (out Elsewhere, err error) {
	out.Schema, out.Source = elsewhereSchema, source
	if out.Verdict, err = verdict.Judge(cfg, arms, t); err != nil {
		return out, err
	}
	if len(t) >= verdict.FirstLook {
		out.Sentences = verdict.Sentences(out.Verdict, verdict.WordsOptions{})
	} else {
		if out.Few, err = verdict.Few(cfg, arms, t); err != nil {
			return out, err
		}
		if out.Sentences, err = verdict.FewSentences(cfg, arms, t); err != nil {
			return out, err
		}
		out.Notes = append(out.Notes, "Measure every layout more often, in random order, and give all trials: that shows how far the runs of "+
			"one layout differ.")
	}
	out.Headline = out.Sentences[0]
	if times {
		out.InTime = out.inTime()
	}
	return out, nil
}

// NoteIfAll notes what could be said if the table's blocks were all that was planned, where
// they are too few for the intervals of a plan that goes on. The table is the one judged.
func (out *Elsewhere) NoteIfAll(t verdict.Table) {
	cfg := out.Verdict.Config
	if len(t) < verdict.FirstLook || len(t) >= out.Verdict.FirstClaim() {
		return
	}
	cfg.MaxBlocks = len(t)
	all, err := verdict.Judge(cfg, out.Verdict.Arms, t)
	if err != nil {
		return
	}
	out.Notes = append(out.Notes, fmt.Sprintf("If these %d blocks are all that was planned, and nobody looked before the last, --max-blocks %[1]d "+
		"is right. It says: %s", len(t), strings.Join(verdict.Sentences(all, verdict.WordsOptions{})[1:], " ")))
}

// inTime are the differences from the baseline in time, layout by layout.
func (out *Elsewhere) inTime() []string {
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

// Text is the verdict, and how it formed.
func (out Elsewhere) Text() string {
	var w strings.Builder
	for i, s := range out.Sentences {
		if i == 1 {
			fmt.Fprintf(&w, "\n")
		}
		fmt.Fprintf(&w, "%s\n", s)
	}
	for i, s := range out.InTime {
		if i == 0 {
			fmt.Fprintf(&w, "\nIn time, as the file has it\n")
		}
		fmt.Fprintf(&w, "  %s\n", s)
	}
	if len(out.Verdict.Looks) > 0 {
		fmt.Fprintf(&w, "\nHow it formed\n")
	}
	for _, look := range out.Verdict.Looks {
		fmt.Fprintf(&w, "  after block %2d (%d trials): %s\n", look.Block, look.Trials, lookLine(out.Verdict, look))
	}
	for _, note := range out.Notes {
		fmt.Fprintf(&w, "\nNote: %s\n", note)
	}
	for _, x := range out.Verdict.Warnings {
		fmt.Fprintf(&w, "\nWarning: %s\n  → %s\n", x.Message, x.Remedy)
	}
	return w.String()
}

// lookLine is a look in one line: the layouts still in question, and the outcome.
func lookLine(r verdict.Result, look verdict.Look) string {
	var parts []string
	for j, e := range look.Estimates {
		if j != r.Config.Baseline && e.Alive && e.Known() {
			parts = append(parts, r.Arms[j].Name+" "+say.Interval(e.Effect, e.Lo, e.Hi))
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
