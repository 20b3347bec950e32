package archive

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/verdict"
	"filewise/lab/verdict/stats"
	"filewise/results/report"
	"filewise/results/report/document"
)

// AcrossSchema is the version of the JSON document of Across.
const AcrossSchema = "filewise-across/1"

// Across holds the common result of runs of one experiment on several hosts. Effects are in percent; null means not
// known.
type Across struct {
	Schema     string            `json:"schema"`
	Confidence float64           `json:"confidence"`
	Scenario   string            `json:"scenario"`
	Baseline   string            `json:"baseline"`
	Hosts      []AcrossHost      `json:"hosts"`
	Operations []AcrossOperation `json:"families"`
	Left       []string          `json:"left_out"` // runs that do not count, with the reasons
	Meant      []string          `json:"meant"`    // differences that --meant allowed
}

// AcrossHost holds the run that represents a host, or a place on the host.
type AcrossHost struct {
	Name    string   `json:"host"`
	Tags    []string `json:"tags"` // KEY=VALUE
	Run     string   `json:"run"`  // number in the store, or bundle
	Verdict string   `json:"verdict"`

	version      string // of Filewise
	baseline, aa string
	scenario     string
	margin       float64
	operations   []report.OperationDoc
}

// NewAcrossHost keeps the parts of a judged run that are pooled, without its trials.
func NewAcrossHost(name string, tags []string, run string, d report.Data) AcrossHost {
	h := AcrossHost{Name: name, Tags: tags, Run: run, Verdict: report.Verdict(d), version: d.Version, baseline: d.Plan.Baseline, aa: d.Plan.AA,
		scenario: d.Plan.Scenario, operations: report.Operations(d)}
	if len(d.Judgement.Operations) > 0 {
		h.margin = d.Judgement.Operations[0].Result.Config.Margin
	}
	if len(h.operations) == 1 {
		h.operations[0].Name = "" // the only operation needs no name
	}
	return h
}

// AcrossOperation holds the results of a operation on all hosts.
type AcrossOperation struct {
	Operation string         `json:"family,omitempty"`
	Timed     bool           `json:"timed,omitempty"` // the operation measures a time: a positive effect is longer
	Keep      int            `json:"keep_baseline"`   // hosts whose verdict is to keep the baseline
	Layouts   []AcrossLayout `json:"layouts"`
}

// AcrossLayout holds the results of a layout on all hosts that have measured it.
type AcrossLayout struct {
	Layout  string         `json:"layout"`
	Text    string         `json:"text"` // the result in words
	Best    int            `json:"best_on"`
	Worse   []string       `json:"worse_on"`
	Effects []AcrossEffect `json:"hosts"`  // the smallest first
	Unknown []string       `json:"unread"` // hosts without an estimate of the layout
	Pooled  *AcrossPooled  `json:"pooled"` // null if there are fewer than two hosts
	Groups  []AcrossPooled `json:"groups"` // by label
}

// AcrossEffect is a layout's difference from the baseline on one host.
type AcrossEffect struct {
	Host    string   `json:"host"`
	Percent *float64 `json:"effect_percent"`
	Low     *float64 `json:"effect_low"`
	High    *float64 `json:"effect_high"`
	Mark    string   `json:"mark"`
	doc     report.LayoutDoc
	tags    []string
}

// AcrossPooled holds a random-effects mean over hosts.
type AcrossPooled struct {
	Label    string   `json:"label,omitempty"` // KEY=VALUE that these hosts have in common
	Hosts    int      `json:"hosts"`
	Percent  *float64 `json:"mean_percent"`
	Low      *float64 `json:"mean_low"`
	High     *float64 `json:"mean_high"`
	NextLow  *float64 `json:"next_low"` // the expected range of the next host's effect
	NextHigh *float64 `json:"next_high"`
	Tau      *float64 `json:"tau_percent"` // standard deviation of the effect between hosts
	I2       float64  `json:"i2"`          // share of the estimates' variance, from 0 to 1
	of       stats.Pooled
}

// leastOfGroup is the smallest number of hosts for which a label is pooled separately.
const leastOfGroup = 3

