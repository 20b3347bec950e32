package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"filewise/internal/say"
	"filewise/lab/workload"
	"filewise/results/report/document"
)

// agreement reports whether a published statement holds in this run.
type agreement string

const (
	agrees      agreement = "agrees"
	differs     agreement = "differs"
	undecided   agreement = "undecided here"
	notMeasured agreement = "not measured here"
	ofAnother   agreement = "said of another engine"
)

// comparison holds one published figure next to the measured result, as both are shown.
type comparison struct {
	Operation string    `json:"family,omitempty"` // the operation that the figure is about, if the run has several
	Statement string    `json:"statement"`        // "8 files against 1 file"
	Published string    `json:"published"`        // the figure, with its words
	Measured  string    `json:"measured"`
	Time      string    `json:"in_time,omitempty"` // both as differences in time, if the article gives times
	Sign      agreement `json:"direction"`         // whether the direction is the same
	Inside    string    `json:"figure"`            // whether the measured interval holds the figure
	put       bool      // combined from two intervals, since neither layout is the baseline
}

// published compares the scenario's published figures with the verdict.
func (v view) published() []document.Block {
	shape := v.shapes()
	if len(shape) == 0 {
		return nil
	}
	var out []document.Block
	if s := Cite(v.Scenario.Source); s != "" {
		out = append(out, document.Text("Source: "+s+"."))
	}
	columns := []document.Of[comparison]{
		document.Name("comparison", func(c comparison) string { return say.Joined(": ", c.Operation, c.Statement) }),
		document.Words("published", func(c comparison) string { return c.Published }).As("words"),
		document.Words("measured here", func(c comparison) string { return c.Measured }).As("nb"),
	}
	if v.Scenario.Timed {
		columns = append(columns, document.Words("in time, as published", func(c comparison) string { return c.Time }))
	}
	out = append(out, document.Tabulate(document.Table{Caption: "Does the shape agree?"}, shape, append(columns,
		document.Words("direction", func(c comparison) string { return string(c.Sign) }),
		document.Words("figure", func(c comparison) string { return c.Inside }))...))
	out = append(out, notes(v.bestText(), v.pairsText(shape))...)
	if also := v.Scenario.Also; len(also) > 0 {
		out = append(out, document.Text("Also published: "+strings.Join(also, " ")))
	}
	if n := v.Scenario.Notes; len(n) > 0 {
		out = append(out, document.Fold{Summary: "How the original was measured, and what differs here",
			Blocks: []document.Block{document.List(n)}})
	}
	return out
}

// shapes returns the comparisons with the figures of all operations.
func (v view) shapes() []comparison {
	var out []comparison
	for _, f := range v.parts {
		out = append(out, f.shape()...)
	}
	return out
}

// shape returns the comparisons with the figures of one operation.
func (v view) shape() []comparison {
	out := make([]comparison, 0, len(v.Scenario.Published))
	for _, f := range v.Scenario.Published {
		c := comparison{
			Operation: v.Name, Statement: v.Scenario.NameOf(f.Files) + " against " + v.Scenario.NameOf(f.Against),
			Published: f.Words, Measured: say.Absent, Sign: notMeasured, Inside: say.Absent,
		}
		if f.Percent != nil {
			c.Published, c.Time = printed(f)
		}
		v.compare(&c, f)
		out = append(out, c)
	}
	return out
}

// printed returns a figure's words, which begin with the percentage that the article gave. It also returns the figure's
// difference in time, or nothing if that was not published.
func printed(f workload.Figure) (words, inTime string) {
	switch {
	case f.Time == nil:
		return say.Joined(": ", say.Signed(*f.Percent)+" %", f.Words), ""
	case f.Ours:
		return f.Words, "by the published times " + say.Signed(*f.Time) + " %"
	}
	exact := strings.ReplaceAll(fmt.Sprintf("%+g", *f.Time), "-", "−") + " %"
	return exact + " time: " + f.Words, "published " + exact
}

// compare fills in the measured result. The intervals against the baseline hold together, so their differences also
// bound any other pair, if more widely.
func (v view) compare(c *comparison, f workload.Figure) {
	a, b := v.byFiles(f.Files, f.Variant), v.byFiles(f.Against, cmp.Or(f.Over, f.Variant))
	if !f.AtUsers(v.Plan.Params.UsersOf(v.Operation)) || a == nil || b == nil || !a.Judged || !b.Judged || !a.Estimate.Known() ||
		!b.Estimate.Known() {
		return
	}
	effect := a.Estimate.Effect - b.Estimate.Effect
	lo, hi := a.Estimate.Lo-b.Estimate.Hi, a.Estimate.Hi-b.Estimate.Lo
	c.Measured = say.Interval(effect, lo, hi)
	c.put = !a.Baseline && !b.Baseline
	if v.Scenario.Timed {
		c.Time = say.Joined(", ", c.Time, "here "+say.Interval(-effect, -hi, -lo))
	}
	if f.Engine != "" && f.Engine != v.Plan.Target.Engine {
		c.Sign = ofAnother
		return
	}
	c.Sign = direction(f.Sign, lo, hi, v.of.Result.Config.Margin)
	if f.Apart {
		c.Sign = apart(lo, hi, v.of.Result.Config.Margin)
	}
	if f.Percent == nil || *f.Percent <= -100 || say.Unresolvable(lo, hi) {
		return
	}
	if y := math.Log1p(*f.Percent / 100); y >= lo && y <= hi {
		c.Inside = "inside the interval"
	} else {
		c.Inside = "outside the interval"
	}
}

