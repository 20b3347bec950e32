package plan

import (
	"slices"
	"strings"

	"filewise"
	"filewise/workload"
)

// baseLayout is what the layouts have in common: all but number, name and rank.
func (m *maker) baseLayout() (l filewise.Layout, err error) {
	if l.Kind, err = m.layoutKind(m.o.Kind.Value); err != nil {
		return l, err
	}
	if usual := m.scenarioKinds(); m.o.Kind.Value == "" && len(usual) > 0 && (m.sc.Temp || m.plan.Target.Mode != filewise.External) {
		l.Kind = usual[0]
	}
	l.Indexes, l.LogVolume, l.IndexVolume = m.o.Indexes.Value, m.o.LogVolume.Value, m.o.IndexVolume.Value
	if l.Indexes != "" && m.sc.Temp {
		return l, badUse("indexes", l.Indexes, "leave it out: temporary tables have no index on files of its own")
	}
	if err := checkApart(l, m.plan.Target.Volumes, "--log-volume", "--index-volume"); err != nil {
		return l, err
	}
	if l.Data, err = m.spread(l.DataVolumes(m.plan.Target.Volumes)); err != nil {
		return l, err
	}
	return l, m.fitLoaded(&l)
}

// checkApart refuses volumes for log and indexes that there are not, or that
// leave none for the data.
func checkApart(l filewise.Layout, volumes []filewise.Volume, logFlag, indexFlag string) error {
	names := filewise.Each(volumes, func(v filewise.Volume) string { return v.Name })
	for flag, name := range map[string]string{logFlag: l.LogVolume, indexFlag: l.IndexVolume} {
		if name != "" && !slices.Contains(names, name) {
			_, err := Choice(strings.TrimPrefix(flag, "--"), name, names...)
			return err
		}
	}
	if len(l.DataVolumes(volumes)) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "add another --volume NAME=DIR for the data",
			"no volume is left for the data: %s holds no data", strings.Join(names, ", "))
	}
	return nil
}

// spread is what the data files have in common.
func (m *maker) spread(volumes []filewise.Volume) (s filewise.Spread, err error) {
	if s.Bytes, err = m.totalBytes(); err != nil {
		return s, err
	}
	s.Allocation = filewise.Allocation(m.o.Allocation.Value)
	if s.Allocation == filewise.Growing || len(m.o.Layouts.Value) > 0 || m.o.Growth.Given() && !m.o.Allocation.Given() {
		if s.Growth, err = bytesOf("growth", m.o.Growth.Value); err != nil {
			return s, err
		}
	}
	s.Placement = filewise.PlaceOne
	if len(volumes) > 1 {
		s.Placement = filewise.PlaceRoundRobin
	}
	if m.o.Placement.Given() {
		if len(volumes) < 2 && m.o.Placement.Value == string(filewise.PlaceRoundRobin) {
			return s, badUse("placement", m.o.Placement.Value, "give a second --volume: all files lie on one")
		}
		s.Placement = filewise.Placement(m.o.Placement.Value)
	}
	return s, err
}

// totalBytes is the size of the data files: the user's, the engine's usual one for
// the main scenario, or the scenario's.
func (m *maker) totalBytes() (int64, error) {
	switch {
	case m.o.Size.Given():
		return bytesOf("size", m.o.Size.Value)
	case m.About.Bytes > 0 && m.work.Appends() && !m.o.AsPublished.Value:
		return m.About.Bytes, nil
	case m.o.AsPublished.Value: // a small scale is no reason to refuse the article's numbers of files
		return max(m.sc.Bytes, m.About.LeastFile*int64(slices.Max(m.sc.Files))), nil
	}
	return m.sc.Bytes, nil
}

// indexDivided gives the table of dml an index on its key where some layout divides
// the rows by that, unless the user says otherwise: without one a statement reads all
// rows that its key's file has, so that N files would be N times as fast whatever
// files are worth.
func (m *maker) indexDivided(arms []arm) {
	divides := func(a arm) bool { return a.Kind == filewise.KindPartitions || a.Kind == filewise.KindShards }
	if m.plan.Params.Index == "" || m.o.AsPublished.Value || m.o.Index.Given() || !slices.ContainsFunc(arms, divides) {
		return
	}
	m.plan.Params.Index = workload.IndexKey
	if !m.o.Repeat.Given() {
		m.plan.Params.Repeat = workload.IndexedRepeat
	}
}

// scenarioKinds are the engine's for the scenario; none: its usual ones.
func (m *maker) scenarioKinds() []filewise.Kind {
	switch {
	case m.sc.Stripes:
		return m.About.BackupKinds
	case m.sc.Temp:
		return m.About.TempKinds
	case m.sc.Params.Index != "" && !m.o.AsPublished.Value && !m.o.Allocation.Given() && !m.o.Growth.Given():
		return m.About.RowKinds
	}
	return nil
}

// layoutKind is the kind of layout asked for, or the engine's usual one here.
func (m *maker) layoutKind(kind string) (filewise.Kind, error) {
	if kind == "" {
		return m.Kinds()[0], nil
	}
	return Choice("kind", kind, m.Kinds()...)
}