// NewAcross pools the verdicts of at least two hosts, which must have the same baseline.
func NewAcross(hosts []AcrossHost, confidence float64) (Across, error) {
	a := Across{Schema: AcrossSchema, Confidence: confidence, Scenario: hosts[0].scenario, Baseline: hosts[0].baseline, Hosts: hosts,
		Left: []string{}, Meant: []string{}}
	all := make([][]report.OperationDoc, len(hosts))
	for i, h := range hosts {
		all[i] = h.operations
	}
	for _, of := range all[0] {
		f := AcrossOperation{Operation: of.Name}
		var layouts []string
		for i, h := range hosts {
			for _, l := range layoutsOf(all[i], of.Name) {
				f.Timed = f.Timed || l.Timed()
				if l.Baseline && l.Recommended {
					f.Keep++
				}
				if !l.Baseline && l.Name != h.aa && !slices.Contains(layouts, l.Name) {
					layouts = append(layouts, l.Name)
				}
			}
		}
		for _, name := range layouts {
			l, err := a.layout(of.Name, name, all)
			if err != nil {
				return a, err
			}
			f.Layouts = append(f.Layouts, l)
		}
		a.Operations = append(a.Operations, f)
	}
	return a, nil
}

// layoutsOf returns the layouts of a host's operation, or none if the host has no operation of this name.
func layoutsOf(all []report.OperationDoc, operation string) []report.LayoutDoc {
	for _, f := range all {
		if f.Name == operation {
			return f.Layouts
		}
	}
	return nil
}

// layout returns one layout's result over the hosts' operations.
func (a Across) layout(operation, name string, all [][]report.OperationDoc) (AcrossLayout, error) {
	l := AcrossLayout{Layout: name, Worse: []string{}, Unknown: []string{}, Effects: []AcrossEffect{}, Groups: []AcrossPooled{}}
	for i, h := range a.Hosts {
		layouts := layoutsOf(all[i], operation)
		at := slices.IndexFunc(layouts, func(x report.LayoutDoc) bool { return x.Name == name })
		if at < 0 {
			continue // the host's plan lacks the layout
		}
		doc, e := layouts[at], layouts[at].Estimate()
		if !say.Known(e.Effect) || !say.Known(e.SE) {
			l.Unknown = append(l.Unknown, h.Name)
			continue
		}
		l.Effects = append(l.Effects, AcrossEffect{h.Name, percentOf(e.Effect), percentOf(e.Lo), percentOf(e.Hi), doc.Mark, doc, h.Tags})
		switch e.Mark {
		case verdict.MarkBest:
			l.Best++
		case verdict.MarkWorse:
			l.Worse = append(l.Worse, h.Name)
		}
	}
	slices.SortStableFunc(l.Effects, func(x, y AcrossEffect) int {
		return cmp.Compare(x.doc.Estimate().Effect, y.doc.Estimate().Effect)
	})
	var err error
	if l.Pooled, err = pooled("", l.Effects, a.Confidence); err != nil {
		return l, err
	}
	for _, label := range labels(l.Effects) {
		p, err := pooled(label, having(l.Effects, label), a.Confidence)
		if err != nil {
			return l, err
		}
		l.Groups = append(l.Groups, *p)
	}
	l.Text = a.words(l)
	return l, nil
}

func having(effects []AcrossEffect, label string) []AcrossEffect {
	return slices.DeleteFunc(slices.Clone(effects), func(e AcrossEffect) bool { return !slices.Contains(e.tags, label) })
}

