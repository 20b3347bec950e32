package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"filewise"
	"filewise/host/scratch"
	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/results/store"
	"filewise/run/plan"
)

// Run measures a plan, stores every trial, and returns the outcome. If ctx ends, the running trial is ended cleanly,
// and Resume can continue. A plan that cannot be measured here is refused before anything is created.
func Run(ctx context.Context, p experiment.Plan, o Options) (out Outcome, err error) {
	// A store that cannot be used is found before the set-up. A store that does not exist is created after it, so that a
	// refused run leaves none.
	if _, err := archive.List(ctx, o.Store); err != nil {
		return out, err
	}
	return o.within(ctx, p, func(m *measurement) (out Outcome, err error) {
		if m.store, err = store.Open(ctx, o.Store); err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, m.store.Close()) }()
		return m.measure(ctx, store.Run{Plan: p}, nil)
	})
}

// within sends notifications about a plan's run, and calls measure in an environment that is set up.
func (o Options) within(ctx context.Context, p experiment.Plan, measure func(*measurement) (Outcome, error)) (out Outcome, err error) {
	for _, v := range p.Target.VolumesHere() {
		if err := plan.Answers(v); err != nil {
			return out, err
		}
	}
	defer o.watchVolumes(ctx, p.Target.VolumesHere())()
	announced, err := announce(ctx, p, o)
	if err != nil {
		return out, err
	}
	defer func() { announced.close(ctx, err) }()
	env, err := SetUp(ctx, o.Engine, p, o.Login, whole(o.Store))
	if err != nil {
		return out, err
	}
	defer func() {
		if stays := env.Close(); err == nil && errors.Is(stays, scratch.ErrStays) && o.Warn != nil {
			o.left(stays)
		} else {
			err = errors.Join(err, stays)
		}
	}()
	return measure(&measurement{Options: o, env: env, notices: announced})
}

// Unfinished finds the run that ref names. An empty ref means the newest run that a kill, an interrupt or a failure
// ended, or else the newest run. A run that cannot go on here is refused. The decision reports whether anything is left
// to measure.
func Unfinished(ctx context.Context, path, ref string) (r archive.Run, d experiment.Decision, err error) {
	st, err := store.OpenExisting(ctx, path)
	if err != nil {
		return r, d, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if ref == "" {
		if ref, err = newest(ctx, st); err != nil {
			return r, d, err
		}
	}
	if r, err = archive.From(ctx, st, ref); err != nil {
		return r, d, err
	}
	_, d = r.Plan.Next(r.Trials)
	switch {
	case r.Origin != nil:
		err = filewise.Errorf(filewise.CodeUsage,
			fmt.Sprintf("resume it there and import it again, or repeat it here: filewise show %d has the command", r.ID),
			"run %d was measured by %s and imported: trials of this machine cannot be compared with its own", r.ID, r.Origin.Where())
	case r.State == store.Running:
		err = filewise.Errorf(filewise.CodeBusy, fmt.Sprintf("wait for it, or end it: filewise stop %d", r.ID),
			"run %d is being measured by %v", r.ID, r.Owner)
	case d.Ending == experiment.GoesOn && r.Ending == experiment.Broken:
		err = filewise.Errorf(filewise.CodeUsage, "correct the SQL, and run it again", "run %d cannot go on: %s", r.ID, r.Why)
	}
	return r, d, err
}

func newest(ctx context.Context, st *store.Store) (string, error) {
	runs, err := st.Runs(ctx)
	if err != nil {
		return "", err
	}
	for _, r := range slices.Backward(runs) {
		if r.Origin != nil { // imported: nothing here can go on
			continue
		}
		if r.State == store.Interrupted || r.State == store.Failed && r.Ending == experiment.GoesOn {
			return strconv.FormatInt(r.ID, 10), nil
		}
	}
	return store.Last, nil
}

// Resume continues a run that Unfinished has found, with its next trial. Finished trials are not measured again.
func Resume(ctx context.Context, r archive.Run, o Options) (out Outcome, err error) {
	st, err := store.OpenExisting(ctx, o.Store)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if _, d := r.Plan.Next(r.Trials); d.Ending != experiment.GoesOn {
		return over(ctx, st, r, d, o)
	}
	return o.within(ctx, o.limited(r.Plan), func(m *measurement) (out Outcome, err error) {
		// Another process may have continued the run before this one got the lock.
		if r, err = archive.From(ctx, st, strconv.FormatInt(r.ID, 10)); err != nil {
			return out, err
		}
		m.store = st
		if o.Budget > 0 {
			if r.Plan, err = r.Plan.Extend(o.Budget, r.Trials); err != nil {
				return out, err
			}
			if err = st.Extend(ctx, r.ID, r.Plan); err != nil {
				return out, err
			}
		}
		return m.measure(ctx, r.Run, r.Trials)
	})
}

// over returns the outcome of a run with nothing left to measure. If the run was stopped between its last trial and
// storing its end, over stores that end.
func over(ctx context.Context, st *store.Store, r archive.Run, d experiment.Decision, o Options) (Outcome, error) {
	if r.Ending == experiment.GoesOn {
		run, err := st.Resume(ctx, r.ID)
		if err != nil {
			return Outcome{}, err
		}
		m := &measurement{Options: o, store: st}
		return m.finish(ctx, run, r.Trials, d, nil)
	}
	j, err := r.Plan.Judge(r.Trials)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Run: r.Run, Over: d.Why}
	if out.Data, err = archive.Data(r.Run, r.Trials, j); err != nil {
		return out, err
	}
	return out, o.result(out)
}
