package oracle

import (
	"context"
	"errors"
	"slices"
	"testing"

	"filewise"
	"filewise/engine/internal/external"
)

// once fails one statement of those that change something, and goes on.
type once struct {
	*fakeServer
	at, count int
	code      int
	failed    string // its section
}

func (o *once) exec(ctx context.Context, s statement) error {
	if o.count++; o.count == o.at {
		o.failed = s.section
		return explain(oracleError(o.code))
	}
	return o.fakeServer.exec(ctx, s)
}

// What a server answers now and then, at any statement of a build's life, from its creation
// to its drop: a resource that is busy, a call that was interrupted, no room, a restore point
// that keeps a file. The run drops what it has made; where that is what failed, clean does.
func TestErrorAnywhere(t *testing.T) {
	ctx := context.Background()
	for _, code := range []int{54, 1013, 1653, 12954, 38881} {
		for _, indexes := range []string{filewise.IndexesTogether, filewise.IndexesApart, "a copy"} {
			l, program := smallfile(3), testProgram(t, small)
			l.Indexes, l.AddedLater = indexes, filewise.LaterRebuilt
			if indexes == "a copy" {
				l.Indexes, l.AddedLater, program = filewise.IndexesTogether, "", copyProgram(t, copyFrom)
			}
			for at := 1; ; at++ {
				d, err := newDesign(serverTarget(), l, program, newNames(indexes == filewise.IndexesApart), usualBlock)
				if err != nil {
					t.Fatal(err)
				}
				f := newFake()
				f.add(t, "USERS", false, "BOB.ACCOUNTS")
				o := &once{fakeServer: f, at: at, code: code}
				b := &build{server: &server{control: o, about: about{account: f.account}}, design: d,
					conn: held{client: o, close: func() error { return nil }}, marks: marks{o, f.account}}
				steps := []func(context.Context) error{b.create, b.Extend, b.Settle}
				if l.AddedLater == "" {
					steps = slices.Delete(steps, 1, 2)
				}
				for _, step := range steps {
					if err = step(ctx); err != nil {
						break
					}
				}
				err = errors.Join(err, b.Drop(ctx))
				if o.failed == "" {
					break // more than there are
				}
				if err == nil {
					t.Errorf("ORA-%05d at %s (statement %d) is not told", code, o.failed, at)
				}
				if len(f.tablespaces) > 1 {
					cleanAll(t, f)
				}
				if len(f.tablespaces) != 1 || f.tablespaces["USERS"].offline || len(f.programs) > 0 || len(f.unchecked) > 0 ||
					len(f.users) > 0 {
					t.Errorf("ORA-%05d at %s (statement %d), indexes %s: left %v %v, altered unchecked %q", code, o.failed, at, indexes, f.tablespaces,
						f.programs, f.unchecked)
				}
			}
		}
	}
}

// cleanAll is what clean does once Filewise has ended.
func cleanAll(t *testing.T, f *fakeServer) {
	t.Helper()
	for name := range f.comments {
		f.died(t, name)
	}
	for range 2 { // an index tablespace may go with its build
		found, err := leftovers(context.Background(), f.marks())
		if err != nil {
			t.Fatal(err)
		}
		for _, left := range found {
			if err := external.Remove(context.Background(), f.marks(), left); err != nil && filewise.CodeOf(err) != filewise.CodeNotFound {
				t.Errorf("clean: %v", err)
			}
		}
	}
}
