package oracle

import (
	"context"
	"slices"
	"testing"
	"time"

	"filewise"
	"filewise/lab/workload"
)

// Waits are distinguished by who waits, idle ones are left out, and times have the
// units of the server's.
func TestProbes(t *testing.T) {
	f := newFake()
	f.answers["waits"] = [][]any{
		{"log file sync", "Commit", int64(3), int64(1_500_000), int64(3), int64(1_500_000)},
		{"log file parallel write", "System I/O", int64(4), int64(2_000_000), int64(0), int64(0)},
		{"enq: HW - contention", "Configuration", int64(5), int64(50_000), int64(1), int64(10_000)},
		{"rdbms ipc message", "Idle", int64(9), int64(9), int64(0), int64(0)},
	}
	f.answers["files"] = [][]any{{"/u02/a.dbf", int64(7)}}
	f.answers["file-io"] = [][]any{{int64(7), int64(2), int64(3), int64(4), int64(5), int64(60), nil}}
	w, err := workload.NewInserts(small, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := &build{server: &server{about: about{block: 8192}}, conn: held{client: f},
		design: phasedDesign(t, w.Program(), filewise.IndexesTogether, filewise.DurabilityFull)}
	for _, c := range []struct {
		name string
		read func(context.Context) ([]filewise.Counter, error)
		want []filewise.Counter
	}{
		{filewise.ProbeWaits, b.waits, []filewise.Counter{
			{Name: "log file sync", Unit: "waits", Value: 3, Class: filewise.WaitLog},
			{Name: "log file sync", Unit: "s", Value: 1.5, Class: filewise.WaitLog},
			{Name: "enq: HW - contention", Unit: "waits", Value: 1, Class: filewise.WaitAllocation},
			{Name: "enq: HW - contention", Unit: "s", Value: 0.01, Class: filewise.WaitAllocation}}},
		{filewise.ProbeBackground, b.background, []filewise.Counter{
			{Name: "log file parallel write", Unit: "waits", Value: 4, Class: filewise.WaitLog},
			{Name: "log file parallel write", Unit: "s", Value: 2, Class: filewise.WaitLog},
			{Name: "enq: HW - contention", Unit: "waits", Value: 4, Class: filewise.WaitAllocation},
			{Name: "enq: HW - contention", Unit: "s", Value: 0.04, Class: filewise.WaitAllocation}}},
		{filewise.ProbeFiles, b.fileIO, []filewise.Counter{
			{Name: filewise.FileReads, Unit: "requests", Value: 2, File: "/u02/a.dbf"},
			{Name: filewise.FileWrites, Unit: "requests", Value: 3, File: "/u02/a.dbf"},
			{Name: filewise.FileBytesRead, Unit: "B", Value: 4 * 8192, File: "/u02/a.dbf"},
			{Name: filewise.FileBytes, Unit: "B", Value: 5 * 8192, File: "/u02/a.dbf"},
			{Name: filewise.FileReadTime, Unit: "s", Value: 0.6, File: "/u02/a.dbf"}}},
	} {
		found, err := c.read(t.Context())
		if err != nil || !slices.Equal(found, c.want) {
			t.Errorf("%s, %v:\n%+v\nnot %+v", c.name, err, found, c.want)
		}
	}
}

// From a pluggable database the waits of the server's own processes are not seen: absent,
// not zero.
func TestNoBackgroundInPDB(t *testing.T) {
	d, err := newDesign(serverTarget(), smallfile(1), testProgram(t, small), newNames(false), usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	for container, want := range map[string]bool{"": true, "PDB1": false} {
		b := &build{server: &server{about: about{container: container}}, design: d}
		has := slices.ContainsFunc(b.database().Probes, func(p filewise.Probe) bool { return p.Name() == filewise.ProbeBackground })
		if has != want {
			t.Errorf("container %q: %v", container, has)
		}
	}
}

// What draining took is the writing: not going online, nor going offline with nothing to
// write, nor emptying the cache.
func TestSettleTimesTheWriting(t *testing.T) {
	d, err := newDesign(serverTarget(), smallfile(1), testProgram(t, small), newNames(false), usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	f.add(t, d.names.Tablespace, true, d.names.Tablespace)
	const back = 20 * time.Millisecond
	f.before = func(s statement) {
		if s.section == "online" {
			time.Sleep(back)
		}
	}
	b := &build{server: &server{}, design: d, conn: held{client: f}, markers: f.markers()}
	if b.steps, err = d.steps(markerText); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		start := time.Now()
		if err := b.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took, all := b.wrote, time.Since(start); took < 0 || took > all-back || len(f.unchecked) > 0 {
			t.Errorf("it took %v of %v, of which going online had %v", took, all, back)
		}
	}
	if b.clean = time.Hour; b.Settle(t.Context()) != nil || b.wrote != 0 {
		t.Errorf("what going offline takes of a clean tablespace is no part of the %v", b.wrote)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.before = func(s statement) {
		if s.section == "online" {
			cancel()
		}
	}
	if err := b.Settle(ctx); err != nil || f.tablespaces[d.names.Tablespace].offline {
		t.Errorf("interrupted while it is offline: %v, %+v", err, f.tablespaces[d.names.Tablespace])
	}
	b.wrote = time.Second
	wrote := b.wrote
	if err := b.Cool(t.Context()); err != nil || b.wrote != wrote || len(f.unchecked) > 0 {
		t.Errorf("cooling: %v, and it counts %v, not %v", err, b.wrote, wrote)
	}
	offline, online, err := b.Cycle(t.Context())
	if err != nil || offline <= 0 || online <= 0 || f.tablespaces[d.names.Tablespace].offline {
		t.Errorf("offline %v, online %v, %v", offline, online, err)
	}
	if n := len(f.log); n != 14 {
		t.Errorf("%d statements: %v", n, f.log)
	}
}

// TestParallelPlans: the plan of a scan's query is read by itself.
func TestParallelPlans(t *testing.T) {
	w, err := workload.NewScan(workload.Params{Rows: 1000, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, 7)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	b := &build{conn: held{client: f}, design: phasedDesign(t, w.Program(), "", filewise.DurabilityFull)}
	for phase, want := range []int{0, 0, 0, 1, 0} {
		if n, err := b.parallelWorkers(t.Context(), phase); err != nil || n != want {
			t.Errorf("query %d: %d coordinators, want %d: %v", phase+1, n, want, err)
		}
	}
	if len(f.log) != 5 {
		t.Errorf("%q", f.log)
	}
}
