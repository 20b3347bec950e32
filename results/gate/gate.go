// Package gate decides whether a result lets a pipeline go on. Its conditions, such as "loss > 5 %", are about measured
// differences; the outcome is JUnit XML. The package does not depend on the origin of the differences.
package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/internal/say"
)

// Metric is a condition's subject.
type Metric string

// The metrics. Loss and gain compare a layout's throughput with the reference's: by how much it is lower or higher. P99
// is the 99th percentile of latency, either in time, or in percent above the reference's.
const (
	Loss Metric = "loss"
	Gain Metric = "gain"
	P99  Metric = "p99"
)

// Condition fails a pipeline if it is met.
type Condition struct {
	Text     string // as the user gave it
	Possible bool   // met unless excluded, not only if proven
	Metric   Metric
	Layout   string        // empty means any layout
	Percent  float64       // the limit
	Time     time.Duration // limit of p99 in time. 0 means Percent is the limit
}

// Interval is a difference on the log scale. NaN means not known.
type Interval struct{ Effect, Lo, Hi float64 }

// Subject is a layout compared with the baseline, or with itself in an earlier run.
type Subject struct {
	Operation, Layout, Reference string
	Throughput, P99              Interval
	Took                         time.Duration // p99 in time. 0 means not known
	In                           string        // the scope of Took if it is not all operations: "the worst of 7 trials"
}

// Outcome is the result of a condition in one operation.
type Outcome struct {
	Condition string `json:"condition"`
	Operation string `json:"family,omitempty"`
	Layout    string `json:"layout,omitempty"` // the worst layout
	Failed    bool   `json:"failed"`
	Known     bool   `json:"known"` // something relevant was measured
	Text      string `json:"text"`
}

const remedy = `give one such as "loss > 5 %", "possible loss of 8 files > 2 %", "gain > 10 %", "p99 > 20 %" or "p99 > 10 ms"`

// Parse reads a condition: [possible] METRIC [of LAYOUT] > LIMIT.
func Parse(text string) (Condition, error) {
	bad := func(why string) (Condition, error) {
		return Condition{}, filewise.Errorf(filewise.CodeUsage, remedy, "--fail-if %q: %s", text, why)
	}
	c := Condition{Text: strings.Join(strings.Fields(text), " ")}
	at := strings.LastIndex(c.Text, ">")
	switch {
	case at < 0:
		return bad("it has no >")
	case strings.ContainsAny(c.Text, "=≥"):
		return bad("write the limit behind >, without =")
	}
	subject, limit := strings.TrimSpace(c.Text[:at]), strings.ReplaceAll(c.Text[at+1:], " ", "")
	subject, c.Possible = strings.CutPrefix(subject, "possible ")
	metric, layout, of := strings.Cut(subject, " of ")
	c.Metric, c.Layout = Metric(metric), layout
	switch {
	case !slices.Contains([]Metric{Loss, Gain, P99}, c.Metric):
		return bad("it is about loss, gain or p99, not " + strconv.Quote(metric))
	case of && layout == "":
		return bad("no layout is named")
	}
	if number, percent := strings.CutSuffix(limit, "%"); percent {
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || math.IsNaN(n) || n < 0 || n > 1e6 {
			return bad(strconv.Quote(limit) + " is no percentage from 0 on")
		}
		if c.Metric == Loss && n >= 100 {
			return bad("no layout can lose that much, so that it would never be met")
		}
		c.Percent = n
		return c, nil
	}
	d, err := time.ParseDuration(limit)
	switch {
	case err != nil || d <= 0:
		return bad("its limit is " + strconv.Quote(limit) + ", neither a percentage nor a time")
	case c.Metric != P99:
		return bad("only p99 is a time")
	case c.Possible:
		return bad("p99 itself has no interval")
	}
	c.Time = d
	return c, nil
}

// Known refuses a condition on a layout that does not exist.
func (c Condition) Known(layouts []string) error {
	if c.Layout == "" || slices.Contains(layouts, c.Layout) {
		return nil
	}
	return filewise.Errorf(filewise.CodeUsage, "name one of "+strings.Join(layouts, ", "), "--fail-if %q: there is no layout %q", c.Text,
		c.Layout)
}

