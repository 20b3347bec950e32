package enginetest

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/experiment"
)

// testLoad has many connections work a little at the same time, as an experiment does. FILEWISE_LOAD replaces the
// subject's number of connections.
func testLoad(t *testing.T, s Subject) {
	if s.Load == 0 {
		t.Skip("many connections are NOT tested: the subject asks for none")
	}
	connections := s.Load
	if text := os.Getenv("FILEWISE_LOAD"); text != "" {
		var err error
		connections, err = strconv.Atoi(text)
		fatal(t, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	fatal(t, experiment.FitsOpenFiles(connections))
	b := newBench(t, s)
	p := params()
	p.Connections = connections
	w := b.workload(p)
	db := b.build(b.layout(4), w)
	start := time.Now()
	sessions, err := experiment.Connect(ctx, db, 0, connections)
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
	connected := time.Since(start)
	ops := make([]int64, connections)
	for i := range ops {
		ops[i] = 12
	}
	result, err := drive.Run(ctx, drive.Load{Sessions: sessions, Ops: ops, Chunk: db.Chunk, Multiple: int64(p.CommitEvery),
		Retry: w.Program().Retry, Seed: seed(t)})
	if err != nil {
		t.Errorf("%v, after failures %v", err, result.Measure.Errors)
	}
	start = time.Now()
	fatal(t, experiment.CloseAll(sessions))
	t.Logf("%d connections: opened in %v, %d operations in %v, closed in %v, failures %v", connections, connected.Round(time.Millisecond),
		result.Ledger.Total(), result.Measure.Window[1].Round(time.Millisecond), time.Since(start).Round(time.Millisecond), result.Measure.Errors)
	if want := int64(12 * connections); result.Ledger.Total() != want {
		t.Errorf("%d operations were committed, expected %d", result.Ledger.Total(), want)
	}
	fatal(t, db.Settle(ctx))
	b.check(db, w, result.Ledger)
}

// testRefusals checks that Statements and Build refuse what is not possible, and leave nothing behind.
func testRefusals(t *testing.T, s Subject) {
	b := newBench(t, s)
	for _, c := range []struct {
		name        string
		layout      func(*filewise.Layout)
		program     func(*filewise.Program)
		unsupported bool
	}{
		{"an unknown kind", func(l *filewise.Layout) { l.Kind = "heap" }, nil, true},
		{"an unknown workload", nil, func(p *filewise.Program) { p.Workload = "knitting" }, true},
		{"no file", func(l *filewise.Layout) { l.Data.Files = 0 }, nil, false},
		{"a negative number of files", func(l *filewise.Layout) { l.Data.Files = -3 }, nil, false},
		{"no space for a page", func(l *filewise.Layout) { l.Data.Files, l.Data.Bytes = 16, 16*512 }, nil, false},
		{"no connection", nil, func(p *filewise.Program) { p.Phases[0].Connections = 0 }, false},
		{"no row in a transaction", nil, func(p *filewise.Program) { p.Phases[0].CommitEvery = 0 }, false},
	} {
		l, p := b.layout(2), b.workload(params()).Program()
		if c.layout != nil {
			c.layout(&l)
		}
		if c.program != nil {
			c.program(&p)
		}
		b.leftAsIs(c.name, func() {
			scripted, err := b.tried(context.Background(), l, p)
			if scripted == nil || err == nil {
				t.Errorf("%s: Statements returns %v, Build returns %v", c.name, scripted, err)
			}
			if c.unsupported && (!errors.Is(scripted, filewise.ErrUnsupported) || !errors.Is(err, filewise.ErrUnsupported)) {
				t.Errorf("%s: %v and %v do not wrap ErrUnsupported", c.name, scripted, err)
			}
		})
	}
}

// tried returns the errors of a script and of a build, which is dropped if it came about.
func (b *bench) tried(ctx context.Context, l filewise.Layout, p filewise.Program) (scripted, built error) {
	_, scripted = b.s.Engine.Statements(b.target, l, p)
	db, built := b.server.Build(ctx, l, p)
	if built == nil {
		fatal(b.t, db.Drop(context.Background()))
	}
	return scripted, built
}

// testCancelledBuild checks that a build leaves nothing if its context has ended.
func testCancelledBuild(t *testing.T, s Subject) {
	b := newBench(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b.leftAsIs("a build that was given up", func() {
		if _, err := b.tried(ctx, b.layout(4), b.workload(params()).Program()); !errors.Is(err, context.Canceled) {
			t.Errorf("building with an ended context: %v", err)
		}
	})
}
