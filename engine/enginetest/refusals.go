package enginetest

import (
	"context"
	"errors"
	"testing"

	"filewise"
)

// testRefusals: what cannot be is refused by Script and by Build, with nothing
// left behind.
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
		{"no room for a page", func(l *filewise.Layout) { l.Data.Files, l.Data.Bytes = 16, 16*512 }, nil, false},
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
				t.Errorf("%s: Script says %v, Build says %v", c.name, scripted, err)
			}
			if c.unsupported && (!errors.Is(scripted, filewise.ErrUnsupported) || !errors.Is(err, filewise.ErrUnsupported)) {
				t.Errorf("%s: %v and %v do not wrap ErrUnsupported", c.name, scripted, err)
			}
		})
	}
}

// tried are the errors of a script and of a build, which is dropped where it came about.
func (b *bench) tried(ctx context.Context, l filewise.Layout, p filewise.Program) (scripted, built error) {
	_, scripted = b.s.Engine.Script(b.target, l, p)
	db, built := b.server.Build(ctx, l, p)
	if built == nil {
		fatal(b.t, db.Dropper.Drop(context.Background()))
	}
	return scripted, built
}

// testCancelledBuild: a build whose context has ended leaves nothing.
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
