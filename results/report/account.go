package report

import (
	"cmp"
	"fmt"
	"strings"

	"filewise/internal/say"
	"filewise/lab/cause"
	"filewise/lab/probe"
	"filewise/results/report/document"
)

// accountRow is a part of the connections' time, a resource, or both, with the known figures.
type accountRow struct{ name, time, use, limit string }

// account returns one table about the bottleneck: the parts of the connections' time, the use of each resource, and the
// use from which a resource counts as the limit. It returns nothing unless both times and uses were read.
func (v view) account() []document.Block {
	r := v.whole.Judgement.Relevance
	near := v.near()
	if r == nil || len(near) == 0 {
		return nil
	}
	var rows []accountRow
	for _, s := range r.Shares {
		if s.Part < cause.LeastSaid && s.On != cause.SpentData {
			continue
		}
		row := accountRow{name: cause.NameOf(s.On), time: fmt.Sprintf("%.0f %%", 100*s.Part)}
		if cpu, ok := near[cause.KindCPU]; ok && s.On == cause.SpentCPU {
			row.use, row.limit = fmt.Sprintf("%.0f %%", cpu.Percent), fmt.Sprintf("%d %%", probe.BusyLimit)
			delete(near, cause.KindCPU)
		}
		rows = append(rows, row)
	}
	for _, kind := range []string{cause.KindCPU, cause.KindStorage, cause.KindDevice} {
		u, ok := near[kind]
		if !ok {
			continue
		}
		row := accountRow{name: strings.TrimPrefix(u.Name, "the "), use: fmt.Sprintf("%.0f %%", u.Percent)}
		switch kind {
		case cause.KindCPU:
			row.name, row.limit = cause.NameOf(cause.SpentCPU), fmt.Sprintf("%d %%", probe.BusyLimit)
		case cause.KindStorage:
			row.limit = fmt.Sprintf("%d %%", cause.NearLimit)
		}
		rows = append(rows, row)
	}
	t := document.Table{Caption: "Connection time, and how near each resource was to its limit"}
	return []document.Block{document.Everywhere(document.Tabulate(t, rows,
		document.Name("resource", func(r accountRow) string { return r.name }),
		document.Num("connection time", func(r accountRow) string { return cmp.Or(r.time, say.Absent) }),
		document.Num("in use", func(r accountRow) string { return cmp.Or(r.use, say.Absent) }),
		document.Num("limit", func(r accountRow) string { return cmp.Or(r.limit, say.Absent) })),
		document.Note("Connection time is how the connections spent their time; in use is measured on the whole machine, so a CPU can be busy "+
			"while connections wait for a log. A resource below its limit could do more."))}
}

// near returns, for each kind of resource, the use of the one nearest to its limit. It takes the first operation with a
// known cause.
func (v view) near() map[string]cause.Use {
	out := map[string]cause.Use{}
	for _, f := range v.parts {
		if f.of.Cause == nil {
			continue
		}
		for _, u := range f.of.Cause.Near {
			if _, has := out[u.Kind]; !has {
				out[u.Kind] = u
			}
		}
		return out
	}
	return out
}
