package oracle

import (
	"context"
	"slices"

	"filewise"
	"filewise/engine/internal/external"
)

// SelfCheck tries every statement of the adapter once, on tablespaces of some
// megabytes that it drops again, and reports each. What no step reached is a note.
func (s *server) SelfCheck(ctx context.Context, report func(filewise.Finding)) {
	explained := func(err error) error { return err } // by the client
	t := &external.Trace{Report: report, Explain: explained}
	watch := func(c client) client { return watching{c, t} }
	watched := &server{target: s.target, config: s.config, pool: s.pool, about: s.about, missing: s.missing, watch: watch,
		control: watch(s.pool.on(s.pool.db))}
	watched.marks = marks{watched.control, s.about.account}
	learn := external.Step{Name: "version and rights", Do: func(ctx context.Context) error { return watched.learn(ctx, watched.control) }}
	check := external.SelfCheck{Server: watched, Report: report, Explain: explained, Trace: t,
		Layouts: selfLayouts(), Loaded: selfLayouts()[0], Questions: []external.Step{learn}}
	check.Run(ctx)
	t.Untried(slices.Concat(serverSQL.Sections(), workloads["inserts"].Sections()))
}

// watching shows all statements to the trace.
type watching struct {
	client
	trace *external.Trace
}

func (w watching) exec(ctx context.Context, s statement) error {
	err := w.client.exec(ctx, s)
	w.trace.Saw(s.section, s.text, err)
	return err
}

func (w watching) rows(ctx context.Context, s statement) ([][]any, error) {
	all, err := w.client.rows(ctx, s)
	seen := err
	if s.section == "access" && unreadable(err) { // a right that is optional, or said by preflight
		seen = nil
	}
	w.trace.Saw(s.section, s.text, seen)
	return all, err
}

// selfLayouts try every statement that builds.
func selfLayouts() []filewise.Layout {
	spread := filewise.Spread{Files: 2, Bytes: 32 * mib, Allocation: filewise.Preallocated, Placement: filewise.PlaceRoundRobin}
	growing, one := spread, spread
	growing.Allocation, growing.Growth = filewise.Growing, mib
	one.Files = 1
	return []filewise.Layout{
		{Name: "smallfile, preallocated", Kind: filewise.KindSmallfile, Data: spread},
		{Name: "smallfile, growing, indexes apart", Kind: filewise.KindSmallfile, Data: growing, Indexes: filewise.IndexesApart},
		{Name: "smallfile, files added later and rebuilt", Kind: filewise.KindSmallfile, Data: spread, AddedLater: filewise.LaterRebuilt},
		{Name: "bigfile", Kind: filewise.KindBigfile, Data: one},
	}
}
