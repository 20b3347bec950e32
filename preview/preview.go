// Package preview says what a run of a plan would do: trials in order, statements,
// files, space and time; and which differences it could see. Only the latter
// measures, where it is asked to.
package preview

import (
	"context"
	"errors"
	"time"

	"filewise"
	"filewise/experiment"
	"filewise/plan"
	"filewise/run"
)

// Preview is a plan with what a run of it would do.
type Preview struct {
	Plan     experiment.Plan    `json:"plan"`
	Layouts  []LayoutScript     `json:"layouts"`
	Trials   []filewise.Cell    `json:"trials"` // all there can be: no layout dropped, none failed
	Space    []run.SpaceNeed    `json:"space"`
	AtLeast  time.Duration      `json:"at_least_ns"` // measured time of the fewest blocks that allow a verdict
	AtMost   time.Duration      `json:"at_most_ns"`  // the budget, or all blocks where there is none
	Warnings []filewise.Warning `json:"warnings"`
	// Forecast is what the budget can tell by an earlier run on this host; absent: there is none.
	Forecast *experiment.Forecast `json:"forecast,omitempty"`
	// Findings are what an existing server was found to be.
	Findings []filewise.Finding `json:"findings,omitempty"`
	// Unseen says why an existing server could not be looked at.
	Unseen string `json:"unseen,omitempty"`
	unseen error
}

// LayoutScript is what one layout would create and execute.
type LayoutScript struct {
	Layout filewise.Layout `json:"layout"`
	filewise.Script
}

// Of renders the plan, and looks at its server, to which nothing is written, where that
// is an existing one.
func Of(ctx context.Context, made plan.Made, login run.Login) (_ Preview, err error) {
	p := made.Plan
	env, err := run.Prepare(made.Engine, p)
	if err != nil {
		return Preview{}, err
	}
	out := Preview{Plan: p, Trials: p.Trials(), Warnings: env.Warnings()}
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
			// What would be executed is told without the server too.
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

// Refusal is why a run would be refused; nil: it would not.
func (v Preview) Refusal() error {
	if v.unseen != nil {
		return v.unseen
	}
	return run.Refused(v.Plan.Target, v.Findings)
}
