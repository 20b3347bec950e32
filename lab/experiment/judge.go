package experiment

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/lab/verdict"
)

// Judge judges the layouts by a plan's trials. Trials of an incomplete block count for time, not for the verdict.
func (p Plan) Judge(done []filewise.Trial) (Judgement, error) {
	return p.standing(done).judge()
}

// Rejudge judges the complete blocks of the plan's trials by another plan's rules: margin, confidence, goal, baseline.
// The plan's own rules decided what was measured. So a layout that they dropped has no trials from then on.
func (p Plan) Rejudge(rules Plan, done []filewise.Trial) (Judgement, error) {
	s := p.standing(done)
	if s.err != nil {
		return Judgement{}, fmt.Errorf("judge the trials: %w", s.err)
	}
	blocks := s.results[0].Blocks
	if blocks == 0 {
		return s.judge()
	}
	s.plan = rules
	if s.results, s.err = s.history.judge(s.schedule, blocks, nil); s.err == nil {
		s.decision = s.settled()
	}
	if s.decision.Ending == GoesOn {
		s.decision = Decision{Ending: Spent, Why: fmt.Sprintf("all %d stored blocks are judged", blocks)}
	}
	return s.judge()
}

func (s standing) judge() (Judgement, error) {
	if s.err != nil {
		return Judgement{}, fmt.Errorf("judge the trials: %w", s.err)
	}
	j := Judgement{Schedule: s.schedule, Decision: s.decision, Elapsed: s.elapsed, Sweep: s.sweep()}
	all := slices.Concat(s.left, s.trials)
	j.Measuring, j.Stages = timeSpent(all)
	j.Written, j.WrittenAhead = writtenBy(all), s.writtenAhead()
	var err error
	if j.Latencies, err = s.latencies(); err != nil {
		return Judgement{}, fmt.Errorf("judge the trials: %w", err)
	}
	j.Relevance, j.Forecast = s.relevance(), s.forecast()
	j.Conditions = s.conditions(j.Relevance)
	for f, name := range s.plan.operations() {
		if slices.Contains(s.plan.Estimated, name) {
			j.Operations = append(j.Operations, Operation{Name: name, Result: s.results[f], Sentences: s.estimates(f, name), Estimated: true})
			continue
		}
		result, sentences := s.operation(f, name, j.Latencies)
		latency, err := s.layoutLatencies(result, name)
		if err != nil {
			return Judgement{}, fmt.Errorf("judge the trials: %w", err)
		}
		j.Operations = append(j.Operations, Operation{Name: name, Result: result, Sentences: sentences, Cause: s.cause(name, result),
			Latency: latency, LatencyLoss: s.latencyLoss(result, latency)})
	}
	j.Warnings = s.stillWarnings()
	for _, w := range s.plan.judged(s.results)[0].Warnings {
		j.Warnings = append(j.Warnings, filewise.Warning(w))
	}
	j.Warnings = slices.Concat(j.Warnings, s.warnings(s.schedule), s.noRungWarning(j.Conditions), s.plan.LimitWarnings())
	return j, nil
}

// operation returns the verdict of an operation and its sentences. A recommendation that breaks the latency limit is removed.
func (s standing) operation(f int, name string, all []Latency) (verdict.Result, []string) {
	sentences := s.sentences(s.results[f])
	r, why := s.guarded(s.results[f], name, all)
	if why != nil {
		return r, append(why, sentences[1:]...)
	}
	sentences[0] = verdict.Add(sentences[0], s.barred(r, name, all))
	return r, sentences
}

// sentences returns the verdict of an operation in words, or why there is none.
func (s standing) sentences(r verdict.Result) []string {
	if _, ok := r.Last(); ok {
		block := time.Duration(len(s.live([]verdict.Result{r}, r.Blocks))) * s.schedule.TrialTime
		return verdict.Sentences(r, verdict.WordsOptions{BlockSeconds: block.Seconds(), Resume: s.resume})
	}
	if why := s.plan.tooFewRuns(); why != "" {
		return []string{why}
	}
	if s.decision.Ending != GoesOn {
		return []string{"No verdict: " + s.decision.Why + "."}
	}
	return []string{fmt.Sprintf("No verdict yet: %d of the %d blocks that a verdict needs are complete.", r.Blocks, r.FirstClaim())}
}

