package drive

import (
	"context"
	"math"
	"testing"
	"time"

	"filewise"
)

func TestLive(t *testing.T) {
	live := &Live{}
	if live.Phase() != PhaseIdle || live.Operations() != 0 || live.Throughput(time.Now()) != 0 {
		t.Errorf("before any run: %v, %d, %v", live.Phase(), live.Operations(), live.Throughput(time.Now()))
	}
	clock := newVirtual()
	each := 10 * ms
	var phases []Phase
	var rates []float64
	session := doFunc(func(_ context.Context, first, n int64) (int64, error) {
		if p := live.Phase(); len(phases) == 0 || phases[len(phases)-1] != p {
			phases = append(phases, p)
		}
		if first == 200 {
			each = 2 * ms // after 2 s it becomes 5 times as fast
		}
		if first%50 == 0 {
			rates = append(rates, live.Throughput(clock.Now()))
		}
		clock.advance(each)
		return n, nil
	})
	_, err := Run(t.Context(), Load{Sessions: []filewise.Session{session}, Clock: clock, Chunk: 1, Live: live,
		WarmUp: time.Second, Window: 4 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(phases) != 2 || phases[0] != PhaseWarmUp || phases[1] != PhaseMeasure || live.Phase() != PhaseOver {
		t.Errorf("phases %v, then %v", phases, live.Phase())
	}
	if rates[0] != 0 || math.Abs(rates[3]-100) > 1 {
		t.Errorf("throughput %v, want 0 and then 100", rates[:4])
	}
	if last := rates[len(rates)-1]; math.Abs(last-500) > 5 {
		t.Errorf("throughput %v at the end, want 500: the last second, not the average", last)
	}
	if live.Operations() != 200+1500 {
		t.Errorf("%d operations, want 1700", live.Operations())
	}
	length, counts := live.Slices(0)
	if sum := total(counts); sum != 1700 || length <= 0 {
		t.Errorf("%d operations in slices of %v, want 1700", sum, length)
	}
	second := int(time.Second / length)
	if _, late := live.Slices(second); total(late) != 1700-total(counts[:second]) || len(late) != len(counts)-second {
		t.Errorf("%d slices after the first second of %d", len(late), len(counts))
	}
}

// The throughput of a run does not include the run before it.
func TestLiveOfNextRun(t *testing.T) {
	clock, live := newVirtual(), &Live{}
	for _, each := range []time.Duration{ms, 10 * ms} {
		var rates []float64
		session := doFunc(func(_ context.Context, first, n int64) (int64, error) {
			if first > 0 {
				rates = append(rates, live.Throughput(clock.Now()))
			}
			clock.advance(each)
			return n, nil
		})
		if _, err := Run(t.Context(), Load{Sessions: []filewise.Session{session}, Clock: clock, Chunk: 1, Live: live,
			WarmUp: time.Second, Window: time.Second}); err != nil {
			t.Fatal(err)
		}
		want := 1 / each.Seconds()
		for i, r := range rates {
			if math.Abs(r-want) > 0.1*want {
				t.Fatalf("operations of %v: throughput %v after %d operations, want %v", each, r, i+1, want)
			}
		}
	}
}

// A display that reads all the time disturbs no worker (run with -race), and one Live serves run after run.
func TestLiveWhileRunning(t *testing.T) {
	live := &Live{}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = live.Started()
				_ = live.Throughput(time.Now())
				_ = live.Phase().String()
			}
		}
	}()
	for range 3 {
		all := sessions(3, func(int) filewise.Session { return &counting{} })
		res, err := Run(t.Context(), Load{Sessions: all, Chunk: 1, WarmUp: 2 * ms, Window: 10 * ms, Live: live})
		if err != nil {
			t.Fatal(err)
		}
		if live.Operations() != res.Ledger.Total() {
			t.Errorf("live says %d, ledger %d", live.Operations(), res.Ledger.Total())
		}
	}
	close(stop)
	<-stopped
}

func total(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
