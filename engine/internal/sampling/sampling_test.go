package sampling

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"filewise"
)

// A look stands for the time since the one before; what it sees goes on until the
// next, as far as a reading in between can show.
func TestTimesAddUp(t *testing.T) {
	commit, extend := Event{Name: "commit", Class: filewise.WaitLog}, Event{Name: "extend", Class: filewise.WaitAllocation}
	looks := []Seen{{commit: 2}, {extend: 1}, {}}
	s := New(func(context.Context) (Seen, error) {
		if len(looks) == 0 {
			return nil, errors.New("no rights any more")
		}
		defer func() { looks = looks[1:] }()
		return looks[0], nil
	})
	now := time.Now()
	s.now = func() time.Time { return now }
	at := func(since time.Duration) { now = now.Add(since) }
	look := func(since time.Duration) {
		t.Helper()
		if err := s.Sample(t.Context(), since); err != nil {
			t.Fatal(err)
		}
	}
	want := func(step string, inCommit, inExtend float64) {
		t.Helper()
		all, err := s.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, c := range all {
			got[c.Name] = c.Value
		}
		if math.Abs(got["commit"]-inCommit) > 1e-9 || math.Abs(got["extend"]-inExtend) > 1e-9 {
			t.Errorf("%s: %v, want commit %v, extend %v", step, got, inCommit, inExtend)
		}
	}
	want("before the first look", 0, 0)
	look(100 * time.Millisecond)
	want("at a look", 0.2, 0)
	at(40 * time.Millisecond)
	want("before the next", 0.28, 0)
	at(60 * time.Millisecond)
	look(100 * time.Millisecond)
	want("at the next, of which a part is told", 0.28, 0.06)
	at(time.Hour)
	want("long after", 0.28, 0.16)
	look(time.Hour)
	want("at one that sees nobody", 0.28, 0.16)
	if err := s.Sample(t.Context(), time.Second); err == nil {
		t.Fatal("a look without rights is no error")
	}
	if _, err := s.Read(t.Context()); err == nil {
		t.Error("sums with a hole are told")
	}
}
