package archive

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/verdict/tablecsv"
	"filewise/results/gate"
	"filewise/results/report"
)

// elsewhereSchema is the version of the JSON document for judged numbers from another tool.
const elsewhereSchema = "filewise-judgement/1"

// Foreign holds the numbers of one operation, and the configuration that judges them.
type Foreign struct {
	tablecsv.Input
	Config verdict.Config
	// MaybeAll reports that the file does not give the number of planned blocks, so its own number may have been all.
	MaybeAll bool
}

// Elsewhere holds judged numbers from another tool. For several operations it has a headline, a sentence about each, and
// Operations.
type Elsewhere struct {
	Schema string `json:"schema"`
	Source string `json:"source"` // the file; "-": standard input
	Numbers
	Operations []Numbers      `json:"families,omitempty"`
	Gate       []gate.Outcome `json:"gate,omitempty"` // outcomes of the conditions of --fail-if
}

// Numbers holds one operation's judged numbers.
type Numbers struct {
	Operation string   `json:"family,omitempty"` // empty if there is only one
	Headline  string   `json:"headline"`
	Sentences []string `json:"sentences"`
	// Decision is the verdict's decision. It is absent if several operations are judged, since each has its own.
	Decision *verdict.DecisionDoc `json:"decision,omitempty"`
	Blocks   []string             `json:"blocks,omitempty"` // names, in the order of judging
	Verdict  verdict.Result       `json:"verdict,omitzero"`
	Notes    []string             `json:"notes"` // parts of the file that were not used
	// InTime lists the differences in the time that the same work takes, if the file has times.
	InTime []string `json:"in_time,omitempty"`
	// Few lists the layouts' differences if there are too few blocks for a verdict.
	Few []verdict.Estimate `json:"few,omitempty"`
	// P99 lists the p99 of the layouts' latency, if the file has p99 per trial.
	P99 []TrialsP99 `json:"p99,omitempty"`
	// Stalls reports which trials stalled and the cost of that, or how many could stall although none did. It is empty if
	// that is not known yet.
	Stalls string `json:"stalls,omitempty"`
	// LatencyLoss reports that a layout to use is slow where it matters. It is empty if none is.
	LatencyLoss string `json:"latency_loss,omitempty"`
}

// MeasuredLayouts counts the layouts that have a result at all.
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

// JudgeElsewhere judges numbers from a source. Claims about several operations hold together with the configurations'
// confidence.
func JudgeElsewhere(source string, all []Foreign) (out Elsewhere, err error) {
	out.Schema, out.Source = elsewhereSchema, source
	if len(all) == 1 {
		out.Numbers, err = numbersOf(all[0])
		out.Operation = ""
		return out, err
	}
	judged, err := experiment.JudgeOperations(all[0].Config.Rules, 1-all[0].Config.Confidence, len(all), func(f int, confidence float64) (
		verdict.Result, error,
	) {
		all[f].Config.Confidence = confidence
		return verdict.Judge(all[f].Config, all[f].Arms(), all[f].Table)
	})
	if err != nil {
		return out, err
	}
	operations := make([]experiment.Operation, len(all))
	for i, r := range judged {
		all[i].Config = r.Config
		n, err := numbersOf(all[i])
		if err != nil {
			return out, err
		}
		out.Operations = append(out.Operations, n)
		operations[i] = experiment.Operation{Name: n.Operation, Result: r, Sentences: n.Sentences, LatencyLoss: n.LatencyLoss}
	}
	j := experiment.Judgement{Operations: operations}
	out.LatencyLoss, out.Stalls = j.LatencyLoss(), j.Stalls()
	out.Headline, out.Notes = report.Summary(judged[0].Arms[judged[0].Config.Baseline].Name, operations), []string{}
	singly := filewise.Each(out.Operations, func(n Numbers) string { return n.Operation + ": " + n.Headline })
	out.Sentences = append([]string{out.Headline}, singly...)
	return out, nil
}

