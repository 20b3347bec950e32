package archive

import (
	"context"
	"reflect"
	"slices"

	"filewise"
	"filewise/experiment"
	"filewise/store"
	"filewise/workload"
)

// discarded finds the newest run of the same backups, on the same server and volumes,
// that were thrown away: the limit that this run's can only approach; nil: there is
// none.
func discarded(ctx context.Context, st *store.Store, run store.Run) (*Run, error) {
	sc, err := workload.Lookup(run.Plan.Scenario)
	if err != nil || !sc.Stripes || run.Plan.Params.Discard {
		return nil, nil //nolint:nilerr // of an unknown scenario as well
	}
	runs, err := st.Runs(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(runs, func(a, b store.RunInfo) int { return b.Started.Compare(a.Started) })
	for _, info := range runs {
		if info.State != store.Done || info.Scenario != run.Plan.Scenario || info.Engine != run.Plan.Target.Engine {
			continue
		}
		other := &Run{}
		if other.Run, err = st.Run(ctx, info.ID); err != nil {
			return nil, err
		}
		if !throwsAway(other.Plan, run.Plan) {
			continue
		}
		other.Trials, err = st.Trials(ctx, info.ID)
		return other, err
	}
	return nil, nil
}

// throwsAway tells whether a plan backs up the same as another, and keeps nothing.
func throwsAway(p, kept experiment.Plan) bool {
	same := p.Params
	same.Discard = false
	return p.Params.Discard && reflect.DeepEqual(same, kept.Params) && reflect.DeepEqual(p.Target, kept.Target) &&
		slices.ContainsFunc(p.Layouts, func(l filewise.Layout) bool {
			return slices.ContainsFunc(kept.Layouts, func(k filewise.Layout) bool { return l.Backup.Files == k.Backup.Files })
		})
}
