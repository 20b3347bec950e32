package experiment

import (
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/cause"
	"filewise/lab/probe"
	"filewise/lab/workload"
)

func conditionOf(t *testing.T, p Plan, trials []filewise.Trial, name filewise.ConditionName) filewise.Condition {
	t.Helper()
	s := p.standing(trials)
	for _, c := range s.conditions(s.relevance()) {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("%s has no condition %s", p.Scenario, name)
	return filewise.Condition{}
}

// TestConditions holds. First contact: SQL Server 16.
func TestConditions(t *testing.T) {
	second := [2]time.Duration{0, time.Second}
	cores := func(n float64) []filewise.Delta {
		return []filewise.Delta{{Probe: "cpu", Name: "user", Unit: "s", Value: n}, {Probe: "cpu", Name: probe.BusyShare, Unit: "%", Value: 40}}
	}
	wait := func(class filewise.WaitClass, s float64) filewise.Delta {
		return filewise.Delta{Probe: filewise.ProbeWaits, Name: string(class), Unit: "s", Value: s, Class: class}
	}
	layout := filewise.Layout{Name: "4 files", Data: filewise.Spread{Files: 4, Allocation: filewise.Growing, Growth: 1 << 20}}
	data := func(path string, size int64) filewise.File {
		return filewise.File{Role: filewise.RoleData, Path: path, Bytes: size}
	}
	none, some := int64(0), int64(1)
	for name, x := range map[string]struct {
		scenario  string
		condition filewise.ConditionName
		measure   filewise.Measure
		final     []filewise.File
		want      string // sign, what was measured, the option; parts of them, with |
	}{
		"a file is untouched": {"inserts", filewise.CondReach, filewise.Measure{},
			[]filewise.File{{Role: filewise.RoleData, Path: "a", Used: &some}, {Role: filewise.RoleData, Path: "b", Used: &none}},
			"✘|4 files: 1 untouched|--window"},
		"all take part": {"inserts", filewise.CondReach, filewise.Measure{},
			[]filewise.File{{Role: filewise.RoleData, Path: "a", Used: &some}, {Role: filewise.RoleData, Path: "b", Used: &some}}, "✔"},
		"nothing was counted": {"inserts", filewise.CondReach, filewise.Measure{}, nil, "?"},
		"pages are written in the drain alone": {"inserts", filewise.CondWrites, filewise.Measure{
			Rest: &filewise.Rest{Written: map[string]float64{filewise.WrittenData: 3 << 20}}}, nil, "✔|3.0 MiB"},
		"few rows are written whole": {"inserts", filewise.CondWrites, filewise.Measure{Bytes: 160_000,
			Rest: &filewise.Rest{Written: map[string]float64{filewise.WrittenData: 246 << 10}}}, nil, "✔|246 KiB"},
		"pages are written after what is observed": {"inserts", filewise.CondWrites, filewise.Measure{Deltas: []filewise.Delta{
			delta(filewise.ProbeWritten, filewise.WrittenData, 0)}}, nil, "✘|0 B|--observe rest"},
		"data in memory": {"orders", filewise.CondReads, filewise.Measure{Deltas: []filewise.Delta{
			delta(filewise.ProbeServerMemory, filewise.MemoryTotal, 1<<30)}}, []filewise.File{data("a", 1<<20)}, "✘|1.0 MiB of data, 1.0 GiB"},
		"data four times the memory": {"orders", filewise.CondReads, filewise.Measure{Deltas: []filewise.Delta{
			delta(filewise.ProbeServerMemory, filewise.MemoryTotal, 1<<20)}}, []filewise.File{data("a", 4<<20)}, "✔"},
		"grown often":  {"dml", filewise.CondGrowth, filewise.Measure{}, []filewise.File{data("/a", 11<<20)}, "✔|10 times"},
		"grown seldom": {"dml", filewise.CondGrowth, filewise.Measure{}, []filewise.File{data("/a", 10<<20)}, "✘|9 times|--rows"},
		"connections":  {"inserts", filewise.CondContention, filewise.Measure{Deltas: cores(2)}, nil, "✔|4 connections, 2 cores"},
		"more cores":   {"inserts", filewise.CondContention, filewise.Measure{Deltas: cores(3)}, nil, "✘|3 cores|--connections 6"},
		"the log": {"inserts", filewise.CondHeadroom, filewise.Measure{Deltas: []filewise.Delta{wait(filewise.WaitLog, 3)}}, nil,
			"✘|log 75 %|--commit-every 100"},
		"others' load": {"inserts", filewise.CondHeadroom, filewise.Measure{Deltas: []filewise.Delta{
			{Probe: "cpu", Name: probe.BusyShare, Value: 100}, {Probe: "cpu", Name: probe.OwnShare, Value: 32}}}, nil,
			"✘|CPU 100 % (others' 68 %)|no other work"},
		"idle machine": {"inserts", filewise.CondHeadroom, filewise.Measure{Deltas: cores(2)}, nil, "✔|CPU 40 %"},
		"a look-up": {"scan", filewise.CondDuration, filewise.Measure{Operation: "query 1", Unit: "queries",
			Window: [2]time.Duration{0, time.Millisecond}}, nil, "✘|query 1|"},
		"a short backup": {"backup", filewise.CondDuration, filewise.Measure{Operation: "backup", Unit: "backups"}, nil, "✘|backup 1|--rows"},
	} {
		m := x.measure
		if m.Window == [2]time.Duration{} {
			m.Window = second
		}
		m.Work, m.Connections = 1, 1
		if x.scenario != "backup" {
			m.Connections = 4
		}
		p := Plan{Scenario: x.scenario, Params: workload.Params{Connections: 4, CommitEvery: 1, Rows: 10}, Window: time.Second,
			Layouts: []filewise.Layout{layout}, Baseline: layout.Name, Attempts: 1, MaxBlocks: 5, Confidence: 0.95, Margin: 2}
		if m.Operation != "" {
			p.Phases = []string{m.Operation}
		}
		tr := filewise.Trial{State: filewise.Done, Cell: filewise.Cell{Pilot: true, Layout: layout.Name, Attempt: 1},
			Measures: []filewise.Measure{m},
			Files:    []filewise.File{data("/a", 1<<20)}, Final: x.final}
		c := conditionOf(t, p, []filewise.Trial{tr}, x.condition)
		text := strings.Join([]string{c.Sign(), c.Measured, c.Mend}, "|")
		for _, part := range strings.Split(x.want, "|") {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q, want %q", name, text, part)
			}
		}
	}
}

