package main

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/experiment"
	"filewise/store"
)

// A difference between two runs, other than what they measured.
type difference struct {
	What   string `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Kind is "refused", "warned" (it was hardly meant), or "noted" (it may well be
	// what was changed, or --meant says so).
	Kind string `json:"kind"`
}

// The kinds of difference.
const (
	differsRefused = "refused"
	differsWarned  = "warned"
	differsNoted   = "noted"
)

// meantNames are what --meant may name: what else makes runs incomparable.
var meantNames = []string{"engine", "workload", "size", "kind", "durability", "window", "preload"}

// differences of two runs in what is held constant, the worst first. What is in
// meant was changed on purpose.
func differences(a, b store.Run, meant []string) []difference {
	var out []difference
	add := func(kind, name, what string, before, after any) {
		x, y := fmt.Sprint(before), fmt.Sprint(after)
		if x == y {
			return
		}
		if slices.Contains(meant, name) {
			kind = differsNoted
		}
		out = append(out, difference{what, x, y, kind})
	}
	p, q := a.Plan, b.Plan
	add(differsRefused, "engine", "engine", p.Target.Engine, q.Target.Engine)
	add(differsRefused, "engine", "where the server comes from", p.Target.Mode, q.Target.Mode)
	add(differsRefused, "workload", "scenario", p.Scenario, q.Scenario)
	add(differsRefused, "workload", "what is measured", measureWords(p), measureWords(q))
	add(differsRefused, "workload", "parameters of the workload", fmt.Sprintf("%+v", p.Params), fmt.Sprintf("%+v", q.Params))
	add(differsRefused, "window", "work of a trial", workWords(p), workWords(q))
	add(differsRefused, "size", "size of the data files", sizes(p), sizes(q))
	add(differsRefused, "kind", "kind of layout", kinds(p), kinds(q))
	add(differsRefused, "durability", "durability", p.Target.Durability, q.Target.Durability)
	add(differsRefused, "preload", "rows loaded before", p.Preload, q.Preload)
	add(differsWarned, "", "calibration", p.Calibrate, q.Calibrate)
	add(differsWarned, "", "rounds of a session", p.Cells, q.Cells)
	add(differsWarned, "", "seed", p.Seed, q.Seed)
	for _, d := range factDifferences(a.Machine, b.Machine) {
		add(differsWarned, "", d.What, d.Before, d.After)
	}
	add(differsNoted, "", "volumes", volumeWords(p), volumeWords(q))
	add(differsNoted, "", "address", addressWords(p), addressWords(q))
	add(differsNoted, "", "settings", p.Target.Settings, q.Target.Settings)
	add(differsNoted, "", "version of Filewise", a.Version, b.Version)
	for _, d := range factDifferences(a.Server, b.Server) {
		add(differsNoted, "", "server: "+d.What, d.Before, d.After)
	}
	order := []string{differsRefused, differsWarned, differsNoted}
	slices.SortStableFunc(out, func(x, y difference) int { return slices.Index(order, x.Kind) - slices.Index(order, y.Kind) })
	return out
}

func measureWords(p experiment.Plan) string {
	if p.Measure == "" {
		return experiment.MeasureWorkload
	}
	return strings.Join(append([]string{p.Measure}, p.Phases...), " ")
}

func workWords(p experiment.Plan) string {
	if p.Window > 0 {
		return "a window of " + p.Window.String()
	}
	return fmt.Sprintf("%d bytes", p.Work)
}

// sizes and kinds are those of all layouts, each once.
func sizes(p experiment.Plan) string {
	return each(p, func(l filewise.Layout) string {
		return fmt.Sprintf("%d bytes, %s", l.Data.Bytes, l.Data.Allocation)
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
	var out []string
	for _, v := range p.Target.Volumes {
		out = append(out, v.Name+"="+v.Dir)
	}
	return strings.Join(out, " ")
}

func addressWords(p experiment.Plan) string {
	if p.Target.Address == nil {
		return ""
	}
	return p.Target.Address.String()
}

// factDifferences are facts that both have, or one alone, with different values.
func factDifferences(a, b []filewise.Fact) []difference {
	const absent = "not known"
	value := func(facts []filewise.Fact, name string) string {
		for _, f := range facts {
			if f.Name == name {
				return f.Value
			}
		}
		return absent
	}
	var out []difference
	seen := map[string]bool{}
	for _, f := range append(slices.Clone(a), b...) {
		if seen[f.Name] {
			continue
		}
		seen[f.Name] = true
		if x, y := value(a, f.Name), value(b, f.Name); x != y {
			out = append(out, difference{What: f.Name, Before: x, After: y})
		}
	}
	return out
}
