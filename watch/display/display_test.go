package display

import (
	"strings"
	"sync"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/results/report"
)

// stuck is a terminal that takes the headline and then nothing until it is freed.
type stuck struct {
	mu   sync.Mutex
	free chan struct{}
	out  strings.Builder
	n    int
}

func (s *stuck) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n++; s.n > 1 {
		<-s.free
	}
	return s.out.Write(p)
}

// A measurement never waits for a terminal that does not keep up.
func TestNotifyNeverWaits(t *testing.T) {
	w := &stuck{free: make(chan struct{})}
	x := New(w, report.Data{RunID: 7}, Options{})
	failed := filewise.Trial{Cell: filewise.Cell{Block: 1, Layout: "2 files", Attempt: 1}, State: filewise.Failed, Reason: "planted"}
	for range 10_000 { // far more than it remembers
		x.Notify(experiment.Event{Kind: experiment.EventRecorded, Cell: failed.Cell, Trial: &failed})
	}
	close(w.free)
	x.Close()
	out := w.out.String()
	if !strings.HasPrefix(out, "Run 7: ") || !strings.Contains(out, "2 files: failed: planted\n") {
		t.Errorf("it has shown:\n%.300s", out)
	}
	if n := strings.Count(out, "\n"); n > 1000 {
		t.Errorf("%d lines: it has waited", n)
	}
}

// What a run waits for is shown, with or without a live picture, and gone once a trial goes on.
func TestWaiting(t *testing.T) {
	for _, live := range []bool{true, false} {
		var b strings.Builder
		x := New(&b, report.Data{RunID: 7}, Options{Live: live})
		x.Notify(experiment.Event{Kind: experiment.EventWaiting, Why: "outside the maintenance window",
			Until: time.Date(2026, 11, 21, 22, 0, 0, 0, time.Local)})
		x.Close()
		const want = "outside the maintenance window: waiting until Sat 2026-11-21 22:00"
		if got := x.status(time.Now()); got != want {
			t.Errorf("live %v: %q", live, got)
		}
		if !live && !strings.Contains(b.String(), want+"\n") {
			t.Errorf("it prints %q", b.String())
		}
		x.apply(experiment.Event{Kind: experiment.EventStage, Cell: filewise.Cell{Layout: "1 file"}, Stage: filewise.StageBuild})
		if got := x.status(time.Now()); strings.Contains(got, "waiting") {
			t.Errorf("live %v: %q", live, got)
		}
	}
}
