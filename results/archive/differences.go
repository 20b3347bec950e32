package archive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"filewise"
	"filewise/lab/experiment"
	"filewise/results/store"
)

// Difference is a difference between two runs in anything but the results.
type Difference struct {
	What   string `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Kind is "refused", "warned" (hardly intended), or "noted" (perhaps the very change to compare, or named by --meant).
	Kind string `json:"kind"`

	meant string      // the value of --meant that allows it
	parts [][3]string // if several values differ: name, before and after of each
}

// words returns the difference as a part of an enumeration: "durability (off, normal)".
func (d Difference) words() string {
	pair := func(what, before, after string) string {
		return fmt.Sprintf("%s (%s, %s)", what, cmp.Or(before, "none"), cmp.Or(after, "none"))
	}
	if len(d.parts) == 0 {
		return pair(d.What, d.Before, d.After)
	}
	return d.What + ": " + strings.Join(filewise.Each(d.parts, func(p [3]string) string { return pair(p[0], p[1], p[2]) }), ", ")
}

// refusal returns the refused differences in words, and the remedy for the error.
func refusal(all []Difference) (why []string, remedy string) {
	var names []string
	follows := false // the scenario differs, and the other refused differences follow from it
	for _, d := range all {
		if d.Kind != Refused {
			continue
		}
		if !follows {
			why = append(why, d.words())
		}
		if follows = follows || d.What == "scenario"; !slices.Contains(names, d.meant) {
			names = append(names, d.meant)
		}
	}
	return why, "if you mean to measure this change, add --meant " + strings.Join(names, ",")
}

// The kinds of difference.
const (
	Refused = "refused"
	Warned  = "warned"
	Noted   = "noted"
)

// rulesWord names the rules of judging in a list of differences.
const rulesWord = "rules that they are judged by"

// MeantNames lists the values of --meant. Each names a difference that otherwise makes runs incomparable.
var MeantNames = []string{"engine", "workload", "size", "kind", "durability", "window", "preload", "observe", "rules", "cores", "memory",
	"device", "file-system", "volume-size", "version", "settings"}

// collected holds differences. The ones that meant names were made on purpose.
type collected struct {
	meant []string
	all   []Difference
}

func (c *collected) add(kind, name, what string, before, after any) {
	x, y := fmt.Sprint(before), fmt.Sprint(after)
	if x == y {
		return
	}
	if slices.Contains(c.meant, name) {
		kind = Noted
	}
	c.all = append(c.all, Difference{What: what, Before: x, After: y, Kind: kind, meant: name})
}

// addParts adds one refused difference that holds all values in which two documents differ.
func (c *collected) addParts(name, what string, before, after any) {
	parts := differing(before, after)
	join := func(i int) string {
		return strings.Join(filewise.Each(parts, func(p [3]string) string { return p[0] + " " + p[i] }), ", ")
	}
	if c.add(Refused, name, what, join(1), join(2)); len(parts) > 0 {
		c.all[len(c.all)-1].parts = parts
	}
}

// differences returns the differences between two runs in what is held constant, the worst first. The ones that meant
// names were made on purpose.
func differences(a, b store.Run, meant []string) []Difference {
	c := collected{meant: meant, all: planned(a.Plan, b.Plan, meant)}
	add, p, q := c.add, a.Plan, b.Plan
	add(Refused, "memory", "memory of the server", exact(p.Target.Memory), exact(q.Target.Memory))
	c.addParts("settings", "settings", p.Target.Settings, q.Target.Settings)
	refused := map[string]bool{}
	for _, u := range Unlike(a, b) {
		add(Refused, u.Meant, u.What, u.Before, u.After)
		refused[u.What] = true
	}
	for _, d := range factDifferences(a.Machine, b.Machine) {
		kind := Warned
		if strings.HasSuffix(d.What, ": free") || strings.HasSuffix(d.What, DeviceIdentity) { // differs between any two runs or hosts
			kind = Noted
		}
		if !refused[d.What] {
			add(kind, "", d.What, d.Before, d.After)
		}
	}
	add(Noted, "", "volumes", volumeWords(p), volumeWords(q))
	add(Noted, "", "address", addressWords(p), addressWords(q))
	add(Noted, "", "version of Filewise", a.Version, b.Version)
	for _, d := range factDifferences(a.Server, b.Server) {
		if what := "server: " + d.What; !refused[what] {
			add(Noted, "", what, d.Before, d.After)
		}
	}
	return worstFirst(c.all)
}

func worstFirst(all []Difference) []Difference {
	order := []string{Refused, Warned, Noted}
	slices.SortStableFunc(all, func(x, y Difference) int { return slices.Index(order, x.Kind) - slices.Index(order, y.Kind) })
	return all
}

// planned returns the differences between two plans that also matter between runs of several hosts.
func planned(p, q experiment.Plan, meant []string) []Difference {
	c := collected{meant: meant}
	add := c.add
	add(Refused, "engine", "engine", p.Target.Engine, q.Target.Engine)
	add(Refused, "engine", "how the server is started", p.Target.Mode, q.Target.Mode)
	add(Refused, "workload", "scenario", p.Scenario, q.Scenario)
	add(Refused, "workload", "what is measured", measureWords(p), measureWords(q))
	c.addParts("workload", "parameters of the workload", p.Params, q.Params)
	add(Refused, "observe", "what is observed", observed(p), observed(q))
	add(Refused, "rules", rulesWord, p.JudgedBy(), q.JudgedBy())
	add(Refused, "window", "work of a trial", workWords(p), workWords(q))
	add(Refused, "size", "size of the data files", sizes(p), sizes(q))
	add(Refused, "kind", "kind of layout", kinds(p), kinds(q))
	add(Refused, "cores", "processors of the server", p.Target.Cores, q.Target.Cores)
	add(Refused, "durability", "durability", p.Target.Durability, q.Target.Durability)
	add(Refused, "preload", "rows loaded before", p.Preload, q.Preload)
	add(Warned, "", "calibration", p.Calibrate, q.Calibrate)
	add(Warned, "", "interleaved blocks", p.TakesTurns(), q.TakesTurns())
	add(Warned, "", "rounds of an interleaved block", p.Rounds, q.Rounds)
	return worstFirst(c.all)
}

// observed describes in words the measure that judges a plan's trials.
func observed(p experiment.Plan) string {
	if p.Observe == experiment.ObserveRest {
		return "all work from rest to rest"
	}
	return "the rate within the window"
}

// Alike reports whether one plan's noise and trial time also hold for another plan.
func Alike(p, q experiment.Plan) bool {
	refused := func(d Difference) bool { return d.Kind == Refused && d.What != rulesWord }
	return p.Target.Memory == q.Target.Memory && !slices.ContainsFunc(planned(p, q, nil), refused)
}

// differing returns the values in which two documents differ: name, before and after. A value that one document lacks
// appears as "not set".
func differing(a, b any) (out [][3]string) {
	x, y := fields(a), fields(b)
	names := slices.Sorted(maps.Keys(x))
	for name := range y {
		if _, ok := x[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if x[name] != y[name] {
			out = append(out, [3]string{name, cmp.Or(x[name], "not set"), cmp.Or(y[name], "not set")})
		}
	}
	return out
}

// fields returns the values of a document by path.
func fields(of any) map[string]string {
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, x := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), x)
			}
		case []any:
			if !slices.ContainsFunc(v, func(x any) bool { _, composed := x.(map[string]any); return composed }) {
				out[path] = strings.Trim(fmt.Sprint(v), "[]")
				return
			}
			for i, x := range v {
				walk(fmt.Sprintf("%s[%d]", path, i+1), x)
			}
		case nil:
		default:
			out[path] = fmt.Sprint(v)
		}
	}
	text, err := json.Marshal(of)
	if err != nil {
		return map[string]string{"": err.Error()}
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // keep 1000000 from becoming 1e+06
	if err := d.Decode(&v); err != nil {
		return map[string]string{"": err.Error()}
	}
	walk("", v)
	return out
}

func measureWords(p experiment.Plan) string {
	return strings.Join(append([]string{cmp.Or(p.Measure, experiment.MeasureWorkload)}, p.Operations()...), " ")
}

func workWords(p experiment.Plan) string {
	if p.Window > 0 {
		return "a window of " + p.Window.String()
	}
	return fmt.Sprintf("%d bytes", p.Work)
}

// exact formats a size without rounding, so that two different sizes never look the same.
func exact(bytes int64) string {
	switch {
	case bytes > 0 && bytes%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes > 0 && bytes%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// sizes returns the sizes of all layouts, and kinds the kinds; each appears once.
func sizes(p experiment.Plan) string {
	return each(p, func(l filewise.Layout) string {
		return fmt.Sprintf("%s, %s", exact(l.Data.Bytes), l.Data.Allocation)
	})
}

func kinds(p experiment.Plan) string {
	return each(p, func(l filewise.Layout) string { return string(l.Kind) })
}

func each(p experiment.Plan, word func(filewise.Layout) string) string {
	var out []string
	for _, l := range p.Layouts {
		if s := word(l); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func volumeWords(p experiment.Plan) string {
	return strings.Join(filewise.Each(p.Target.Volumes, func(v filewise.Volume) string { return v.Name + "=" + v.Dir }), " ")
}

func addressWords(p experiment.Plan) string {
	if p.Target.Address == nil {
		return ""
	}
	return p.Target.Address.String()
}

// factDifferences returns the facts whose values differ, or that only one run has. Facts that were not measured are
// left out.
func factDifferences(a, b []filewise.Fact) []Difference {
	const absent = "not known"
	var out []Difference
	seen := map[string]bool{}
	for _, f := range append(slices.Clone(a), b...) {
		if seen[f.Name] {
			continue
		}
		seen[f.Name] = true
		x, y := filewise.ValueOf(a, f.Name, absent), filewise.ValueOf(b, f.Name, absent)
		if unmeasured := strings.HasPrefix(x, "not measured") || strings.HasPrefix(y, "not measured"); x != y && !unmeasured {
			out = append(out, Difference{What: f.Name, Before: x, After: y})
		}
	}
	return out
}
