package scratch

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A volume that does not answer holds up no sweep: it is kept and named, and what is on others is removed.
func TestSilentVolume(t *testing.T) {
	r, hangs, answers := &Registry{dir: t.TempDir()}, t.TempDir(), t.TempDir()
	dead := func(volume string) entry {
		e, err := newEntry(volume, "killed")
		if err != nil {
			t.Fatal(err)
		}
		e.Owner.Start++ // another process had the number
		if err := r.write(e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	silent, other := dead(hangs), dead(answers)
	forever := make(chan struct{})
	r.ask = func(e entry) {
		if e.Volume == silent.Volume {
			<-forever
		}
	}
	t.Cleanup(func() { close(forever) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	left, err := r.Sweep(ctx)
	if err != nil || len(left) != 2 {
		t.Fatalf("%+v, %v", left, err)
	}
	for _, l := range left {
		switch l.ID {
		case silent.ID:
			if l.Removed || !strings.Contains(l.Kept, "does not answer") || l.Path == "" {
				t.Errorf("silent: %+v", l)
			}
		case other.ID:
			if !l.Removed {
				t.Errorf("other: %+v", l)
			}
		}
	}
}
