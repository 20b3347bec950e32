package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/internal/limit"
	"filewise/internal/maintenance"
	"filewise/lab/experiment"
)

// virtual is a clock that sleeping moves.
type virtual struct{ now time.Time }

func (c *virtual) Now() time.Time { return c.now }
func (c *virtual) Sleep(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	return ctx.Err()
}

func newWatched(t *testing.T, now string, windows ...string) (*watch, *virtual, *[]experiment.Event) {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04", now, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := maintenance.ParseAll(windows)
	if err != nil {
		t.Fatal(err)
	}
	clock, events := &virtual{at}, &[]experiment.Event{}
	return &watch{clock: clock, windows: ws, notify: func(e experiment.Event) { *events = append(*events, e) }}, clock, events
}

// No trial starts outside a window, or that would not end within it; each wait is reported once.
func TestAwaitWindow(t *testing.T) {
	for _, c := range []struct {
		now      string
		expected time.Duration
		starts   string
		why      string
	}{
		{"2026-11-21 23:00", time.Hour, "2026-11-21 23:00", ""},
		{"2026-11-21 23:00", 7 * time.Hour, "2026-11-21 23:00", ""},
		{"2026-11-21 23:01", 7 * time.Hour, "2026-11-22 22:00", "would not end within"},
		{"2026-11-21 12:00", 0, "2026-11-21 22:00", "outside the maintenance window (22:00-06:00)"},
		{"2026-11-21 05:59", 0, "2026-11-21 05:59", ""},
		{"2026-11-21 06:00", 0, "2026-11-21 22:00", "outside"},
	} {
		w, clock, events := newWatched(t, c.now, "22:00-06:00")
		if err := w.await(t.Context(), c.expected); err != nil {
			t.Errorf("%s: %v", c.now, err)
		}
		if got := clock.now.Format("2006-01-02 15:04"); got != c.starts {
			t.Errorf("%s, a trial of %v: starts %s, want %s", c.now, c.expected, got, c.starts)
		}
		if (c.why != "") != (len(*events) == 1) || len(*events) > 0 &&
			(!strings.Contains((*events)[0].Why, c.why) || (*events)[0].Until.Format("15:04") != "22:00") {
			t.Errorf("%s: %+v", c.now, *events)
		}
	}
	w, _, _ := newWatched(t, "2026-11-21 23:00", "22:00-06:00")
	if err := w.await(t.Context(), 9*time.Hour); filewise.CodeOf(err) != filewise.CodeStopped {
		t.Errorf("a trial that fits into no window: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w, _, _ = newWatched(t, "2026-11-21 12:00", "22:00-06:00")
	if err := w.await(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted while it waits: %v", err)
	}
}

// At the end of a window the trial ends and waits for the next; one that had a
// whole window stops the run, for it would never end.
func TestGuardWindow(t *testing.T) {
	w, clock, _ := newWatched(t, "2026-11-21 23:00", "22:00-06:00")
	if err := w.await(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	clock.now = clock.now.Add(7*time.Hour - time.Second)
	if err := w.guard(); err != nil {
		t.Errorf("a second before its end: %v", err)
	}
	clock.now = clock.now.Add(time.Second)
	if err := w.guard(); !errors.Is(err, experiment.ErrPostponed) {
		t.Errorf("at its end: %v", err)
	}
	if err := w.await(t.Context(), 0); err != nil || clock.now.Format("15:04") != "22:00" {
		t.Errorf("it goes on at %v: %v", clock.now, err)
	}
	clock.now = clock.now.Add(8 * time.Hour)
	if err := w.guard(); filewise.CodeOf(err) != filewise.CodeStopped {
		t.Errorf("at the end of a whole window: %v", err)
	}
}

// busy returns planted answers.
type busy struct {
	gauges []filewise.Gauge
	err    error
	asked  int
}

func (b *busy) Activity(context.Context) ([]filewise.Gauge, error) {
	b.asked++
	return b.gauges, b.err
}

func TestGuardLimits(t *testing.T) {
	limits, err := limit.ParseAll([]string{"active>5"})
	if err != nil {
		t.Fatal(err)
	}
	b := &busy{gauges: []filewise.Gauge{{Name: "active", Value: 5}}}
	w, clock, _ := newWatched(t, "2026-11-21 23:00")
	w.limits, w.read = limits, b.Activity
	if err := w.await(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for range 4 { // the guard runs every half second, the server is read every second
		clock.now = clock.now.Add(500 * time.Millisecond)
		if err := w.guard(); err != nil {
			t.Fatal(err)
		}
	}
	if b.asked != 3 {
		t.Errorf("asked %d times in two seconds and before", b.asked)
	}
	b.err = errors.New("connection lost")
	for i := range patience + 1 {
		clock.now = clock.now.Add(time.Second)
		if err := w.guard(); (err != nil) != (i == patience) || err != nil && filewise.CodeOf(err) != filewise.CodeStopped {
			t.Errorf("unread for the %d. time: %v", i+1, err)
		}
	}
	if err := w.await(t.Context(), 0); filewise.CodeOf(err) != filewise.CodeStopped {
		t.Errorf("unread before a trial: %v", err)
	}
	b.err, b.gauges[0].Value = nil, 6
	if err := w.await(t.Context(), 0); filewise.CodeOf(err) != filewise.CodeStopped ||
		!strings.Contains(err.Error(), "active is 6 (limit: active>5)") {
		t.Errorf("over the limit before a trial: %v", err)
	}
}

// After a failed trial the server's lock is taken again, with some patience for a server that restarts; another
// user's is respected at once.
func TestReachAfterFailure(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails int
		err   error
		tries int
		code  filewise.Code
	}{
		{"there", 0, nil, 1, ""},
		{"restarting", 3, errors.New("refused"), 4, ""},
		{"gone", 99, errors.New("refused"), 6, filewise.CodeStopped},
		{"taken", 99, filewise.Errorf(filewise.CodeBusy, "", "taken"), 1, filewise.CodeBusy},
	} {
		w, _, _ := newWatched(t, "2026-11-21 23:00")
		tries := 0
		w.renew = func(context.Context) error {
			if tries++; tries <= c.fails {
				return c.err
			}
			return nil
		}
		w.recorded(filewise.Trial{State: filewise.Done})
		if err := w.await(t.Context(), 0); err != nil || tries != 0 {
			t.Errorf("%s: after a good trial: %v, %d tries", c.name, err, tries)
		}
		w.recorded(filewise.Trial{State: filewise.Failed})
		err := w.await(t.Context(), 0)
		if tries != c.tries || (err == nil) != (c.code == "") || err != nil && filewise.CodeOf(err) != c.code {
			t.Errorf("%s: %v after %d tries", c.name, err, tries)
		}
	}
}

// A trial whose lock was lost does not count; when it is lost in trial after trial,
// the run stops, and at once when another has it. With the server gone the trial
// fails by itself.
func TestLockIsLookedAt(t *testing.T) {
	w, clock, _ := newWatched(t, "2026-11-21 23:00")
	var held, renewed error
	w.held, w.renew = func(context.Context) error { return held }, func(context.Context) error { return renewed }
	if err := errors.Join(w.await(t.Context(), 0), w.guard(), w.ended(t.Context())); err != nil {
		t.Fatal(err)
	}
	held = errors.New("killed")
	if err := w.guard(); err != nil {
		t.Errorf("looked at again at once: %v", err)
	}
	clock.now = clock.now.Add(lookEvery)
	if err := w.guard(); !errors.Is(err, experiment.ErrPostponed) {
		t.Errorf("lost in a trial, and taken again: %v", err)
	}
	w.recorded(filewise.Trial{State: filewise.Done})
	for i := range mostLost {
		if err := w.ended(t.Context()); errors.Is(err, experiment.ErrPostponed) != (i < mostLost-1) || i == mostLost-1 &&
			filewise.CodeOf(err) != filewise.CodeStopped {
			t.Errorf("lost for the %d. time: %v", i+1, err)
		}
	}
	w.recorded(filewise.Trial{State: filewise.Done})
	renewed = errors.New("connection refused")
	clock.now = clock.now.Add(lookEvery)
	if err := w.guard(); err != nil {
		t.Errorf("the server is gone: %v", err)
	}
	if err := w.ended(t.Context()); !errors.Is(err, experiment.ErrPostponed) {
		t.Errorf("the server is gone after a trial: %v", err)
	}
	if err := w.await(t.Context(), 0); filewise.CodeOf(err) != filewise.CodeStopped {
		t.Errorf("before the next trial: %v", err)
	}
	renewed = filewise.Errorf(filewise.CodeBusy, "", "ada measures")
	clock.now = clock.now.Add(lookEvery)
	for what, err := range map[string]error{"in": w.guard(), "after": w.ended(t.Context()), "before": w.await(t.Context(), 0)} {
		if filewise.CodeOf(err) != filewise.CodeBusy {
			t.Errorf("another has it, %s a trial: %v", what, err)
		}
	}
}

// A server that answers no check any more, or that stays stopped, ends the run, since no trial would end. One that
// answers in between does not.
func TestSilenceEndsTheRun(t *testing.T) {
	gone := errors.New("no answer")
	for name, prepare := range map[string]func(*watch, *error){
		"by URL": func(w *watch, why *error) {
			w.held = func(context.Context) error { return *why }
			w.renew = func(context.Context) error { return *why }
		},
		"managed": func(w *watch, why *error) { w.stopped = func() bool { return *why != nil } },
	} {
		w, clock, _ := newWatched(t, "2026-11-21 23:00")
		why := gone
		prepare(w, &why)
		for i := range 100 {
			if i == 25 {
				why = nil
			} else if i == 26 {
				why = gone
			}
			clock.now = clock.now.Add(lookEvery)
			if err := w.guard(); (err != nil) != (i >= 56) || err != nil && (filewise.CodeOf(err) != filewise.CodeStopped ||
				!strings.Contains(err.Error(), "has not answered for ") || filewise.RemedyOf(err) == "") {
				t.Fatalf("%s, check %d: %v", name, i, err)
			}
		}
	}
}

// A dump stands still while others need its server, and no longer than it may.
func TestDumpYields(t *testing.T) {
	w, clock, _ := newWatched(t, "2026-11-21 23:00")
	var err error
	if w.limits, err = limit.ParseAll([]string{"active>5"}); err != nil {
		t.Fatal(err)
	}
	start, quiet := clock.now, 3*time.Minute
	w.read = func(context.Context) ([]filewise.Gauge, error) {
		active := 1.0
		if clock.now.Sub(start) < quiet {
			active = 6
		}
		return []filewise.Gauge{{Name: "active", Value: active}}, nil
	}
	var out strings.Builder
	y := &yielding{ctx: t.Context(), watch: w, to: &out}
	if _, err := y.Write([]byte("row")); err != nil || out.String() != "row" || clock.now.Sub(start) < quiet {
		t.Errorf("%v after %v: %q", err, clock.now.Sub(start), &out)
	}
	start, quiet = clock.now.Add(time.Minute), time.Hour
	clock.now = start
	if _, err := y.Write([]byte("row")); filewise.CodeOf(err) != filewise.CodeStopped || !errors.Is(y.err,
		errOthers) || out.String() != "row" {
		t.Errorf("beyond its patience: %v, %q", err, &out)
	}
}
