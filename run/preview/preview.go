// Package preview computes a run's course from its plan: trials in order, statements, files, space and time; and
// which differences it could see. Only the latter measures, on demand.
package preview

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/results/archive"
	"filewise/run"
	"filewise/run/plan"
)

// Preview is a plan with what a run of it would do.
type Preview struct {
	Plan     experiment.Plan    `json:"plan"`
	Layouts  []LayoutScript     `json:"layouts"`
	Trials   []filewise.Cell    `json:"trials"` // all there can be: no layout dropped, none failed
	Space    []run.SpaceNeed    `json:"space"`
	AtLeast  time.Duration      `json:"at_least_ns"` // measured time of the fewest blocks that allow a verdict
	AtMost   time.Duration      `json:"at_most_ns"`  // the budget, or all blocks if there is none
	Warnings []filewise.Warning `json:"warnings"`
	// Conditions are the conditions of meaning by what is known before anything is spent.
	Conditions []filewise.Condition `json:"conditions,omitempty"`
	// Meaning is from what scale on an article's design is about files; nil if none is repeated.
	Meaning *experiment.Meaning `json:"meaning,omitempty"`
	// Forecast is the resolution within the budget by an earlier run on this host. Absent means there is none.
	Forecast *experiment.Forecast `json:"forecast,omitempty"`
	// Findings are the findings of an existing server.
	Findings []filewise.Finding `json:"findings,omitempty"`
	// Unseen reports why an existing server could not be looked at.
	Unseen string `json:"unseen,omitempty"`
	unseen error
}

// LayoutScript lists what one layout would create and execute.
type LayoutScript struct {
	Layout filewise.Layout `json:"layout"`
	filewise.Script
}

// Of renders the plan, and looks at its server, to which nothing is written, if that is an existing one.
func Of(ctx context.Context, made plan.Made, login run.Login) (_ Preview, err error) {
	p := made.Plan
	env, err := run.Prepare(made.Engine, p)
	if err != nil {
		return Preview{}, err
	}
	out := Preview{Plan: p, Trials: p.Trials(), Warnings: env.Warnings(), Conditions: p.Foreseen(run.HostOf(p.Target))}
	out.Meaning = p.Meaning(run.HostOf(p.Target))
	for i, s := range env.Scripts {
		out.Layouts = append(out.Layouts, LayoutScript{p.Layouts[i], s})
	}
	if out.Space, err = env.Space(); err != nil {
		return Preview{}, err
	}
	out.AtLeast, out.AtMost = p.Duration()
	if p.Target.Mode == filewise.External {
		defer func() { err = errors.Join(err, env.Close()) }()
		if err := env.Look(ctx, login); err != nil {
			if ctx.Err() != nil {
				return Preview{}, err
			}
			// What would be executed is shown without the server too.
			out.unseen = err
			out.Unseen = filewise.Hide(err.Error(), env.Secrets()...)
			return out, nil
		}
		if err := env.KnowGauges(ctx); err != nil {
			return Preview{}, err
		}
		out.Findings = env.Examine(ctx)
	}
	return out, nil
}

// Refusal is why a run would be refused. Nil means it would not.
func (v Preview) Refusal() error {
	if v.unseen != nil {
		return v.unseen
	}
	return run.Refused(v.Plan.Target, v.Findings)
}

// mostEarlier bounds the runs of a store that are looked at for a forecast.
const mostEarlier = 10

// Forecast computes the resolution within the plan's budget. It uses the newest run in the store of the same work
// that was measured in sessions on this host. Nil means there is none.
func Forecast(ctx context.Context, path string, p experiment.Plan) (*experiment.Forecast, error) {
	if !p.Sessions {
		return nil, nil
	}
	runs, err := archive.List(ctx, path)
	if err != nil {
		return nil, err
	}
	looked := 0
	for _, info := range slices.Backward(runs) {
		if info.Scenario != p.Scenario || info.Engine != p.Target.Engine || info.Origin != nil || info.Trials == 0 {
			continue
		}
		if looked++; looked > mostEarlier {
			break
		}
		r, err := archive.Load(ctx, path, strconv.FormatInt(info.ID, 10))
		if err != nil {
			return nil, err
		}
		if f := forecastBy(p, r); f != nil {
			return f, nil
		}
	}
	return nil, nil
}

// forecastBy takes noise and time of a trial from a run. Nil means it has no bearing on the plan.
func forecastBy(p experiment.Plan, r archive.Run) *experiment.Forecast {
	if !archive.Alike(r.Plan, p) {
		return nil
	}
	j, err := r.Plan.Judge(r.Trials)
	if err != nil || j.Forecast == nil || j.Forecast.From > 0 {
		return nil
	}
	s, pilots := j.Schedule, time.Duration(0)
	for _, t := range r.Trials {
		if t.Cell.Pilot {
			pilots += t.Elapsed * time.Duration(len(p.Layouts)) / time.Duration(len(r.Plan.Layouts))
		}
	}
	s.MaxBlocks = p.MaxBlocks
	if p.Budget > 0 {
		n := int((p.Budget - pilots) / (time.Duration(len(p.Layouts)) * s.TrialTime))
		s.MaxBlocks = min(s.MaxBlocks, max(n, verdict.FirstLook))
	}
	f, ok := p.ForecastBy(j.Forecast.Noise, j.Forecast.DF, fmt.Sprintf("run %d", r.ID), s, pilots)
	if !ok {
		return nil
	}
	return &f
}
