package drive

import (
	"context"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
)

// Latencies from below a microsecond to days come back from the stored form with
// three digits, and none is lost.
func TestHistRoundTrip(t *testing.T) {
	clock := newVirtual()
	latencies := []time.Duration{300, time.Microsecond, 1234 * time.Microsecond, time.Second, time.Second + ms,
		9 * time.Second, 25 * time.Second, 3 * time.Hour, 50 * time.Hour}
	next := 0
	session := doFunc(func(_ context.Context, _, n int64) (int64, error) {
		clock.advance(latencies[next])
		next++
		return n, nil
	})
	res, err := Run(t.Context(), Load{Sessions: []filewise.Session{session}, Clock: clock, Chunk: 1,
		Ops: []int64{int64(len(latencies))}, SliceLength: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	h, err := DecodeHist(res.Measure.Hist)
	if err != nil {
		t.Fatal(err)
	}
	if h.TotalCount() != int64(len(latencies)) {
		t.Errorf("%d latencies of %d", h.TotalCount(), len(latencies))
	}
	var got []int64
	for value, count := range h.ForEachBucket {
		for range count {
			got = append(got, value)
		}
	}
	for i, want := range latencies {
		us := float64(max(want, time.Microsecond)) / float64(time.Microsecond)
		if i >= len(got) || float64(got[i]) < us*0.999 || float64(got[i]) > us*1.001+1 {
			t.Errorf("latency %d is %v µs, want %.0f", i, got, us)
			break
		}
	}
}

func TestDecodeHistRefusesRubbish(t *testing.T) {
	for _, b := range [][]byte{nil, {}, {1, 2, 3}, make([]byte, 100)} {
		if _, err := DecodeHist(b); filewise.CodeOf(err) != filewise.CodeStore {
			t.Errorf("%v: no error", b)
		}
	}
}

// The histograms of several workers are merged.
func TestHistOfAllWorkers(t *testing.T) {
	all := sessions(5, func(int) filewise.Session { return &counting{} })
	res, err := Run(t.Context(), Load{Sessions: all, Chunk: 1, Ops: []int64{10, 20, 30, 40, 0}})
	if err != nil {
		t.Fatal(err)
	}
	h, err := DecodeHist(res.Measure.Hist)
	if err != nil || h.TotalCount() != 100 {
		t.Errorf("%d latencies of 100 (%v)", h.TotalCount(), err)
	}
}

func TestMergeHists(t *testing.T) {
	encoded := func(us ...int64) []byte {
		h := hdr.New(1, histMax, histDigits)
		for _, x := range us {
			if err := h.RecordValue(x); err != nil {
				t.Fatal(err)
			}
		}
		b, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b, err := MergeHists(encoded(10, 20), nil, encoded(30, 5_000_000))
	if err != nil {
		t.Fatal(err)
	}
	h, err := DecodeHist(b)
	if err != nil || h.TotalCount() != 4 || h.Min() != 10 || h.Max() < 4_990_000 {
		t.Errorf("%v: %d calls from %d to %d µs; want 4 from 10 to 5,000,000", err, h.TotalCount(), h.Min(), h.Max())
	}
	if b, err := MergeHists(nil, nil); b != nil || err != nil {
		t.Errorf("of nothing: %v, %v", b, err)
	}
	if _, err := MergeHists(encoded(1), []byte("none")); err == nil {
		t.Error("what is no histogram is accepted")
	}
}
