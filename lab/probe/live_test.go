package probe

import (
	"context"
	"testing"
	"time"

	"filewise"
)

// counting is a probe whose counter counts its reads.
type counting struct {
	reads   int
	reading chan struct{} // closed to let a read go on. Nil means at once
}

func (*counting) Name() string { return "counting" }

func (c *counting) Read(ctx context.Context) ([]filewise.Counter, error) {
	c.reads++
	if c.reading != nil {
		<-c.reading
	}
	return []filewise.Counter{{Name: "reads", Unit: "reads", Value: float64(c.reads)}}, nil
}

func TestLive(t *testing.T) {
	c := &counting{}
	l := NewLive(NewSet(c), 0)
	look := func() ([]filewise.Delta, bool) {
		d, _, ok := l.Deltas(t.Context())
		return d, ok
	}
	if _, ok := look(); ok || c.reads != 0 {
		t.Errorf("before the window: %v, %d reads", ok, c.reads)
	}
	l.Edge(t.Context())
	for range 10 { // one look a second at most
		if d, ok := look(); !ok || len(d) != 1 || d[0].Value != 1 {
			t.Fatalf("in the window: %v %v", d, ok)
		}
	}
	if c.reads != 2 {
		t.Errorf("%d reads for the start and ten looks at once, want 2", c.reads)
	}
	l.looked, l.took = l.looked.Add(-lookEvery), 0 // whatever the last one took here
	if d, ok := look(); !ok || d[0].Value != 2 {
		t.Errorf("a second later: %v %v", d, ok)
	}
	l.looked, l.took = l.looked.Add(-lookEvery), time.Second/10
	if d, _ := look(); d[0].Value != 2 {
		t.Errorf("a look that takes a tenth of a second is repeated after one: %v", d)
	}
	l.Edge(t.Context())
	l.looked = time.Time{}
	if d, ok := look(); !ok || d[0].Value != 2 || c.reads != 4 {
		t.Errorf("after the window: %v, %d reads", d, c.reads)
	}
}

// Near the planned end there are no looks: the end's own reading must not wait.
func TestLiveKeepsClearOfTheEnd(t *testing.T) {
	c := &counting{}
	l := NewLive(NewSet(c), lookClear/2)
	l.Edge(t.Context())
	if _, _, ok := l.Deltas(t.Context()); ok || c.reads != 1 {
		t.Errorf("looked %v before the end", lookClear/2)
	}
}

// Two looks at once: the second does not wait for a probe that hangs.
func TestLiveNeverQueues(t *testing.T) {
	c := &counting{}
	l := NewLive(NewSet(c), 0)
	l.Edge(t.Context())
	c.reading = make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.Deltas(context.Background())
	}()
	for l.mu.TryLock() { // until the look has begun
		l.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	if _, _, ok := l.Deltas(t.Context()); ok {
		t.Error("the second look has an answer")
	}
	close(c.reading)
	<-ended
	l.Close()
	if d, _, ok := l.Deltas(t.Context()); !ok || len(d) != 1 {
		t.Errorf("the last look is lost: %v", d)
	}
}
