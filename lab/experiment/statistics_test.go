package experiment_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
)

// With --aa the baseline is measured twice, to the end, and the check is judged.
func TestAA(t *testing.T) {
	w := newWorld(t, []int{1, 4}, fake.Config{Noise: 0.01, Seed: 3, Throughput: byFiles(map[int]float64{1: 1000, 4: 1300})})
	var err error
	if w.plan, err = w.plan.WithAA(); err != nil {
		t.Fatal(err)
	}
	trials, d := w.run(t)
	if got := w.recommended(t, trials); got != "4 files" || d.Ending != experiment.Decided {
		t.Errorf("recommended %q, %+v", got, d)
	}
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(j.Sentences(), "\n"); !strings.Contains(text, "A/A check holds: 1 file again is the same as 1 file") {
		t.Errorf("sentences:\n%s", text)
	}
	if _, err := w.plan.WithAA(); err == nil {
		t.Error("a second twin of the same name is accepted")
	}
}

// A machine that treats the twin differently is found out, on top of everything.
func TestAAFails(t *testing.T) {
	w := newWorld(t, []int{1, 4}, fake.Config{Noise: 0.005, Seed: 3, Throughput: func(l filewise.Layout) float64 {
		if l.Name == "1 file again" {
			return 1200
		}
		return 1000
	}})
	var err error
	if w.plan, err = w.plan.WithAA(); err != nil {
		t.Fatal(err)
	}
	trials, _ := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(j.Sentences()[0], "Do not rely on this: the A/A check failed") || j.Warnings[0].Code != verdict.WarnAAFailed {
		t.Errorf("headline %q, warnings %+v", j.Sentences()[0], j.Warnings)
	}
}

// A calibration is measured right before each trial in a block, stored with it,
// and what it explains no longer widens the intervals.
func TestCalibration(t *testing.T) {
	state := 0.0
	random := rand.New(rand.NewPCG(1, 2))
	w := newWorld(t, []int{1, 4}, fake.Config{Noise: 0.002, Seed: 3,
		Disturb: func(filewise.Layout) float64 { state = 0.1 * random.NormFloat64(); return state }})
	w.plan.Calibrate, w.plan.MaxBlocks, w.plan.Goal = true, 8, verdict.GoalVerdicts
	w.runner.Calibrate = func(context.Context) (float64, error) {
		w.engine.Clock().Advance(10 * time.Millisecond)
		return 50 * math.Exp(state), nil
	}
	trials, d := w.run(t)
	if d.Ending != experiment.Decided {
		t.Errorf("%+v: drift of 10 %% was not taken out", d)
	}
	for _, tr := range trials {
		speed, ok := tr.Throughput(experiment.OperationCalibration)
		if ok == tr.Cell.Pilot || ok && !(speed > 30 && speed < 80) {
			t.Errorf("%+v: calibration %v, %v", tr.Cell, speed, ok)
		}
	}
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	if analysis, _ := j.First().Result.Last(); math.Abs(analysis.CalibrationSlope-1) > 0.1 {
		t.Errorf("slope %v, planted 1", analysis.CalibrationSlope)
	}
	w.runner.Calibrate = nil
	trials, _ = w.run(t)
	if last := trials[len(trials)-1]; last.State != filewise.Failed || !strings.Contains(last.Reason, "no calibration") {
		t.Errorf("without a probe: %+v", last)
	}
	w.runner.Calibrate = func(context.Context) (float64, error) { return 0, errors.New("disk gone") }
	trials, _ = w.run(t)
	if last := trials[len(trials)-1]; last.State != filewise.Failed || !strings.Contains(last.Reason, "disk gone") {
		t.Errorf("with a broken probe: %+v", last)
	}
}
