package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"filewise"
	"filewise/report/document"
	"filewise/verdict"
	"filewise/verdict/stats"
)

// AcrossSchema is the version of its JSON document.
const AcrossSchema = "filewise-across/1"

// Across is what runs of one experiment on several hosts say together. Effects are in
// percent; null is not known.
type Across struct {
	Schema     string         `json:"schema"`
	Confidence float64        `json:"confidence"`
	Scenario   string         `json:"scenario"`
	Baseline   string         `json:"baseline"`
	Hosts      []AcrossHost   `json:"hosts"`
	Families   []AcrossFamily `json:"families"`
	Left       []string       `json:"left_out"` // runs that do not count, each with its reason
	Meant      []string       `json:"meant"`    // differences that --meant allowed
}

// AcrossHost is a host, or a place on it, with the run that speaks for it.
type AcrossHost struct {
	Name    string   `json:"host"`
	Tags    []string `json:"tags"` // KEY=VALUE
	Run     string   `json:"run"`  // number in the store, or bundle
	Verdict string   `json:"verdict"`
	Data    Data     `json:"-"`
}

// AcrossFamily is a family of operations on all hosts.
type AcrossFamily struct {
	Family  string         `json:"family,omitempty"`
	Timed   bool           `json:"timed,omitempty"` // of a time, a positive effect is longer
	Keep    int            `json:"keep_baseline"`   // hosts whose verdict is to keep the baseline
	Layouts []AcrossLayout `json:"layouts"`
}

// AcrossLayout is a layout on all hosts that have measured it.
type AcrossLayout struct {
	Layout  string         `json:"layout"`
	Text    string         `json:"text"` // the same in words
	Best    int            `json:"best_on"`
	Worse   []string       `json:"worse_on"`
	Effects []AcrossEffect `json:"hosts"`  // the smallest first
	Unknown []string       `json:"unread"` // hosts that have no estimate of it
	Pooled  *AcrossPooled  `json:"pooled"` // null: of fewer than two hosts
	Groups  []AcrossPooled `json:"groups"` // by label
}

// AcrossEffect is a layout's difference from the baseline on one host.
type AcrossEffect struct {
	Host    string   `json:"host"`
	Percent *float64 `json:"effect_percent"`
	Low     *float64 `json:"effect_low"`
	High    *float64 `json:"effect_high"`
	Mark    string   `json:"mark"`
	row     row
	tags    []string
}

// AcrossPooled is a random-effects mean over hosts.
type AcrossPooled struct {
	Label    string   `json:"label,omitempty"` // KEY=VALUE that these hosts have in common
	Hosts    int      `json:"hosts"`
	Percent  *float64 `json:"mean_percent"`
	Low      *float64 `json:"mean_low"`
	High     *float64 `json:"mean_high"`
	NextLow  *float64 `json:"next_low"` // where the next host's effect is to be expected
	NextHigh *float64 `json:"next_high"`
	Tau      *float64 `json:"tau_percent"` // standard deviation of the effect between hosts
	I2       float64  `json:"i2"`          // share of the estimates' variance, from 0 to 1
	of       stats.Pooled
}

// leastOfGroup is how many hosts a label has to have to be pooled by itself.
const leastOfGroup = 3

// NewAcross pools what the hosts' runs were judged to be: at least two, of one baseline.
func NewAcross(hosts []AcrossHost, confidence float64) (Across, error) {
	first := hosts[0].Data.Plan
	a := Across{Schema: AcrossSchema, Confidence: confidence, Scenario: first.Scenario, Baseline: first.Baseline, Left: []string{},
		Meant: []string{}}
	views := make([][]view, len(hosts))
	for i, h := range hosts {
		views[i] = newView(h.Data).parts
		h.Verdict = newView(h.Data).Headline()
		a.Hosts = append(a.Hosts, h)
	}
	for _, of := range views[0] {
		f := AcrossFamily{Family: of.Name, Timed: of.Timed()}
		var layouts []string
		for i := range hosts {
			v, ok := familyOf(views[i], of.Name)
			if ok && v.Judged && v.Base >= 0 && v.Look.Recommended == v.Base {
				f.Keep++
			}
			for _, r := range v.Rows {
				if ok && !r.Baseline && r.Name != v.Plan.AA && !slices.Contains(layouts, r.Name) {
					layouts = append(layouts, r.Name)
				}
			}
		}
		for _, name := range layouts {
			l, err := a.layout(of.Name, name, views)
			if err != nil {
				return a, err
			}
			f.Layouts = append(f.Layouts, l)
		}
		a.Families = append(a.Families, f)
	}
	return a, nil
}

func familyOf(views []view, name string) (view, bool) {
	i := slices.IndexFunc(views, func(v view) bool { return v.Name == name })
	if i < 0 {
		return view{}, false
	}
	return views[i], true
}

