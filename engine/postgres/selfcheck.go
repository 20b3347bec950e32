package postgres

import (
	"context"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/engine/postgres/internal/client"
)

// SelfCheck takes a small layout of each shape through its whole life, on scratch
// databases that are dropped again, and reports every statement as it was tried.
func (s *externalServer) SelfCheck(ctx context.Context, report func(filewise.Finding)) {
	trace := &external.Trace{Report: report, Explain: s.link.Why}
	traced := &externalServer{target: s.target, about: s.about, created: map[int]string{}}
	traced.link = s.link.To(s.link.Config.Database)
	traced.link.Trace = func(statement string, err error) { trace.Saw("", client.ShortenPool(statement), err) }
	layouts := selfCheckLayouts()
	check := external.SelfCheck{Server: traced, Report: report, Explain: s.link.Why, Trace: trace, Layouts: layouts, Loaded: layouts[1]}
	check.Run(ctx)
	f := filewise.Finding{Check: "nothing left", Status: filewise.StatusOK, Detail: "done"}
	if err := traced.Close(); err != nil {
		f.Status, f.Detail, f.Remedy = filewise.StatusFailed, err.Error(), filewise.RemedyOf(err)
	}
	report(f)
}

func selfCheckLayouts() []filewise.Layout {
	layout := func(name string, kind filewise.Kind, files int, later filewise.AddedLater, indexes string) filewise.Layout {
		return filewise.Layout{Name: name, Kind: kind, AddedLater: later, Indexes: indexes,
			Data: filewise.Spread{Files: files, Bytes: mib, Allocation: filewise.Growing, Placement: filewise.PlaceRoundRobin}}
	}
	return []filewise.Layout{
		layout("plain table", filewise.KindSingle, 1, "", ""),
		layout("2 partitions, indexes apart", filewise.KindPartitions, 2, "", filewise.IndexesApart),
		layout("added later, for new data", filewise.KindPartitions, 3, filewise.LaterNewData, ""),
		layout("added later, rebuilt", filewise.KindPartitions, 3, filewise.LaterRebuilt, ""),
	}
}
