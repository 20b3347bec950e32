package experiment_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
)

// lockProbe plants a wait: a share of the connections' time, by layout.
type lockProbe struct {
	w      *world
	share  map[string]float64
	layout string
	since  time.Time
	waited float64
}

func (p *lockProbe) Name() string { return filewise.ProbeWaits }

func (p *lockProbe) Read(context.Context) ([]filewise.Counter, error) {
	now := p.w.engine.Clock().Now()
	if !p.since.IsZero() {
		p.waited += p.share[p.layout] * float64(p.w.plan.Params.Connections) * now.Sub(p.since).Seconds()
	}
	p.since = now
	return []filewise.Counter{{Name: "planted", Unit: "s", Class: filewise.WaitLock, Value: p.waited}}, nil
}

func (p *lockProbe) notify(e experiment.Event) {
	if e.Kind == experiment.EventStage {
		p.layout = e.Cell.Layout
	}
}

// A judgement has the cause of its difference: with four times the throughput, a
// wait for 80 % of the time that is gone explains the gain.
func TestJudgementHasACause(t *testing.T) {
	w := newWorld(t, []int{1, 4}, fake.Config{Noise: 0.01, Seed: 3, Throughput: byFiles(map[int]float64{1: 1000, 4: 4000})})
	p := &lockProbe{w: w, share: map[string]float64{"1 file": 0.8, "4 files": 0.05}}
	w.runner.Probes, w.runner.Notify = []filewise.Probe{p}, p.notify
	trials, _ := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if j.First().Cause == nil || j.First().Cause.Layout != "4 files" || len(j.First().Cause.Changes) != 1 {
		t.Fatalf("cause %+v", j.First().Cause)
	}
	if c := j.First().Cause.Changes[0]; c.Event != "planted" || c.Share < 0.95 ||
		!strings.Contains(j.First().Cause.Sentences[0], "Lock wait (planted) per row fell") {
		t.Errorf("%+v: %q", c, j.First().Cause.Sentences)
	}
}
