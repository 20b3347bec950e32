package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/report"
)

// phased is a run of a scenario of several operations on a made-up machine.
type phased struct {
	Scenario    string
	Engine      string
	Files       []int
	Params      func(*workload.Params)                    // nil means the scenario's
	Effect      func(operation string, files int) float64 // on the logarithm of throughput
	Noise       float64                                   // of a trial, log scale
	Took        time.Duration                             // of a phase on the baseline
	Blocks      int
	AsPublished *experiment.AsPublished
}

// data is the run with its judgement, as the store would give it.
func (x phased) data() (report.Data, error) {
	sc, err := workload.Lookup(x.Scenario)
	if err != nil {
		return report.Data{}, fmt.Errorf("phased run: %w", err)
	}
	p := experiment.Plan{
		Scenario: x.Scenario, Params: sc.Params, Seed: 11, Confidence: 0.95, Margin: 2, Goal: verdict.GoalRecommend,
		MaxBlocks: x.Blocks, Attempts: 3, Overall: sc.Overall, AsPublished: x.AsPublished,
		Target: filewise.Target{
			Engine: x.Engine, Mode: filewise.Managed, Durability: filewise.DurabilityFull, Volumes: []filewise.Volume{{Name: "a", Dir: "/srv/a"}},
		},
		Command: []string{"filewise", "run", x.Scenario},
	}
	if x.Params != nil {
		x.Params(&p.Params)
	}
	for _, n := range x.Files {
		l := filewise.Layout{Name: sc.NameOf(n), Rank: n, Data: filewise.Spread{Files: n, Bytes: sc.Bytes, Placement: filewise.PlaceOne}}
		if sc.Stripes {
			l.Data.Files, l.Backup, l.Discard = 1, filewise.Spread{Files: n, Placement: filewise.PlaceOne}, p.Params.Discard
		}
		p.Layouts = append(p.Layouts, l)
	}
	p.Baseline = p.Layouts[0].Name
	w, err := sc.New(p.Params, p.Seed)
	if err != nil {
		return report.Data{}, fmt.Errorf("phased run: %w", err)
	}
	p.Phases = w.Program().Operations()
	trials := x.run(p, sc, w.Program())
	j, err := p.Judge(trials)
	if err != nil {
		return report.Data{}, fmt.Errorf("judge the sample: %w", err)
	}
	return sampleData(p, trials, j), nil
}

func (x phased) run(p experiment.Plan, sc workload.Scenario, program filewise.Program) []filewise.Trial {
	var trials []filewise.Trial
	r := rand.New(rand.NewPCG(p.Seed, 77))
	at := sampleStart
	for {
		cell, d := p.Next(trials)
		if d.Ending != experiment.GoesOn || cell.Block > x.Blocks {
			return trials
		}
		t := filewise.Trial{Cell: cell, State: filewise.Done, Started: at}
		files := 0
		for _, l := range p.Layouts {
			if l.Name == cell.Layout {
				files = sc.NumberOf(l)
			}
		}
		for _, f := range program.Operations() {
			took := time.Duration(float64(x.Took) * math.Exp(x.Noise*r.NormFloat64()-x.Effect(f, files)))
			t.Measures = append(t.Measures, filewise.Measure{
				Operation: f, Unit: unitOf(program, f), Window: [2]time.Duration{0, took}, Work: workOf(program, f),
			})
			t.Elapsed += took
			t.Stages = append(t.Stages, filewise.Stage{Name: filewise.StageMeasure, Took: took})
		}
		at = at.Add(t.Elapsed)
		trials = append(trials, t)
	}
}

func unitOf(p filewise.Program, operation string) string {
	for _, x := range p.Phases {
		if x.Operation == operation {
			return x.Unit
		}
	}
	return p.First().Unit
}

func workOf(p filewise.Program, operation string) float64 {
	for _, x := range p.Phases {
		if x.Operation == operation {
			return float64(x.Ops)
		}
	}
	return 1000
}
