package archive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/results/report/document"
	"filewise/results/store"
)

// about returns the run's subject: "inserts on sqlite".
func about(r store.Run) string { return r.Plan.Scenario + " on " + r.Plan.Target.Engine }

// subject returns the common subject of both runs.
func (c Comparison) subject() string {
	before, after := about(c.runs[0]), about(c.runs[1])
	if before == after {
		return before
	}
	return before + ", then " + after
}

// when returns a line with the time and host of each run.
func (c Comparison) when() string {
	var parts []string
	for i, r := range c.runs {
		part := []string{"before ", "after "}[i] + r.Started.Format(toTheMinute)
		if place(c.runs[0]) != place(c.runs[1]) {
			part = say.Joined(", on ", part, place(r))
		}
		parts = append(parts, part)
	}
	if place(c.runs[0]) == place(c.runs[1]) && place(c.runs[0]) != "" {
		parts = append(parts, "both on "+place(c.runs[0]))
	}
	return "Scenario " + c.subject() + ": " + strings.Join(parts, "; ") + "."
}

const toTheMinute = "2006-01-02 15:04 -07:00"

// place returns the machine of a run.
func place(r store.Run) string {
	host := ""
	if r.Origin != nil {
		host = r.Origin.Host
	}
	facts := filewise.Each([]string{"CPU", "cores", "memory"}, func(name string) string { return filewise.ValueOf(r.Machine, name, "") })
	if facts[1] != "" {
		facts[1] += " cores"
	}
	return say.Joined(", ", append([]string{host}, facts...)...)
}

// pair holds a fact's values in both runs.
type pair struct{ name, before, after string }

// table returns the facts of both runs side by side.
func (c Comparison) table() document.Table {
	var all []pair
	before, after := facts(c.runs[0]), facts(c.runs[1])
	for _, f := range append(slices.Clone(before), after...) {
		if !slices.ContainsFunc(all, func(p pair) bool { return p.name == f.Name }) {
			all = append(all, pair{f.Name, cmp.Or(filewise.ValueOf(before, f.Name, ""), say.Absent),
				cmp.Or(filewise.ValueOf(after, f.Name, ""), say.Absent)})
		}
	}
	return document.Tabulate(document.Table{Caption: "What each run measured, and where"}, all,
		document.Name("", func(p pair) string { return p.name }),
		document.Words("before", func(p pair) string { return p.before }).As("words"),
		document.Words("after", func(p pair) string { return p.after }).As("words"))
}

// facts returns the facts of a run, its machine and its server.
func facts(r store.Run) []filewise.Fact {
	out := []filewise.Fact{{Name: "run", Value: fmt.Sprint(r.ID) + say.InBrackets(r.Plan.Name)}, {Name: "measured", Value: about(r)},
		{Name: "started", Value: r.Started.Format(time.DateTime + " -07:00")}, {Name: "Filewise", Value: r.Version}}
	if len(r.Plan.Tags) > 0 {
		out = append(out, filewise.Fact{Name: "tags", Value: strings.Join(r.Plan.Tags, ", ")})
	}
	if r.Origin != nil && r.Origin.Host != "" {
		out = append(out, filewise.Fact{Name: "host", Value: r.Origin.Host})
	}
	return slices.Concat(out, r.Machine, r.Server)
}