// What selects read is no size of rows that were committed.
func TestSelectsCommitNothing(t *testing.T) {
	measure := func(bytes, log, data float64) filewise.Measure {
		return filewise.Measure{Bytes: bytes, Window: [2]time.Duration{0, time.Second}, Work: 1, Deltas: []filewise.Delta{
			delta(filewise.ProbeWritten, filewise.WrittenLog, log)}, Rest: &filewise.Rest{Written: map[string]float64{filewise.WrittenData: data}}}
	}
	l := filewise.Layout{Name: "1 file"}
	p := Plan{Scenario: "dml", Layouts: []filewise.Layout{l}, Baseline: l.Name, Attempts: 1, MaxBlocks: 5, Confidence: 0.95, Margin: 2}
	for data, want := range map[float64]string{100_000: "✔", 50_000: "✘"} {
		tr := filewise.Trial{State: filewise.Done, Cell: filewise.Cell{Pilot: true, Layout: l.Name, Attempt: 1},
			Measures: []filewise.Measure{measure(64_000, 200_000, data), measure(1_280_000, 0, 8)}}
		if c := conditionOf(t, p, []filewise.Trial{tr}, filewise.CondWrites); c.Sign() != want {
			t.Errorf("%.0f bytes: %+v, want %s", data, c, want)
		}
	}
}

