package drive

import (
	"context"
	"sync"
	"testing"
	"time"

	"filewise"
)

// virtual is a clock that only moves when a test moves it.
type virtual struct {
	mu  sync.Mutex
	now time.Time
}

func newVirtual() *virtual {
	return &virtual{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
}

func (v *virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

func (v *virtual) advance(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = v.now.Add(d)
}

func (v *virtual) Sleep(_ context.Context, d time.Duration) error {
	v.advance(d)
	return nil
}

// doFunc is a session made of a function.
type doFunc func(ctx context.Context, first, n int64) (int64, error)

func (f doFunc) Do(ctx context.Context, first, n int64) (int64, error) { return f(ctx, first, n) }
func (doFunc) Close() error                                            { return nil }

// each is a session whose operations take d each, in virtual time.
func (v *virtual) each(d time.Duration) filewise.Session {
	return doFunc(func(_ context.Context, _, n int64) (int64, error) {
		v.advance(time.Duration(n) * d)
		return n, nil
	})
}

// counting is a trivial session that keeps its own account.
type counting struct {
	next, calls int64
	gaps        int64 // calls that did not begin at the last one's end
}

func (c *counting) Do(_ context.Context, first, n int64) (int64, error) {
	if first != c.next {
		c.gaps++
	}
	c.next = first + n
	c.calls++
	return n, nil
}

func (*counting) Close() error { return nil }

func sessions(n int, make func(i int) filewise.Session) []filewise.Session {
	all := []filewise.Session{}
	for i := range n {
		all = append(all, make(i))
	}
	return all
}

func sum(ns []int64) int64 {
	var t int64
	for _, n := range ns {
		t += n
	}
	return t
}

// within10s fails a test that hangs, instead of the whole test binary.
func within10s(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the run did not end within 10 s")
	}
}

const ms = time.Millisecond