// timeSpent sums the stages of all trials by name, in order of first appearance. It also returns how much of that time
// was measured in blocks. Stages of pilots and of failed trials are summed under one name each.
func timeSpent(trials []filewise.Trial) (time.Duration, []filewise.Stage) {
	var measuring time.Duration
	var stages []filewise.Stage
	at := make(map[string]int)
	for _, t := range trials {
		for _, st := range t.Stages {
			name := st.Name
			if t.Cell.Pilot {
				name = "pilot"
			} else if t.State == filewise.Failed {
				name = "failed trials"
			}
			if name == filewise.StageMeasure || name == filewise.StageDrain && rested(t) {
				measuring += st.Took
			}
			i, seen := at[name]
			if !seen {
				i = len(stages)
				at[name] = i
				stages = append(stages, filewise.Stage{Name: name})
			}
			stages[i].Took += st.Took
		}
	}
	return measuring, stages
}

// writtenBy returns how many bytes the trials' servers wrote in their measured parts. 0 means not known.
func writtenBy(trials []filewise.Trial) (sum float64) {
	for _, t := range trials {
		for _, m := range t.Measures {
			for _, d := range m.Deltas {
				if d.Probe == filewise.ProbeWritten && toFiles(d.Name) && !math.IsNaN(d.Value) {
					sum += d.Value
				}
			}
			if m.Rest == nil {
				continue
			}
			for name, bytes := range m.Rest.Written {
				if toFiles(name) {
					sum += bytes
				}
			}
		}
	}
	return sum
}

// toFiles reports whether a counter of what was written is about the server's files. Devices count others, too.
func toFiles(written string) bool {
	switch written {
	case filewise.WrittenData, filewise.WrittenIndex, filewise.WrittenLog, filewise.WrittenTemp, filewise.WrittenBackup, filewise.WrittenRest:
		return true
	}
	return false
}

// writtenAhead estimates how many bytes all planned blocks write, if no layout is dropped. A block measures a layout longer
// than its pilot did.
func (s standing) writtenAhead() float64 {
	pilots := s.donePilots()
	written, longer := writtenBy(pilots), 1.0
	var measured time.Duration
	for _, t := range pilots {
		for _, m := range t.Measures {
			measured += m.Window[1] - m.Window[0]
		}
	}
	if turns := s.schedule.Turn * time.Duration(s.schedule.Rounds*len(pilots)); turns > 0 && measured > 0 {
		longer = turns.Seconds() / measured.Seconds()
	}
	return written * longer * float64(s.schedule.MaxBlocks)
}

// rested reports whether a measure of the trial is judged from rest to rest. If so, the drain is measured time.
func rested(t filewise.Trial) bool {
	return slices.ContainsFunc(t.Measures, func(m filewise.Measure) bool { return m.Rest != nil })
}

// warnings returns the warnings about the experiment as a whole, each once.
func (h history) warnings(s Schedule) []filewise.Warning {
	var out []filewise.Warning
	if !s.Steady {
		out = append(out, filewise.Warning{
			Code:    "not-steady",
			Message: "Throughput was still changing in the middle of a pilot: the warm-up may be too short.",
			Remedy:  "Set a longer --warm-up.",
		})
	}
	for i, l := range h.plan.Layouts {
		if h.withdrawn(i, h.last+1) {
			out = append(out, filewise.Warning{
				Code:    "withdrawn",
				Message: fmt.Sprintf("%s could not be measured to the end: %s.", l.Name, h.reason(l.Name)),
				Remedy:  "Remove the cause and run again; the other layouts' verdict stands without it.",
			})
		}
	}
	out = append(out, h.trendWarning()...)
	out = append(out, h.cliffWarning()...)
	out = append(out, h.spreadWarning()...)
	out = append(out, h.remoteWarning()...)
	return append(out, h.trialWarnings()...)
}