// A layout that the CPU limits is as fast as files can make it, and shards have a log each. The sentence on what the run
// tests agrees with the condition.
func TestHeadroomIsTheSlowestLayouts(t *testing.T) {
	layouts := []filewise.Layout{{Name: "1", Kind: filewise.KindShards}, {Name: "2", Kind: filewise.KindShards}}
	p := Plan{Scenario: "inserts", Layouts: layouts, Baseline: "1", Attempts: 1, MaxBlocks: 5, Confidence: 0.95, Margin: 2}
	trial := func(layout string, busy float64) filewise.Trial {
		return filewise.Trial{State: filewise.Done, Cell: filewise.Cell{Pilot: true, Layout: layout, Attempt: 1}, Measures: []filewise.Measure{{
			Window: [2]time.Duration{0, time.Second}, Connections: 4, Work: 1, Deltas: []filewise.Delta{
				{Probe: "cpu", Name: probe.BusyShare, Value: busy}, {Probe: filewise.ProbeWaits, Unit: "s", Value: 3, Class: filewise.WaitLog}}}}}
	}
	c := conditionOf(t, p, []filewise.Trial{trial("1", 40), trial("2", 97)}, filewise.CondHeadroom)
	about := func(trials ...filewise.Trial) string { return p.standing(trials).relevance().Sentence }
	if said := about(trial("1", 40), trial("2", 97)); c.Sign() != "✔" || c.Measured != "CPU 40 to 97 % by layout" ||
		!strings.HasSuffix(said, "lock and log.") {
		t.Error(c, said)
	}
	c = conditionOf(t, p, []filewise.Trial{trial("1", 90), trial("2", 97)}, filewise.CondHeadroom)
	if said := about(trial("1", 90), trial("2", 97)); c.Sign() != "✘" ||
		!strings.HasSuffix(said, "only in part: with every layout the CPU was at least 90 % busy.") {
		t.Error(c, said)
	}
}

// Before anything is spent, sizes and connections are known, and all else is open.
func TestForeseenConditions(t *testing.T) {
	p := Plan{Scenario: "inserts", Params: workload.Params{Connections: 4},
		Layouts: []filewise.Layout{{Name: "2", Data: filewise.Spread{Files: 2, Bytes: 64 << 20}}}}
	signs := func(h Host) string {
		var out []string
		for _, c := range p.Foreseen(h) {
			out = append(out, string(c.Name)+c.Sign())
		}
		return strings.Join(out, " ")
	}
	if got := signs(Host{Cores: 4}); got != "reach? writes? contention✘ headroom?" {
		t.Error(got)
	}
	p.Scenario, p.Params.Connections = "orders", 8
	if got := signs(Host{Cores: 4, Memory: 16 << 20}); got != "reach? writes? reads✔ headroom?" {
		t.Error(got)
	}
	p.Target.Memory = 32 << 20
	if got := signs(Host{Cores: 4, Memory: 16 << 20}); got != "reach? writes? reads✘ headroom?" {
		t.Error(got)
	}
	p.Target.Database = "shop" // of a size that is not the scenario's
	if got := signs(Host{Cores: 4, Memory: 16 << 20}); got != "reach? writes? reads? headroom?" {
		t.Error(got)
	}
}

// A drain is about data files only as far as these were written in it.
func TestDrainsCountByWhatTheyWrite(t *testing.T) {
	for name, x := range map[string]struct {
		written map[string]float64
		want    map[string]float64
	}{
		"half data, half log": {map[string]float64{filewise.WrittenData: 1, filewise.WrittenLog: 1},
			map[string]float64{cause.SpentLog: 0.5, cause.SpentData: 0.25, cause.SpentOther: 0.25}},
		"the log alone": {map[string]float64{filewise.WrittenLog: 1}, map[string]float64{cause.SpentLog: 0.5, cause.SpentOther: 0.5}},
		"not counted":   {nil, map[string]float64{cause.SpentLog: 0.5, cause.SpentUnknown: 0.5}},
	} {
		m := filewise.Measure{Connections: 2, Window: [2]time.Duration{0, time.Second}, Sync: 1100 * time.Millisecond,
			Rest: &filewise.Rest{Empty: 100 * time.Millisecond, Written: x.written}, Deltas: []filewise.Delta{
				{Probe: filewise.ProbeWaits, Name: "log", Unit: "s", Value: 2, Class: filewise.WaitLog}}}
		r, _ := cause.Where([]filewise.Trial{{Measures: []filewise.Measure{m}}}, cause.SpentData)
		for _, s := range r.Shares {
			if d := s.Part - x.want[s.On]; d > 1e-9 || d < -1e-9 {
				t.Errorf("%s: %s %.2f, want %.2f", name, s.On, s.Part, x.want[s.On])
			}
		}
	}
}
