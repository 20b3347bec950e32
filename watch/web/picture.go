package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"filewise"
	"filewise/results/store"
)

// picture holds what all pages show at one moment. It never changes.
type picture struct {
	status  Status
	run     measured // run in progress. Nil means none, or that it does not answer
	list    []byte   // the runs, as JSON
	listed  time.Time
	stored  storedKey // the run whose progress was read from the store
	problem string    // why the store cannot be read. Empty means it can
	fleet   *knownFleet
}

// storedKey identifies the state of a stored run. If it differs, the run has changed.
type storedKey struct {
	id             int64
	state          store.State
	trials, failed int
}

// listEvery is the time between two reads of the list of runs, since a measuring process writes to the store.
const listEvery = 5 * time.Second

// current returns the newest picture. Requests at the same time share one picture.
func (s *Server) current(ctx context.Context) picture {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.taken) >= pictureFor {
		// The first client may go away, but the others still need the picture.
		s.picture = s.take(context.WithoutCancel(ctx), s.picture)
		s.taken = time.Now()
	}
	return s.picture
}

// take returns the picture that follows before.
func (s *Server) take(ctx context.Context, before picture) picture {
	p := before
	p.fleet = s.fleet.now()
	status, run := s.ask(ctx, before)
	changed := (run == nil) != (before.run == nil) || status.Run != before.status.Run
	if time.Since(p.listed) >= listEvery || changed || run != nil && status.Version != before.status.Version {
		p.listRuns(ctx, s.config.Archive)
	}
	if p.run = run; run != nil {
		p.status, p.stored = status, storedKey{}
		return p
	}
	p.fromStore(ctx, s.config.Archive)
	return p
}

// ask queries the measuring process, which may be this one or another. It fills in the Progress that is known already.
func (s *Server) ask(ctx context.Context, before picture) (Status, measured) {
	var all []measured
	if s.local != nil {
		all = append(all, local{s.local})
	}
	if s.config.Sockets != "" {
		all = append(all, remotes(s.config.Sockets)...)
	}
	for _, run := range all {
		status, err := run.Status(ctx, before.status.Version)
		if err == nil && status.Version == before.status.Version {
			status.Progress = before.status.Progress
		}
		if err == nil && status.Progress != nil && status.Now != nil {
			return status, run
		}
	}
	return Status{}, nil
}

// listRuns reads the list of runs.
func (p *picture) listRuns(ctx context.Context, a Archive) {
	p.listed = time.Now()
	runs, err := a.Runs(ctx, 0)
	if p.explain(err) {
		return
	}
	if body, err := json.Marshal(runs); err == nil && !bytes.Equal(body, p.list) {
		p.list = body
	}
}

// fromStore shows the newest stored run if no measuring process answers.
func (p *picture) fromStore(ctx context.Context, a Archive) {
	var runs []store.RunInfo
	if json.Unmarshal(p.list, &runs) != nil || len(runs) == 0 {
		p.status = Status{Store: a.Path()}
		return
	}
	last := runs[len(runs)-1]
	key := storedKey{last.ID, last.State, last.Trials, last.Failed}
	if key == p.stored {
		return
	}
	d, err := a.Run(ctx, last.ID)
	if p.explain(err) {
		return
	}
	progress := ProgressOf(d)
	p.stored = key
	p.status = Status{Store: a.Path(), Run: last.ID, Version: newVersion(), Progress: &progress}
}

// explain sets the picture's problem to why the store cannot be read, or clears it.
func (p *picture) explain(err error) (failed bool) {
	if errors.Is(err, context.Canceled) {
		return true
	}
	p.problem = ""
	if err != nil {
		p.problem = explained(err)
	}
	return err != nil
}

// explained returns an error and its remedy in a line.
func explained(err error) string {
	if remedy := filewise.RemedyOf(err); remedy != "" {
		return err.Error() + " → " + remedy
	}
	return err.Error()
}

// newVersion returns a version that no other status has, not even another process's.
func newVersion() uint64 { return uint64(time.Now().UnixMicro()) }