// trialWarnings collects the warnings of the trials: one per code, with the number of trials that have it.
func (h history) trialWarnings() []filewise.Warning {
	var out []filewise.Warning
	found := make(map[string][]trialMessage)
	for _, t := range h.trials {
		here := make(map[string]bool) // a code counts once per trial, though a trial can have several phases
		for _, w := range t.Warnings {
			if here[w.Code] || slices.Contains(stillCodes, w.Code) {
				continue
			}
			here[w.Code] = true
			if found[w.Code] = append(found[w.Code], trialMessage{w.Message, t.Cell.Layout}); len(found[w.Code]) == 1 {
				out = append(out, w)
			}
		}
	}
	for i, w := range out {
		if n := len(found[w.Code]); n > 1 {
			all, in := strings.TrimSuffix(together(found[w.Code]), "."), fmt.Sprintf("in %d of %d trials", n, len(h.trials))
			if bracket, ok := strings.CutSuffix(all, ")"); ok {
				all = bracket + "; " + in + ")"
			} else {
				all += " (" + in + ")"
			}
			out[i].Message = all + "."
		}
	}
	if n := failed(h.trials); n > 0 {
		out = append(out, filewise.Warning{
			Code:    "failed-trials",
			Message: fmt.Sprintf("%d of %d trials failed.", n, len(h.trials)),
			Remedy:  "See each with its reason: filewise show. Failed trials were repeated at the end of their block.",
		})
	}
	return out
}

// trialMessage is a warning's message about a trial of a layout.
type trialMessage struct{ text, layout string }

var numeral = regexp.MustCompile(`\d[\d,]*(\.\d+)?`)

// together returns one message for several trials: a number that differs becomes its range, and the name of a
// layout the number of layouts. If the messages differ otherwise, it returns the first.
func together(all []trialMessage) string {
	var form string
	var numbers [][]string // by place in the message, then by trial
	layouts := map[string]bool{}
	for i, m := range all {
		text := m.text
		if m.layout != "" {
			text = strings.ReplaceAll(text, m.layout, "\x00")
		}
		layouts[m.layout] = true
		these := numeral.FindAllString(text, -1)
		if text = numeral.ReplaceAllString(text, "\x01"); i == 0 {
			form, numbers = text, make([][]string, len(these))
		}
		if text != form {
			return all[0].text
		}
		for k, n := range these {
			numbers[k] = append(numbers[k], n)
		}
	}
	name := all[0].layout
	if len(layouts) > 1 {
		name = fmt.Sprintf("%d layouts", len(layouts))
	}
	out := strings.ReplaceAll(form, "\x00", name)
	for _, these := range numbers {
		value := func(text string) float64 {
			x, _ := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64) // it is a number
			return x
		}
		slices.SortFunc(these, func(a, b string) int { return cmp.Compare(value(a), value(b)) })
		shown := these[0]
		if last := these[len(these)-1]; last != shown {
			shown += " to " + last
		}
		out = strings.Replace(out, "\x01", shown, 1)
	}
	return out
}

func failed(trials []filewise.Trial) int {
	n := 0
	for _, t := range trials {
		if t.State == filewise.Failed && void(t) == "" {
			n++
		}
	}
	return n
}

// again is the suffix in the name of a layout's twin.
const again = " again"

// WithAA returns the plan with the baseline twice, the second time under another name. Any difference between the two
// is pure noise of this machine. The error names a layout that has the twin's name already.
func (p Plan) WithAA() (Plan, error) {
	base, err := p.layout(p.Baseline)
	if err != nil {
		return p, err
	}
	twin := base
	twin.Name += again
	if _, err := p.layout(twin.Name); err == nil {
		return p, fmt.Errorf("there is a layout %q already", twin.Name)
	}
	p.Layouts = append(slices.Clone(p.Layouts), twin)
	p.AA = twin.Name
	return p, nil
}

// twinOf returns the name of the layout that l is a twin of, or "" if l is no twin.
func (p Plan) twinOf(l filewise.Layout) string {
	for _, other := range p.Layouts {
		if other.Name != l.Name && other.Name+again == l.Name {
			return other.Name
		}
	}
	return ""
}
