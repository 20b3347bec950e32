package experiment_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
)

// A run that its budget ended goes on with a larger one: its rounds stay, what it has measured is
// judged as it was, and the boundaries go on with what is left of the error.
func TestExtendedRunGoesOn(t *testing.T) {
	w := newWorld(t, []int{1, 2, 4}, fake.Config{Noise: 0.012, Seed: 3, Throughput: byFiles(map[int]float64{1: 1000, 2: 1005, 4: 1015})})
	w.plan.Rules, w.plan.Interleaved, w.plan.WindowByPilots, w.plan.Bounds = 3, true, true, 10
	w.plan.Window, w.plan.Budget, w.plan.MaxBlocks = time.Second, 80*time.Second, 20
	trials, d := w.run(t)
	before, err := w.plan.Judge(trials)
	if err != nil || d.Ending != experiment.Spent || before.First().Result.Blocks < 4 {
		t.Fatalf("%+v after %d blocks, %v", d, before.First().Result.Blocks, err)
	}
	longer, err := w.plan.Extend(3*w.plan.Budget, trials)
	if err != nil {
		t.Fatal(err)
	}
	w.plan = longer
	more, end := w.run(t, trials...)
	after, err := longer.Judge(more)
	if err != nil || after.First().Result.Blocks <= before.First().Result.Blocks || after.Elapsed > longer.Budget*11/10 {
		t.Fatalf("%d blocks after %d, %v, %+v, %v", after.First().Result.Blocks, before.First().Result.Blocks, after.Elapsed, end, err)
	}
	if a, b := before.Schedule, after.Schedule; a.Rounds != b.Rounds || a.Turn != b.Turn || b.MaxBlocks <= a.MaxBlocks {
		t.Errorf("before %+v, after %+v", a, b)
	}
	for i, analysis := range before.First().Result.Analyses[:before.First().Result.Blocks-3] { // all but the last: that may go on
		same := after.First().Result.Analyses[i]
		for j, e := range analysis.Estimates {
			if e.Known() && (e.Lo != same.Estimates[j].Lo || e.Hi != same.Estimates[j].Hi) {
				t.Errorf("block %d, layout %d: %v … %v was %v … %v", analysis.Block, j, same.Estimates[j].Lo, same.Estimates[j].Hi, e.Lo, e.Hi)
			}
		}
	}
	again, err := longer.Extend(2*longer.Budget, more)
	if err != nil || len(again.Extended) != 2 || again.Extended[1].After != after.First().Result.Blocks {
		t.Errorf("extended again: %+v, %v", again.Extended, err)
	}
	if i := slices.IndexFunc(more, func(tr filewise.Trial) bool { return tr.State != filewise.Done }); i >= 0 {
		t.Errorf("%+v failed: %s", more[i].Cell, more[i].Reason)
	}
}

// The command that an open headline offers extends the run by as many blocks as it names, and more:
// intervals of extended runs are wider.
func TestOfferedBudgetWorks(t *testing.T) {
	w := newWorld(t, []int{1, 2, 4}, fake.Config{Noise: 0.05, Seed: 3})
	w.plan.Rules, w.plan.Interleaved, w.plan.WindowByPilots, w.plan.Bounds = 3, true, true, 10
	w.plan.Window, w.plan.Budget, w.plan.MaxBlocks, w.plan.Margin = time.Second, 90*time.Second, 20, 2
	trials, _ := w.run(t)
	j, err := w.plan.Judge(trials)
	if err != nil {
		t.Fatal(err)
	}
	analysis, _ := j.First().Result.Last()
	_, offer, offered := strings.Cut(j.Sentences()[0], ": filewise resume RUN --budget ")
	budget, err := time.ParseDuration(offer)
	if !offered || err != nil || analysis.BlocksToKeep == 0 {
		t.Fatalf("%q, %+v", j.Sentences()[0], analysis)
	}
	if longer, err := w.plan.Extend(budget, trials); err != nil || longer.MaxBlocks < analysis.BlocksToKeep {
		t.Errorf("%s give %d blocks, want %d: %v", budget, longer.MaxBlocks, analysis.BlocksToKeep, err)
	}
	if f := j.Forecast; f == nil || f.Blocks != analysis.BlocksNeeded && analysis.BlocksNeeded > analysis.Block+1 {
		t.Errorf("the headline has %d blocks, the forecast %+v", analysis.BlocksNeeded, f)
	}
}

func TestWhatCannotBeExtendedIsRefused(t *testing.T) {
	w := newWorld(t, []int{1, 2}, fake.Config{Noise: 0.05, Seed: 3})
	w.plan.Rules, w.plan.Budget = 3, time.Minute
	trials, _ := w.run(t)
	for want, change := range map[string]func(*experiment.Plan) time.Duration{
		"rules 2":        func(p *experiment.Plan) time.Duration { p.Rules = 2; return time.Hour },
		"already":        func(p *experiment.Plan) time.Duration { return p.Budget },
		"article":        func(p *experiment.Plan) time.Duration { p.AsPublished = &experiment.AsPublished{}; return time.Hour },
		"trials took":    func(p *experiment.Plan) time.Duration { p.Budget = time.Second; return 2 * time.Second },
		"do not suffice": func(p *experiment.Plan) time.Duration { return p.Budget + time.Millisecond },
	} {
		p := w.plan
		budget := change(&p)
		if _, err := p.Extend(budget, trials); filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(err.Error(), want) ||
			filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", want, err)
		}
	}
}
