package sqlserver

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/internal/marker"
)

// A run that is killed before any statement of a build's life, from its creation to its drop,
// leaves what clean finds and removes, and nothing else is touched: of a build of tables, and of one that is
// restored from a backup of theirs.
func TestKilledAnywhere(t *testing.T) {
	l := layout(3)
	l.Indexes = filewise.IndexesApart
	t.Run("restored", func(t *testing.T) {
		killedAnywhere(t, func() *lab { return newCopyLab(t, nil).lab }, l, fromProgram(t, theirBackup))
	})
	l.AddedLater = filewise.LaterRebuilt
	t.Run("tables", func(t *testing.T) {
		killedAnywhere(t, func() *lab {
			lab := newLab(t, nil)
			lab.add(theirs, nil)
			return lab
		}, l, inserts(t, nil).Program())
	})
}

func killedAnywhere(t *testing.T, start func() *lab, l filewise.Layout, p filewise.Program) {
	for at := int64(1); ; at++ {
		lab := start()
		answer := lab.model.fault
		lab.model.databases[theirs].objects = 3
		s, err := Engine{}.Open(t.Context(), lab.target)
		ok(t, err)
		var said atomic.Int64 // from now on
		lab.model.fault = func(ctx context.Context, q Request, r *Reply) (bool, error) {
			if said.Add(1) >= at { // its process is gone: nothing arrives any more
				return true, ErrHangUp
			}
			if answer == nil {
				return false, nil
			}
			return answer(ctx, q, r)
		}
		db, err := s.Build(t.Context(), l, p)
		for _, step := range []func(context.Context) error{
			func(ctx context.Context) error {
				if db.Extend == nil {
					return nil
				}
				return db.Extend(ctx)
			},
			func(ctx context.Context) error { return db.Settle(ctx) },
			func(ctx context.Context) error { return db.Drop(ctx) },
		} {
			if err == nil {
				err = step(t.Context())
			}
		}
		_ = s.Close() // its connections end, and with them what they hold, once the fake has seen that
		for end := time.Now().Add(10 * time.Second); len(lab.wire.Sessions()) > 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		killed := said.Load() >= at
		lab.model.mu.Lock()
		lab.model.fault = answer
		for name, d := range lab.model.databases {
			if d.properties["filewise"] != "" && marker.IsName(name) {
				d.properties["filewise"] = enginetest.DeadMarker(t, name, false)
			}
			d.age = 60
		}
		lab.model.mu.Unlock()
		if !killed {
			if at < 10 || err != nil || len(lab.names()) != 1 {
				t.Errorf("a life has only %d statements, or fails: %v; left %v", at, err, lab.names())
			}
			return
		}
		cleaner := lab.open()
		left, err := cleaner.Leftovers(t.Context())
		ok(t, err)
		for _, x := range left {
			if err := cleaner.Remove(t.Context(), x); err != nil {
				t.Errorf("killed before statement %d: %+v: %v", at, x, err)
			}
		}
		if names := lab.names(); strings.Join(names, " ") != theirs || lab.model.databases[theirs].objects != 3 {
			t.Errorf("killed before statement %d: left %v", at, names)
		}
	}
}