// layout is one layout over the hosts' views.
func (a Across) layout(family, name string, views [][]view) (AcrossLayout, error) {
	l := AcrossLayout{Layout: name, Worse: []string{}, Unknown: []string{}, Effects: []AcrossEffect{}, Groups: []AcrossPooled{}}
	for i, h := range a.Hosts {
		v, _ := familyOf(views[i], family)
		at := slices.IndexFunc(v.Rows, func(r row) bool { return r.Name == name })
		if at < 0 {
			continue // not of this host's plan
		}
		r := v.Rows[at]
		if !r.Judged || !known(r.Estimate.Effect) || !known(r.Estimate.SE) {
			l.Unknown = append(l.Unknown, h.Name)
			continue
		}
		e := r.Estimate
		l.Effects = append(l.Effects, AcrossEffect{h.Name, percentPointer(e.Effect), percentPointer(e.Lo), percentPointer(e.Hi), r.markText(),
			r, h.Tags})
		switch e.Mark {
		case verdict.MarkBest:
			l.Best++
		case verdict.MarkWorse:
			l.Worse = append(l.Worse, h.Name)
		}
	}
	slices.SortStableFunc(l.Effects, func(x, y AcrossEffect) int {
		return boolCompare(x.row.Estimate.Effect < y.row.Estimate.Effect, y.row.Estimate.Effect < x.row.Estimate.Effect)
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

// labels are those by which hosts are pooled: of a key that two values or more have with
// hosts enough.
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

// pooled is nil of fewer than two hosts.
func pooled(label string, effects []AcrossEffect, confidence float64) (*AcrossPooled, error) {
	if len(effects) < 2 {
		return nil, nil
	}
	in := make([]stats.Effect, len(effects))
	for i, e := range effects {
		in[i] = stats.Effect{Value: e.row.Estimate.Effect, SE: e.row.Estimate.SE}
	}
	p, err := stats.Pool(in, confidence)
	if err != nil {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "pool the hosts: %w", err)
	}
	return &AcrossPooled{label, p.N, percentPointer(p.Mean), percentPointer(p.Confidence.Lo), percentPointer(p.Confidence.Hi),
		percentPointer(p.Next.Lo), percentPointer(p.Next.Hi), percentPointer(p.Tau), p.I2, p}, nil
}

func percentPointer(effect float64) *float64 {
	x := verdict.Percent(effect)
	if !known(x) {
		return nil
	}
	return &x
}

// words say what was found of a layout: "best on 31 of 40 hosts, worse than 1 file on 3, all
// with storage=network; on average …".
func (a Across) words(l AcrossLayout) string {
	n := len(l.Effects)
	if n == 0 {
		return fmt.Sprintf("%s: no host has an estimate of it.", l.Layout)
	}
	s := fmt.Sprintf("%s: best on %d of %s", l.Layout, l.Best, count(n, "host"))
	if k := len(l.Worse); k > 0 {
		s += fmt.Sprintf(", worse than %s on %d%s", a.Baseline, k, among(l))
	} else {
		s += fmt.Sprintf(", worse than %s on none", a.Baseline)
	}
	if p := l.Pooled; p != nil {
		s += fmt.Sprintf("; on average %s", interval(p.of.Mean, p.of.Confidence.Lo, p.of.Confidence.Hi))
		if p.NextLow != nil && p.NextHigh != nil {
			s += fmt.Sprintf(", on the next host %s", p.next())
		}
	}
	return s + "."
}

// among says what the hosts on which a layout is worse have in common that others have not;
// of few it names them.
func among(l AcrossLayout) string {
	var common []string
	for i, e := range slices.DeleteFunc(slices.Clone(l.Effects), func(e AcrossEffect) bool { return !slices.Contains(l.Worse, e.Host) }) {
		if i == 0 {
			common = slices.Clone(e.tags)
		}
		common = slices.DeleteFunc(common, func(tag string) bool { return !slices.Contains(e.tags, tag) })
	}
	common = slices.DeleteFunc(common, func(tag string) bool { return len(having(l.Effects, tag)) == len(l.Effects) })
	named := ""
	if len(l.Worse) <= 3 {
		named = " (" + enumerate(l.Worse) + ")"
	}
	if len(common) > 0 && len(l.Worse) > 1 {
		return named + ", all with " + enumerate(common)
	}
	return named
}

// next is the prediction interval: "−2.0 … +14.1 %".
func (p AcrossPooled) next() string {
	if p.NextLow == nil || p.NextHigh == nil {
		return absent
	}
	if p.of.Mean >= factorFrom {
		return ratio(p.of.Next.Lo) + " … " + ratio(p.of.Next.Hi) + " times"
	}
	return signed(*p.NextLow) + " … " + signed(*p.NextHigh) + " %"
}

// Write writes it as text, Markdown or HTML.
func (a Across) Write(w io.Writer, format string, opts TerminalOptions) error {
	return document.Write(w, a.document(), format, opts)
}

// tauText is the heterogeneity: "4.9 %".
func (p AcrossPooled) tauText() string {
	if p.Tau == nil {
		return absent
	}
	return strings.TrimLeft(signed(*p.Tau), "+") + " %"
}

func (p AcrossPooled) i2Text() string { return fmt.Sprintf("%.0f %%", math.Round(100*p.I2)) }
