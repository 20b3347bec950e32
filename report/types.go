package report

import (
	"fmt"
	"slices"
	"time"

	"filewise/experiment"
	"filewise/internal/say"
	"filewise/report/document"
)

// types are the latencies by type of operations; none where there is one type. A
// terminal shows them where there is one load level.
func (v view) types() []document.Block {
	all := slices.DeleteFunc(slices.Clone(v.Judgement.Latencies), func(l experiment.Latency) bool { return l.Type == "" })
	if len(all) == 0 {
		return nil
	}
	took := func(head string, of func(experiment.Latency) time.Duration) document.Of[experiment.Latency] {
		return document.Num(head, func(l experiment.Latency) string {
			if l.Count == 0 {
				return say.Absent
			}
			return say.Human(of(l))
		})
	}
	table := document.Tabulate(document.Table{Caption: "Latencies by layout and type"}, all,
		document.Words("family", func(l experiment.Latency) string { return l.Family }).Only(document.Paper).As("nb"),
		document.Name("layout", func(l experiment.Latency) string { return l.Layout }),
		document.Words("type", func(l experiment.Latency) string { return l.Type }).As("nb"),
		document.Num("a minute", func(l experiment.Latency) string { return say.Sig3(l.PerMinute) }).Spare(2),
		took("p50", func(l experiment.Latency) time.Duration { return l.P50 }).Spare(1),
		took("p90", func(l experiment.Latency) time.Duration { return l.P90 }).Only(document.Paper),
		took("p99", func(l experiment.Latency) time.Duration { return l.P99 }),
		took("p99.9", func(l experiment.Latency) time.Duration { return l.P999 }).Spare(3),
		took("longest", func(l experiment.Latency) time.Duration { return l.Max }).Only(document.Paper),
		document.Words("failures", func(l experiment.Latency) string { return Failures(l.Errors) }).Only(document.Paper))
	note := "Latencies of all trials in blocks together, from the first try to the commit; of few operations, high percentiles are the " +
		"longest."
	if v.Plan.P99Limit > 0 {
		note += fmt.Sprintf(" A layout whose p99 of any type is above %s is not recommended.", say.Human(v.Plan.P99Limit))
	}
	if v.loads() == nil {
		return []document.Block{document.Everywhere(table), document.Note(note)}
	}
	return []document.Block{table, document.Note(note)}
}
