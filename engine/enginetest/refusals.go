package enginetest

import (
	"context"
	"errors"
	"slices"
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
		{"no connection", nil, func(p *filewise.Program) { p.Connections = 0 }, false},
		{"no row in a transaction", nil, func(p *filewise.Program) { p.CommitEvery = 0 }, false},
	} {
		l, p := b.layout(2), b.workload(params()).Program()
		if c.layout != nil {
			c.layout(&l)
		}
		if c.program != nil {
			c.program(&p)
		}
		before := b.listing()
		_, scripted := s.Engine.Script(b.target, l, p)
		db, err := b.server.Build(context.Background(), l, p)
		if scripted == nil || err == nil {
			t.Errorf("%s: Script says %v, Build says %v", c.name, scripted, err)
		}
		if c.unsupported && (!errors.Is(scripted, filewise.ErrUnsupported) || !errors.Is(err, filewise.ErrUnsupported)) {
			t.Errorf("%s: %v and %v do not wrap ErrUnsupported", c.name, scripted, err)
		}
		if err == nil {
			fatal(t, db.Dropper.Drop(context.Background()))
		}
		if after := b.listing(); !slices.Equal(before, after) {
			t.Errorf("%s leaves something behind: %v", c.name, after)
		}
	}
}

// testCancelledBuild: a build whose context has ended leaves nothing.
func testCancelledBuild(t *testing.T, s Subject) {
	b := newBench(t, s)
	before := b.listing()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	db, err := b.server.Build(ctx, b.layout(4), b.workload(params()).Program())
	if !errors.Is(err, context.Canceled) {
		t.Errorf("building with an ended context: %v", err)
	}
	if err == nil {
		fatal(t, db.Dropper.Drop(context.Background()))
	}
	if after := b.listing(); !slices.Equal(before, after) {
		t.Errorf("something is left behind: %v", after)
	}
}
