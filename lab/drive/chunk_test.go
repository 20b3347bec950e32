package drive

import (
	"context"
	"testing"
	"time"

	"filewise"
)

func TestNextChunk(t *testing.T) {
	tests := []struct {
		name     string
		n        int64
		took     time.Duration
		multiple int64
		want     int64
	}{
		{"in range stays", 500, 100 * ms, 1, 500},
		{"at the low end stays", 500, 50 * ms, 1, 500},
		{"at the high end stays", 500, 200 * ms, 1, 500},
		{"too short grows to the target", 500, 40 * ms, 1, 1250},
		{"growth is limited", 1, time.Microsecond, 1, 4},
		{"too long shrinks at once", 10_000, 10 * time.Second, 1, 100},
		{"never below one", 1, time.Hour, 1, 1},
		{"multiples", 100, 30 * ms, 64, 320},
		{"never below one multiple", 100, time.Hour, 100, 100},
		{"no time passed", 100, 0, 1, 400},
		{"never without bound", chunkMax, 0, 1, chunkMax},
		{"a transaction larger than the bound", 2 * chunkMax, 0, 2 * chunkMax, 2 * chunkMax},
	}
	for _, tt := range tests {
		if got := nextChunk(tt.n, tt.took, tt.multiple); got != tt.want {
			t.Errorf("%s: %d operations, want %d", tt.name, got, tt.want)
		}
	}
}

// After a few calls every call takes 50–200 ms, also when the server turns slow
// in the middle; the work within the window is exact although calls are long.
func TestAdaptiveCalls(t *testing.T) {
	clock := newVirtual()
	start := clock.Now()
	var late []time.Duration
	session := doFunc(func(_ context.Context, _, n int64) (int64, error) {
		if n%10 != 0 {
			t.Errorf("a call of %d operations is no multiple of the transaction", n)
		}
		each := 20 * time.Microsecond
		if clock.Now().Sub(start) > 5*time.Second {
			each = 300 * time.Microsecond
		}
		took := time.Duration(n) * each
		if clock.Now().Sub(start) > time.Second {
			late = append(late, took)
		}
		clock.advance(took)
		return n, nil
	})
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{session}, Clock: clock,
		WarmUp: time.Second, Window: 3 * time.Second, Multiple: 10})
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 / 20e-6; res.Measure.Work < want-1 || res.Measure.Work > want+1 {
		t.Errorf("%.1f operations within the window, want %.0f", res.Measure.Work, want)
	}
	for i, s := range res.Measure.Slices[10:40] {
		if s < 4999 || s > 5001 {
			t.Errorf("slice %d holds %d operations, want 5000", 10+i, s)
		}
	}
	for _, took := range late {
		if took < chunkLow || took > chunkHigh {
			t.Errorf("a call took %v", took)
		}
	}
	if len(late) < 15 {
		t.Errorf("only %d calls", len(late))
	}
}