// pairsText explains why a combined interval is wider than the table's interval of the same layouts. It is empty if no
// interval is combined.
func (v view) pairsText(all []comparison) string {
	i := slices.IndexFunc(all, func(c comparison) bool { return c.put })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("%s: neither is the baseline, so this interval is put together from those of both against %s. It holds, but is "+
		"as a rule wider than one of the two against each other, by which the worst-case loss is judged.", all[i].Statement, v.Plan.Baseline)
}

// direction compares a published sign with an interval on the log scale.
func direction(sign int, lo, hi, margin float64) agreement {
	within := math.Abs(lo) <= margin && math.Abs(hi) <= margin
	measured := 0
	switch {
	case lo > 0:
		measured = 1
	case hi < 0:
		measured = -1
	case !within:
		return undecided
	}
	if measured == sign || sign == 0 && within {
		return agrees
	}
	return differs
}

// apart compares a published difference of unknown direction with an interval on the log scale.
func apart(lo, hi, margin float64) agreement {
	switch {
	case lo > 0 || hi < 0:
		return agrees
	case math.Abs(lo) <= margin && math.Abs(hi) <= margin:
		return differs
	}
	return undecided
}

// byFiles returns the first layout that has n files, as the scenario counts them, and meets the article's condition. An
// empty condition is always met.
func (v view) byFiles(n int, variant string) *row {
	for i := range v.Rows {
		l := v.Rows[i].Layout
		if v.Scenario.NumberOf(l) == n && v.Scenario.Holds(variant, v.Plan.Params, l, v.Plan.Target.Volumes) {
			return &v.Rows[i]
		}
	}
	return nil
}

// bestText compares the article's best number of files with the recommendation here. It is empty if the article names
// none.
func (v view) bestText() string {
	if v.several() {
		return bestTexts(v.parts)
	}
	best := v.Scenario.Best
	if best == 0 {
		return ""
	}
	s := "Published as best: " + v.Scenario.NameOf(best) + ". "
	r := v.recommended()
	switch {
	case v.byFiles(best, "") == nil:
		return s + "This number was not measured here."
	case r == nil:
		return s + "Nothing is recommended here yet, so the shapes cannot be compared."
	case v.Scenario.NumberOf(r.Layout) == best:
		return s + "The same is recommended here."
	}
	return s + fmt.Sprintf("Here it is %s.", r.Name)
}

// bestTexts sums up for which operations the published best number is also recommended here. It is empty if the article
// names none.
func bestTexts(operations []view) string {
	var same, differ, open []string
	for _, f := range operations {
		best, r := f.Scenario.Best, f.recommended()
		switch {
		case best == 0:
		case r == nil || f.byFiles(best, "") == nil:
			open = append(open, f.Name)
		case f.Scenario.NumberOf(r.Layout) == best:
			same = append(same, f.Name)
		default:
			differ = append(differ, fmt.Sprintf("%s (published %s, here %s)", f.Name, f.Scenario.NameOf(best), r.Name))
		}
	}
	var parts []string
	if len(same) > 0 {
		parts = append(parts, "The same number of files is best here as published for "+operationNames(same)+".")
	}
	if len(differ) > 0 {
		parts = append(parts, "Another one is best here for "+say.Enumerate(differ)+".")
	}
	if len(open) > 0 {
		parts = append(parts, "Undecided here, or not measured with the published number, for "+operationNames(open)+".")
	}
	return strings.Join(parts, " ")
}

// recommended returns the layout to use. Nil means none.
func (v view) recommended() *row {
	if i := slices.IndexFunc(v.Rows, func(r row) bool { return r.Name == v.of.Result.RecommendedName() }); i >= 0 {
		return &v.Rows[i]
	}
	return nil
}

// Cite names the source of the published figures. It is empty if there is none.
func Cite(s workload.Source) string {
	var parts []string
	for _, p := range []string{s.Author, quoted(s.Title), s.Where} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if s.Year > 0 {
		parts = append(parts, fmt.Sprint(s.Year))
	}
	return strings.Join(parts, ", ")
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "“" + s + "”"
}
