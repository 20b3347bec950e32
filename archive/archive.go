// Package archive reads stored runs as they are shown, reported and compared: each
// is judged anew from its trials.
package archive

import (
	"context"
	"errors"

	"filewise"
	"filewise/report"
	"filewise/store"
)

// Run is a stored run with its trials.
type Run struct {
	store.Run
	Trials []filewise.Trial
	limit  *Run // see discarded
}

// Thrown are the trials of the run whose backups were thrown away, for it is this one's limit.
func (r Run) Thrown() []filewise.Trial {
	if r.limit == nil {
		return nil
	}
	return r.limit.Trials
}

// Load reads a run of the store in that file by its number or name, or the newest by "last".
func Load(ctx context.Context, path, ref string) (r Run, err error) {
	st, err := store.OpenExisting(ctx, path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return From(ctx, st, ref)
}

// From reads a run of an open store.
func From(ctx context.Context, st *store.Store, ref string) (r Run, err error) {
	id, err := st.Resolve(ctx, ref)
	if err != nil {
		return r, err
	}
	if r.Run, err = st.Run(ctx, id); err != nil {
		return r, err
	}
	if r.Trials, err = st.Trials(ctx, id); err != nil {
		return r, err
	}
	r.limit, err = discarded(ctx, st, r.Run)
	return r, err
}

// List lists the stored runs, the oldest first; a store that does not exist has none.
func List(ctx context.Context, path string) (runs []store.RunInfo, err error) {
	st, err := store.OpenExisting(ctx, path)
	if filewise.CodeOf(err) == filewise.CodeNotFound {
		return []store.RunInfo{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return st.Runs(ctx)
}

// Data judges the run anew from its trials.
func (r Run) Data() (report.Data, error) {
	j, err := r.Plan.Judge(r.Trials)
	if err != nil {
		return report.Data{}, err
	}
	d, err := Data(r.Run, r.Trials, j)
	if err != nil || r.limit == nil {
		return d, err
	}
	limit, err := r.limit.Data()
	d.Limit = &limit
	return d, err
}
