package run

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"filewise"
	"filewise/host/scratch"
	"filewise/lab/experiment"
	"filewise/results/archive"
	"filewise/results/store"
	"filewise/watch/web"
)

// Sockets returns the directory, below Filewise's state directory, of the sockets on which this user's runs answer.
func Sockets(state string) string { return filepath.Join(state, "live") }

// live shows a run to others: to its observer, on the live page of this process, and through a socket on the page of
// "filewise serve".
type live struct {
	*web.Monitor
	hide     func(string) string
	observer Observer
	run      int64
	close    func()
}

// live lets others look at a run. If the socket cannot be created, the run is measured without one.
func (m *measurement) live(run store.Run, done []filewise.Trial, stop func()) (*live, error) {
	d, err := archive.Run{Run: run, Trials: slices.Clip(done)}.Data() // clipped: each observer appends to its own copy
	if err != nil {
		return nil, err
	}
	l := &live{Monitor: web.NewMonitor(d, m.store.Path(), stop), hide: m.hide, run: run.ID, close: func() {}}
	l.observer = m.observe(d, l.Monitor)
	if state, err := scratch.StateDir(); err == nil {
		if hide, err := l.Expose(Sockets(state)); err == nil {
			l.close = hide
		}
	}
	return l, nil
}

// hear sends an event to all observers, with secrets hidden.
func (l *live) hear(e experiment.Event) {
	if e.Trial != nil {
		t := *e.Trial
		t.Reason = l.hide(t.Reason)
		e.Trial = &t
	}
	l.observer.Notify(e)
	l.Notify(e)
}

// await waits while the run is paused. Then it waits for the other reasons to delay a trial.
func (l *live) await(then func(context.Context, time.Duration) error) func(context.Context, time.Duration) error {
	return func(ctx context.Context, expected time.Duration) error {
		if err := l.Await(ctx, l.hear); err != nil {
			return err
		}
		return then(ctx, expected)
	}
}

// ended shows the final state of the run as stored.
func (l *live) ended(ctx context.Context, st *store.Store) {
	r, err := archive.From(context.WithoutCancel(ctx), st, strconv.FormatInt(l.run, 10))
	if err != nil {
		return // the last state stays visible
	}
	if d, err := r.Data(); err == nil {
		l.End(d)
	}
}
