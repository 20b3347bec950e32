package external

import (
	"context"

	"filewise"
	"filewise/engine/internal/external"
)

// SelfCheck takes small databases of each kind through a trial's life, and
// reports every step and every statement that creates or changes something. What
// it creates it drops again, also after a failure.
func (s *server) SelfCheck(ctx context.Context, report func(filewise.Finding)) {
	s.trace = &external.Trace{Report: report, Explain: s.explain}
	defer func() { s.trace = nil }()
	spread := filewise.Spread{Files: 2, Bytes: 4 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceRoundRobin}
	partitions := filewise.Layout{Name: "partitions", Kind: filewise.KindPartitions, Data: spread}
	rebuilt := partitions
	rebuilt.Name, rebuilt.AddedLater = "partitions added later", filewise.LaterRebuilt
	check := external.SelfCheck{Server: s, Report: report, Explain: s.explain, Trace: s.trace, Loaded: partitions,
		Layouts: []filewise.Layout{{Name: "per table", Kind: filewise.KindPerTable, Data: spread}, partitions, rebuilt}}
	check.Run(ctx)
}