// labels returns the tags by which hosts are pooled. A tag counts if it has enough hosts, and its key has at least two
// such tags.
func labels(effects []AcrossEffect) []string {
	hosts, values := map[string]int{}, map[string][]string{}
	var keys []string
	for _, e := range effects {
		for _, tag := range e.tags {
			key, _, _ := strings.Cut(tag, "=")
			if hosts[tag]++; hosts[tag] == leastOfGroup {
				values[key] = append(values[key], tag)
			}
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	var out []string
	slices.Sort(keys)
	for _, key := range keys {
		if len(values[key]) > 1 {
			slices.Sort(values[key])
			out = append(out, values[key]...)
		}
	}
	return out
}

// pooled returns the mean over hosts, or nil for fewer than two hosts.
func pooled(label string, effects []AcrossEffect, confidence float64) (*AcrossPooled, error) {
	if len(effects) < 2 {
		return nil, nil
	}
	in := make([]stats.Effect, len(effects))
	for i, e := range effects {
		in[i] = stats.Effect{Value: e.doc.Estimate().Effect, SE: e.doc.Estimate().SE}
	}
	p, err := stats.Pool(in, confidence)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "pool the hosts: %w", err)
	}
	return &AcrossPooled{label, p.N, percentOf(p.Mean), percentOf(p.Confidence.Lo), percentOf(p.Confidence.Hi),
		percentOf(p.Next.Lo), percentOf(p.Next.Hi), percentOf(p.Tau), p.I2, p}, nil
}

// words returns a layout's result: "best on 31 of 40 hosts, worse than 1 file on 3, all with storage=network; on
// average …".
func (a Across) words(l AcrossLayout) string {
	n := len(l.Effects)
	if n == 0 {
		return fmt.Sprintf("%s: no host has an estimate of it.", l.Layout)
	}
	s := fmt.Sprintf("%s: best on %d of %s", l.Layout, l.Best, say.Count(n, "host"))
	if k := len(l.Worse); k > 0 {
		s += fmt.Sprintf(", worse than %s on %d%s", a.Baseline, k, among(l))
	} else {
		s += fmt.Sprintf(", worse than %s on none", a.Baseline)
	}
	if p := l.Pooled; p != nil {
		s += fmt.Sprintf("; on average %s", say.Interval(p.of.Mean, p.of.Confidence.Lo, p.of.Confidence.Hi))
		if next := p.next(); next != say.Absent {
			s += ", on the next host " + next
		}
	}
	if k := len(l.Unknown); k > 0 {
		s += fmt.Sprintf("; no estimate on %d%s", k, few(l.Unknown))
	}
	return s + "."
}

// few returns the names of the hosts, or nothing for more than three.
func few(hosts []string) string {
	if len(hosts) > 3 {
		return ""
	}
	return " (" + say.Enumerate(hosts) + ")"
}

// among names the tags that only the hosts on which a layout is worse have in common. If there are few such hosts,
// among also names the hosts.
func among(l AcrossLayout) string {
	var common []string
	for i, e := range slices.DeleteFunc(slices.Clone(l.Effects), func(e AcrossEffect) bool { return !slices.Contains(l.Worse, e.Host) }) {
		if i == 0 {
			common = slices.Clone(e.tags)
		}
		common = slices.DeleteFunc(common, func(tag string) bool { return !slices.Contains(e.tags, tag) })
	}
	common = slices.DeleteFunc(common, func(tag string) bool { return len(having(l.Effects, tag)) == len(l.Effects) })
	if len(common) > 0 && len(l.Worse) > 1 {
		return few(l.Worse) + ", all with " + say.Enumerate(common)
	}
	return few(l.Worse)
}

// next returns the prediction interval: "−2.0 … +14.1 %".
func (p AcrossPooled) next() string {
	switch {
	case p.NextLow == nil || p.NextHigh == nil:
		return say.Absent
	case say.Unresolvable(p.of.Next.Lo, p.of.Next.Hi):
		return say.NotResolvable
	case p.of.Mean >= say.FactorFrom:
		return say.Ratio(p.of.Next.Lo) + " … " + say.Ratio(p.of.Next.Hi) + " times"
	}
	return say.Signed(*p.NextLow) + " … " + say.Signed(*p.NextHigh) + " %"
}

// Write writes the result as text, Markdown or HTML.
func (a Across) Write(w io.Writer, format string, opts document.TerminalOptions) error {
	return document.Write(w, a.document(), format, opts)
}

// tauText returns the standard deviation between hosts: "4.9 %".
func (p AcrossPooled) tauText() string {
	if p.Tau == nil {
		return say.Absent
	}
	return strings.TrimLeft(say.Signed(*p.Tau), "+") + " %"
}

func (p AcrossPooled) i2Text() string { return fmt.Sprintf("%.0f %%", math.Round(100*p.I2)) }
