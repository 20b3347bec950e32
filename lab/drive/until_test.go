package drive

import (
	"context"
	"testing"
	"time"

	"filewise"
)

// An open loop that is ended from outside has the window up to then; what had
// arrived and found no worker is in its latencies.
func TestUntil(t *testing.T) {
	clock, until := newVirtual(), make(chan struct{})
	calls := 0
	slow := doFunc(func(ctx context.Context, _, n int64) (int64, error) {
		clock.advance(100 * ms) // in which ten arrive
		if calls++; calls == 5 {
			close(until)
			<-ctx.Value(haltedKey{}).(func() <-chan struct{})()
		}
		return n, nil
	})
	var live Live
	ctx := context.WithValue(t.Context(), haltedKey{}, func() <-chan struct{} { return live.run.Load().halted })
	res, err := Run(ctx, Load{Sessions: []filewise.Session{slow}, Clock: clock, Chunk: 1, Rate: 100, Arrivals: Uniform,
		Window: time.Hour, SliceLength: time.Second, Until: until, Live: &live})
	if err != nil {
		t.Fatal(err)
	}
	if w := res.Measure.Window; res.Ledger.Total() != 5 || w[0] != 0 || w[1] != 500*ms {
		t.Errorf("%d operations in %v, want 5 in 500 ms", res.Ledger.Total(), w)
	}
	if h, err := DecodeHist(res.Measure.Hist); err != nil || h.TotalCount() != 50 || res.Unserved != 45 {
		t.Errorf("%d latencies, %d unserved, want 50 and 45 (%v)", h.TotalCount(), res.Unserved, err)
	}
}

// haltedKey is the context key that marks a session's run as halted.
type haltedKey struct{}

// What is ended before it has begun has done nothing.
func TestUntilAtOnce(t *testing.T) {
	until := make(chan struct{})
	close(until)
	begun := make(chan struct{}, 1)
	s := doFunc(func(_ context.Context, _, n int64) (int64, error) { begun <- struct{}{}; <-begun; return n, nil })
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{s}, Chunk: 1, Rate: 1, Window: time.Hour, SliceLength: time.Minute,
		Until: until})
	if err != nil || res.Measure.Window[1] > time.Minute {
		t.Errorf("window %v: %v", res.Measure.Window, err)
	}
}