// numbersOf judges one operation. If there are too few blocks for a verdict, it reports estimates.
func numbersOf(in Foreign) (out Numbers, err error) {
	cfg, arms, t := in.Config, in.Arms(), in.Table
	out.Operation, out.Blocks, out.Notes = in.Operation, in.Blocks, append([]string{}, in.Notes...)
	if out.Verdict, err = verdict.Judge(cfg, arms, t); err != nil {
		return out, err
	}
	if len(t) >= verdict.FirstAnalysis {
		out.Sentences = verdict.Sentences(out.Verdict, verdict.WordsOptions{})
		decision := out.Verdict.Document()
		out.Decision, out.Stalls = &decision, out.Verdict.Stalls()
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
	if err := out.tails(in); err != nil {
		return out, err
	}
	if in.Times {
		out.InTime = out.inTime()
	}
	if in.MaybeAll {
		out.noteIfAll(t)
	}
	return out, nil
}

// noteIfAll notes the verdict that holds if the table's blocks were all that was planned. It does so only if the blocks
// are too few for the intervals of a longer plan.
func (out *Numbers) noteIfAll(t verdict.Table) {
	cfg := out.Verdict.Config
	if len(t) < verdict.FirstAnalysis || len(t) >= out.Verdict.FirstClaim() {
		return
	}
	cfg.MaxBlocks = len(t)
	all, err := verdict.Judge(cfg, out.Verdict.Arms, t)
	if err != nil || len(t) < all.FirstClaim() { // since rules 3, a shorter plan has only estimates
		return
	}
	out.Notes = append(out.Notes, fmt.Sprintf("If these %d blocks are all that was planned, and no one looked before the last, "+
		"--max-blocks %[1]d is right. The verdict is then: %s", len(t), strings.Join(verdict.Sentences(all, verdict.WordsOptions{})[1:], " ")))
}

// inTime returns the differences from the baseline in time, layout by layout.
func (out *Numbers) inTime() []string {
	estimates := out.Few
	if analysis, ok := out.Verdict.Last(); ok {
		estimates = slices.Clone(analysis.Estimates)
		for j := range estimates {
			estimates[j] = out.Verdict.Shown(analysis, j)
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

// Text returns the verdict and its course.
func (out Elsewhere) Text() string {
	var w strings.Builder
	if len(out.Operations) == 0 {
		out.verdictText(&w, say.Joined("\n", out.LatencyLoss, out.Stalls))
	} else {
		fmt.Fprintf(&w, "%s\n", say.Joined("\n", out.Headline, out.LatencyLoss, out.Stalls))
	}
	shown := map[string]bool{}
	for _, f := range out.Operations {
		fmt.Fprintf(&w, "\n%s (confidence %s)\n", f.Operation, say.Confidence(f.Verdict.Config.Confidence))
		f.verdictText(&w, "") // which was about all
	}
	for _, f := range append([]Numbers{out.Numbers}, out.Operations...) {
		f.remarks(&w, shown)
	}
	return w.String()
}

// verdictText writes the verdict of one operation, and the given text behind its headline.
func (out Numbers) verdictText(w io.Writer, behind string) {
	for i, s := range out.Sentences {
		if i == 1 {
			fmt.Fprintf(w, "\n")
		}
		fmt.Fprintf(w, "%s\n", s)
		if i == 0 && behind != "" {
			fmt.Fprintf(w, "%s\n", behind)
		}
	}
	for i, s := range out.InTime {
		if i == 0 {
			fmt.Fprintf(w, "\nIn time, as the file has it\n")
		}
		fmt.Fprintf(w, "  %s\n", s)
	}
	if len(out.Verdict.Analyses) > 0 {
		fmt.Fprintf(w, "\nHow it formed\n")
	}
	for _, analysis := range out.Verdict.Analyses {
		fmt.Fprintf(w, "  after block %2d (%d trials): %s\n", analysis.Block, analysis.Trials, analysisLine(out.Verdict, analysis))
	}
}

// remarks writes notes and warnings, each text only once for all operations.
func (out Numbers) remarks(w io.Writer, shown map[string]bool) {
	all := filewise.Each(out.Notes, func(note string) string { return "Note: " + note })
	for _, x := range out.Verdict.Warnings {
		all = append(all, fmt.Sprintf("Warning: %s\n  → %s", x.Message, x.Remedy))
	}
	for _, text := range all {
		if !shown[text] {
			fmt.Fprintf(w, "\n%s\n", text)
		}
		shown[text] = true
	}
}

// analysisLine returns an interim analysis in one line: the layouts still in question, and the outcome.
func analysisLine(r verdict.Result, analysis verdict.Analysis) string {
	var parts []string
	for j, e := range analysis.Estimates {
		if j != r.Config.Baseline && e.Alive && e.Known() {
			parts = append(parts, r.Arms[j].Name+" "+say.Interval(e.Effect, e.Lo, e.Hi))
		}
	}
	outcome := "go on"
	switch analysis.Stop {
	case verdict.ReasonRecommend, verdict.ReasonKeepBaseline:
		outcome = "proven: " + r.Arms[analysis.Recommended].Name
	case verdict.ReasonAllResolved:
		outcome = "every layout is resolved"
	case verdict.ReasonFutile:
		outcome = "the blocks left could hardly decide it"
	case verdict.ReasonMaxBlocks:
		outcome = "no blocks left"
	}
	return strings.Join(append(parts, outcome), "; ")
}
