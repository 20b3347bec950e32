package experiment

import (
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/probe"
	"filewise/lab/workload"
)

const gib = 1 << 30

// counted makes a plan of one layout and three trials that counted this, with files
// of so many bytes.
func withCounters(bytes int64, deltas ...filewise.Delta) (Plan, []filewise.Trial) {
	p := Plan{Window: 2 * time.Second, Layouts: []filewise.Layout{{Name: "1 file", Data: filewise.Spread{Files: 1}}}}
	var trials []filewise.Trial
	for b := 1; b <= 3; b++ {
		trials = append(trials, filewise.Trial{State: filewise.Done, Cell: filewise.Cell{Block: b, Layout: "1 file", Attempt: 1},
			Final: []filewise.File{{Role: filewise.RoleData, Path: "/v/a", Bytes: bytes},
				{Role: filewise.RoleLog, Path: "/v/log", Bytes: 100 * gib}},
			Measures: []filewise.Measure{{Operation: "inserts", Work: 1, Window: [2]time.Duration{0, 2 * time.Second}, Deltas: deltas}}})
	}
	return p, trials
}

func delta(probe, name string, v float64) filewise.Delta {
	return filewise.Delta{Probe: probe, Name: name, Value: v}
}

func TestFitsInMemory(t *testing.T) {
	memory := delta(probe.ProbeMemory, probe.MemoryTotal, 16*gib)
	own := delta(filewise.ProbeServerMemory, filewise.MemoryTotal, 2*gib)
	for name, x := range map[string]struct {
		bytes  int64
		deltas []filewise.Delta
		want   string
	}{
		"fits": {4 * gib, []filewise.Delta{memory, delta(filewise.ProbeServer, "bytes read from storage", 100)},
			"the data (4.0 GiB) fit into memory (16 GiB)"},
		"fits, and nobody counted reads": {4 * gib, []filewise.Delta{memory}, "fit into memory"},
		"fits, but is read cold":         {4 * gib, []filewise.Delta{memory, delta(filewise.ProbeServer, "bytes read from storage", gib)}, ""},
		"the device tells it":            {4 * gib, []filewise.Delta{memory, delta("disk", "sda bytes read", gib)}, ""},
		"a little, and a little is read": {6 << 20, []filewise.Delta{memory, delta(filewise.ProbeServer, "bytes read from storage", 700<<10)},
			"(6.0 MiB)"},
		"a little, and all is read": {6 << 20, []filewise.Delta{memory, delta(filewise.ProbeServer, "bytes read from storage", 6<<20)}, ""},
		"does not fit":              {17 * gib, []filewise.Delta{memory}, ""},
		"memory of another host":    {4 * gib, []filewise.Delta{memory, own}, ""},
		"as the server has it":      {gib, []filewise.Delta{delta(probe.ProbeMemory, probe.MemoryTotal, 1<<20), own}, "(2.0 GiB)"},
		"read by the server":        {gib, []filewise.Delta{own, delta(filewise.ProbeFiles, filewise.FileBytesRead, gib)}, ""},
		"a disk of the client":      {gib, []filewise.Delta{own, delta("disk", "sda bytes read", gib)}, "(2.0 GiB)"},
		"memory of the client's":    {4 * gib, []filewise.Delta{delta("client memory", probe.MemoryTotal, 16*gib)}, ""},
	} {
		s := first(withCounters(x.bytes, x.deltas...))
		got := s.fitsInMemory(s.counted(s.last))
		if x.want == "" && got != "" || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
		s.plan.Params.Cache = workload.CacheWarm // as the condition reads has it
		if warm := s.fitsInMemory(s.counted(s.last)); warm != got {
			t.Errorf("%s, warm: %q, want %q", name, warm, got)
		}
		s.plan.Params.Cache = string(filewise.CacheStorageCold)
		if cold := s.fitsInMemory(s.counted(s.last)); cold != "" {
			t.Errorf("%s, cold: %q", name, cold)
		}
	}
}

func TestBeforeCheckpoint(t *testing.T) {
	cycles := func(n float64) filewise.Delta {
		return delta(filewise.ProbeCheckpoints, filewise.CheckpointCycles, n)
	}
	log, calls := delta(filewise.ProbeWritten, filewise.WrittenLog, 5<<20), delta(filewise.ProbeWritten, filewise.WrittenCalls, 5<<20)
	for name, x := range map[string]struct {
		deltas []filewise.Delta
		want   string
	}{
		"a quarter of one": {[]filewise.Delta{cycles(0.25), log}, "before a checkpoint (0.25 of its cycle)"},
		"none":             {[]filewise.Delta{cycles(0), calls}, "(0 of its cycle)"},
		"one":              {[]filewise.Delta{cycles(1), log}, ""},
		"nothing written":  {[]filewise.Delta{cycles(0), delta(filewise.ProbeWritten, filewise.WrittenLog, 100), calls}, ""},
		"not counted":      {[]filewise.Delta{log}, ""},
	} {
		s := first(withCounters(gib, x.deltas...))
		got, cycle := s.beforeCheckpoint(s.counted(s.last))
		if x.want == "" && got != "" || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
		if name == "a quarter of one" && cycle != 8*time.Second {
			t.Errorf("%s: a cycle takes %v, want 8s", name, cycle)
		}
	}
}

func TestRemoteWarning(t *testing.T) {
	p, trials := withCounters(gib)
	for host, want := range map[string]bool{"db1": true, "192.0.2.7": true, "localhost": false, "127.0.0.1": false, "/run/mysqld": false} {
		p.Target = filewise.Target{Mode: filewise.External, Address: &filewise.Address{Host: host}}
		got := messages(p.standing(trials).remoteWarning())
		if want != strings.Contains(got, "remote-client") || want && !strings.Contains(got, host) {
			t.Errorf("%s: %q", host, got)
		}
		if got := p.standing(nil).remoteWarning(); got != nil {
			t.Errorf("%s, before anything was measured: %v", host, got)
		}
	}
	p.Target = filewise.Target{Mode: filewise.Managed}
	if got := p.standing(trials).remoteWarning(); got != nil {
		t.Errorf("a managed server: %v", got)
	}
}
