package drive

import (
	"context"
	"testing"
	"time"

	"filewise"
)

// typed is a load of two types: operations that take 1 ms, and every third one,
// which takes 10 ms and fails once with a deadlock at operation 2.
func typed(v *virtual) Load {
	failed := false
	session := doFunc(func(_ context.Context, first, n int64) (int64, error) {
		if first%3 != 2 {
			v.advance(ms)
			return n, nil
		}
		v.advance(10 * ms)
		if !failed {
			failed = true
			return 0, deadlock()
		}
		return n, nil
	})
	return Load{
		Sessions: []filewise.Session{session}, Clock: v, Chunk: 1, Retry: []filewise.Class{filewise.ClassDeadlock},
		Types: []string{"short", "long"}, TypeOf: func(_ int, i int64) int { return int(i % 3 / 2) },
	}
}

// Each type has its own work, latencies and failures; together they make up the measure's.
func TestTypes(t *testing.T) {
	v := newVirtual()
	l := typed(v)
	l.Ops = []int64{30}
	res, err := Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	short, long := res.Measure.Types["short"], res.Measure.Types["long"]
	if short.Work != 20 || long.Work != 10 || res.Measure.Work != 30 {
		t.Errorf("work %v and %v of %v", short.Work, long.Work, res.Measure.Work)
	}
	if short.Errors != nil || long.Errors[filewise.ClassDeadlock] != 1 || res.Measure.Errors[filewise.ClassDeadlock] != 1 {
		t.Errorf("failures %v and %v of %v", short.Errors, long.Errors, res.Measure.Errors)
	}
	for name, want := range map[string][2]time.Duration{"short": {ms, ms}, "long": {10 * ms, 20 * ms}} {
		h, err := DecodeHist(res.Measure.Types[name].Hist)
		if err != nil {
			t.Fatal(err)
		}
		at := func(q float64) time.Duration { return time.Duration(h.ValueAtPercentile(q)) * time.Microsecond }
		if d := at(50) - want[0]; d < 0 || d > want[0]/100 {
			t.Errorf("%s: median %v, want %v", name, at(50), want[0])
		}
		if name == "long" && at(100) < want[1] { // the failure and its second try are one operation
			t.Errorf("%s: longest %v, want at least %v", name, at(100), want[1])
		}
	}
}

// A rest between operations takes time and is no part of any latency; no
// operation starts after the window.
func TestPauses(t *testing.T) {
	v := newVirtual()
	l := typed(v)
	l.WarmUp, l.Window = 100*ms, time.Second
	l.Pause = func(_ int, i int64) time.Duration { return time.Duration(i%5) * 10 * ms }
	res, err := Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	// Operations take 4 ms on average, rests 20 ms.
	if res.Measure.Work < 38 || res.Measure.Work > 46 {
		t.Errorf("%v operations in a second, want about 42", res.Measure.Work)
	}
	h, err := DecodeHist(res.Measure.Hist)
	if err != nil {
		t.Fatal(err)
	}
	if h.Max() > 13_000 {
		t.Errorf("a rest is in a latency of %d µs", h.Max())
	}
	if w := res.Measure.Window; w[1]-w[0] != time.Second {
		t.Errorf("window %v", w)
	}
}

func TestTypesNeedCallsOfOne(t *testing.T) {
	v := newVirtual()
	for name, change := range map[string]func(*Load){
		"chunk":        func(l *Load) { l.Chunk = 2 },
		"no function":  func(l *Load) { l.TypeOf = nil },
		"no names":     func(l *Load) { l.Types = nil },
		"open, paused": func(l *Load) { l.Rate, l.Pause = 10, func(int, int64) time.Duration { return 0 } },
	} {
		l := typed(v)
		l.Window = time.Second
		change(&l)
		if _, err := Run(t.Context(), l); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
