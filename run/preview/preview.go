// Package preview computes from a plan what a run would do: the order of trials, statements, files, space and time. It
// can also report which differences the run could see, for which it measures on demand.
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

// Preview holds a plan and what a run of it would do.
type Preview struct {
	Plan     experiment.Plan    `json:"plan"`
	Layouts  []LayoutScript     `json:"layouts"`
	Trials   []filewise.Cell    `json:"trials"` // the most possible: no layout dropped, no trial failed
	Space    []run.SpaceNeed    `json:"space"`
	AtLeast  time.Duration      `json:"at_least_ns"` // measured time of the fewest blocks for a verdict
	AtMost   time.Duration      `json:"at_most_ns"`  // the budget, or the time of all blocks if there is none
	Warnings []filewise.Warning `json:"warnings"`
	// Conditions holds the conditions of meaning as far as they are known before the run.
	Conditions []filewise.Condition `json:"conditions,omitempty"`
	// Meaning is the scale from which an article's design is about files. Nil means no article is repeated.
	Meaning *experiment.Meaning `json:"meaning,omitempty"`
	// Forecast is the resolution within the budget, forecast from an earlier run on this host. It is absent if there is
	// none.
	Forecast *experiment.Forecast `json:"forecast,omitempty"`
	// Findings holds the findings about an existing server.
	Findings []filewise.Finding `json:"findings,omitempty"`
	// Unseen is the reason why an existing server could not be examined.
	Unseen string `json:"unseen,omitempty"`
	unseen error
}

// LayoutScript holds a layout, and what a trial on it would create and execute.
type LayoutScript struct {
	Layout filewise.Layout `json:"layout"`
	filewise.Statements
}

// Of computes the preview of a plan. If the server exists already, it looks at the server without writing to it.
func Of(ctx context.Context, made plan.Made, login run.Login) (_ Preview, err error) {
	p := made.Plan
	env, err := run.Prepare(made.Engine, p)
	if err != nil {
		return Preview{}, err
	}
	out := Preview{Plan: p, Trials: p.Trials(), Warnings: append(env.Warnings(), p.LimitWarnings()...),
		Conditions: p.Foreseen(run.HostOf(p.Target))}
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
			// What would be executed is shown even without the server.
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

// Refusal returns why a run would be refused, or nil.
func (v Preview) Refusal() error {
	if v.unseen != nil {
		return v.unseen
	}
	return run.Refused(v.Plan.Target, v.Findings)
}

// mostEarlier is the most earlier runs that are searched for a forecast.
const mostEarlier = 10

// Forecast computes the resolution within the plan's budget. It uses the store's newest run of the same work that was
// measured in interleaved blocks on this host. Nil means there is none.
func Forecast(ctx context.Context, path string, p experiment.Plan) (*experiment.Forecast, error) {
	if !p.Interleaved {
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

// forecastBy takes the noise and time of a trial from a run. It returns nil if the run does not apply to the plan.
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
		s.MaxBlocks = min(s.MaxBlocks, max(n, verdict.FirstAnalysis))
	}
	f, ok := p.ForecastBy(j.Forecast.Noise, j.Forecast.DF, fmt.Sprintf("run %d", r.ID), s, pilots)
	if !ok {
		return nil
	}
	return &f
}