// Judge judges every condition for every operation, by the operation's worst layout. A condition on p99 fails if no operation
// has a known p99; otherwise it would let everything through.
func Judge(conditions []Condition, subjects []Subject) []Outcome {
	var operations []string
	for _, s := range subjects {
		if !slices.Contains(operations, s.Operation) {
			operations = append(operations, s.Operation)
		}
	}
	out := []Outcome{}
	for _, c := range conditions {
		var of []Outcome
		if len(operations) == 0 {
			of = append(of, c.judge("", nil))
		}
		for _, f := range operations {
			of = append(of, c.judge(f, subjects))
		}
		if c.Metric == P99 && !slices.ContainsFunc(of, func(o Outcome) bool { return o.Known }) {
			for i := range of {
				of[i].Failed = true
				of[i].Text += ", and nothing shows that it is below"
			}
		}
		out = append(out, of...)
	}
	return out
}

// Failed returns the outcomes that fail a pipeline.
func Failed(all []Outcome) []Outcome {
	return slices.DeleteFunc(slices.Clone(all), func(o Outcome) bool { return !o.Failed })
}

func (c Condition) judge(operation string, subjects []Subject) Outcome {
	out, worst := Outcome{Condition: c.Text, Operation: operation}, math.Inf(-1)
	for _, s := range subjects {
		itself := c.Time == 0 && s.Layout == s.Reference
		if s.Operation != operation || c.Layout != "" && c.Layout != s.Layout || itself {
			continue
		}
		m := c.of(s)
		if !math.IsNaN(m.value) {
			out.Known = true
		}
		failed := m.decides > m.limit || c.Possible && math.IsNaN(m.decides)
		how := m.decides
		if math.IsNaN(how) { // any known value is more informative
			how = math.Inf(-1)
		}
		if out.Text == "" || failed && !out.Failed || failed == out.Failed && how > worst {
			worst, out.Layout, out.Text = how, s.Layout, m.text
		}
		out.Failed = out.Failed || failed
	}
	if out.Text == "" {
		out.Text, out.Failed = "nothing was measured that shows it", c.Possible
	}
	return out
}

// measured holds a condition's inputs: the value, the limit of the value's interval that decides, and the condition's
// limit.
type measured struct {
	value, decides, limit float64
	text                  string
}

// of returns a subject's value. A larger value is worse.
func (c Condition) of(s Subject) measured {
	if c.Time > 0 {
		if s.Took == 0 {
			return measured{math.NaN(), math.NaN(), c.Time.Seconds(), "p99 of " + s.Layout + " is not known"}
		}
		return measured{s.Took.Seconds(), s.Took.Seconds(), c.Time.Seconds(), say.Joined(" in ", fmt.Sprintf("p99 of %s is %s",
			s.Layout, say.Human(s.Took)), s.In)}
	}
	i, what := s.Throughput, "throughput"
	if c.Metric == P99 {
		i, what = s.P99, "p99"
	}
	m := measured{value: percent(i.Effect), limit: c.Percent, text: words(s, what, i)}
	least, most := percent(i.Lo), percent(i.Hi)
	if c.Metric == Loss { // loss is a fall of throughput
		m.value, least, most = -m.value, -most, -least
	}
	m.decides = least
	if c.Possible {
		m.decides = most
	}
	return m
}

// words describes a measured difference.
func words(s Subject, what string, i Interval) string {
	if math.IsNaN(i.Effect) {
		return fmt.Sprintf("%s of %s against %s is not known", what, s.Layout, s.Reference)
	}
	text := say.Interval(i.Effect, i.Lo, i.Hi)
	if math.IsNaN(i.Lo) || math.IsNaN(i.Hi) {
		text += ", without an interval"
	}
	return fmt.Sprintf("%s of %s against %s %s", what, s.Layout, s.Reference, text)
}

func percent(effect float64) float64 { return 100 * math.Expm1(effect) }

// Line returns the line about an outcome below a result.
func (o Outcome) Line() string {
	word := "passed"
	if o.Failed {
		word = "failed"
	}
	return fmt.Sprintf("Gate %s: %s: %s.", word, o.about(), o.Text)
}

// about returns the condition, and the operation if there are several.
func (o Outcome) about() string {
	if o.Operation == "" {
		return o.Condition
	}
	return o.Condition + " (" + o.Operation + ")"
}
