package experiment_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
)

// gate is a server that refuses connections from one on, and counts.
type gate struct {
	allows      int64
	err         error
	open, most  atomic.Int64 // open connections; handshakes at the same time at most
	handshaking atomic.Int64
	begin       chan struct{}
	once        sync.Once
	workers     sync.Map
}

func (g *gate) Connect(_ context.Context, _, worker int) (filewise.Session, error) {
	n := g.handshaking.Add(1)
	defer g.handshaking.Add(-1)
	for m := g.most.Load(); n > m && !g.most.CompareAndSwap(m, n); m = g.most.Load() {
	}
	if g.begin != nil {
		if n == 16 {
			g.once.Do(func() { close(g.begin) })
		}
		<-g.begin
	}
	if g.open.Add(1) > g.allows {
		g.open.Add(-1)
		return nil, g.err
	}
	g.workers.Store(worker, true)
	return gated{g}, nil
}

type gated struct{ g *gate }

func (gated) Do(_ context.Context, _, n int64) (int64, error) { return n, nil }
func (s gated) Close() error                                  { s.g.open.Add(-1); return nil }

// 2,000 connections open and close 16 at a time.
func TestConnectionsArePaced(t *testing.T) {
	g := &gate{allows: 5000, begin: make(chan struct{})}
	all, err := experiment.Connect(t.Context(), g, 0, 2000)
	if err != nil || len(all) != 2000 || g.open.Load() != 2000 || slices.Contains(all, nil) {
		t.Fatalf("%d connections, %d open, error %v", len(all), g.open.Load(), err)
	}
	if n := g.most.Load(); n != 16 {
		t.Errorf("%d handshakes at the same time", n)
	}
	for w := range 2000 {
		if _, ok := g.workers.Load(w); !ok {
			t.Errorf("worker %d has no connection", w)
		}
	}
	if err := experiment.CloseAll(all); err != nil || g.open.Load() != 0 {
		t.Errorf("%d are open after closing all: %v", g.open.Load(), err)
	}
}

// When a limit is reached, the error reports which and what to do, and no connection stays open.
func TestRefusedConnection(t *testing.T) {
	for _, c := range []struct {
		err    error
		remedy string
	}{
		{errors.New("Error 1040: Too many connections"), "max_connections"},
		{fmt.Errorf("socket: %w", syscall.EMFILE), "ulimit -n"},
		{filewise.Errorf(filewise.CodePreflight, "ask the DBA", "no more"), "ask the DBA"},
	} {
		g := &gate{allows: 100, err: c.err}
		all, err := experiment.Connect(t.Context(), g, 0, 600)
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), "of 600 connections open") ||
			!strings.Contains(filewise.RemedyOf(err), c.remedy) {
			t.Errorf("error %v; %s", err, filewise.RemedyOf(err))
		}
		if all != nil || g.open.Load() != 0 {
			t.Errorf("%d connections stay open", g.open.Load())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := &gate{allows: 100}
	if _, err := experiment.Connect(ctx, g, 0, 60); !errors.Is(err, context.Canceled) || g.open.Load() != 0 {
		t.Errorf("with an ended context: %v, %d open", err, g.open.Load())
	}
}

// More connections than open files are refused before anything is built.
func TestOpenFilesAreLimited(t *testing.T) {
	if err := experiment.FitsOpenFiles(1 << 40); filewise.CodeOf(err) != filewise.CodePreflight ||
		!strings.Contains(filewise.RemedyOf(err), "ulimit -n") {
		t.Errorf("a trillion connections: %v; %s", err, filewise.RemedyOf(err))
	}
	if err := experiment.FitsOpenFiles(1); err != nil {
		t.Error(err)
	}
	w := newWorld(t, []int{1, 4}, fake.Config{})
	w.plan.Target.Mode = filewise.Managed
	w.runner.Plan, w.runner.Workload = w.plan, crowd{w.runner.Workload}
	if _, _, err := w.runner.Run(t.Context(), nil); filewise.CodeOf(err) != filewise.CodePreflight || w.engine.Builds() != 0 {
		t.Errorf("a run with a trillion connections: %v, %d builds", err, w.engine.Builds())
	}
}

// crowd is a workload of more connections than any system bears.
type crowd struct{ filewise.Workload }

func (c crowd) Program() filewise.Program {
	p := c.Workload.Program()
	p.Phases[0].Connections = 1 << 40
	return p
}

func deadlocks(times int) fake.Config {
	return fake.Config{Seed: 1, Faults: []fake.Fault{{Layout: "4 files", Stage: filewise.StageMeasure, After: 100, Times: times,
		Err: &filewise.Classed{Class: filewise.ClassDeadlock, Err: errors.New("Deadlock found")}}}}
}

// Deadlocks are tried again if the workload allows it; the trial counts them, and reports that there were any.
func TestDeadlocksAreTriedAgainAndSaid(t *testing.T) {
	w := newWorld(t, []int{1, 4}, deadlocks(7))
	w.plan.MaxBlocks = 3
	trials, _ := w.run(t)
	total, said := int64(0), 0
	for _, tr := range trials {
		if tr.State != filewise.Done {
			t.Errorf("%+v failed: %s", tr.Cell, tr.Reason)
		}
		for _, m := range tr.Measures {
			total += m.Errors[filewise.ClassDeadlock]
		}
		for _, x := range tr.Warnings {
			if x.Code == "retried" && strings.Contains(x.Message, "7 × deadlock") {
				said++
			}
		}
	}
	if total != 7 || said != 1 {
		t.Errorf("%d deadlocks of 7 are counted, and said in %d trials", total, said)
	}
}

// What the workload does not let be tried again fails the trial with its class.
func TestOtherClassesFailTheTrial(t *testing.T) {
	truth := deadlocks(1)
	truth.Faults[0].Err = &filewise.Classed{Class: filewise.ClassLockTimeout, Err: errors.New("Lock wait timeout exceeded")}
	w := newWorld(t, []int{1, 4}, truth)
	w.plan.MaxBlocks = 3
	trials, _ := w.run(t)
	var reasons []string
	for _, tr := range trials {
		if tr.State == filewise.Failed {
			reasons = append(reasons, tr.Reason)
		}
	}
	if len(reasons) != 1 || !strings.Contains(reasons[0], "(lock timeout)") {
		t.Errorf("failed trials: %q", reasons)
	}
}
