package sqlite

import (
	"context"
	"errors"
	"sync"

	"filewise"
	"filewise/engine/internal/session"
)

// worker is one connection of the workload: a SQLite connection to each file that it
// works on.
type worker struct {
	*session.Session
	d      *database
	counts counts

	mu    sync.Mutex // Drop closes what was left open
	open  bool
	links []*link // by the number of the file, opened when they are needed
	args  []any
}

// Connect opens the connection of a worker for a phase of the program.
func (d *database) Connect(_ context.Context, phase, number int) (filewise.Session, error) {
	machine, err := session.New(d.program, phase, number)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dropped {
		return nil, errors.New("the database was dropped")
	}
	d.worked.Store(true)
	w := &worker{Session: machine, d: d, open: true, links: make([]*link, d.count)}
	machine.Engine = session.Engine{
		Explain:   explain,
		Unchanged: func(error) bool { return true }, // what fails is rolled back: SQLite is in this process
	}
	var works filewise.Session = w
	switch {
	case d.program.Custom != nil:
		machine.One, err = w.custom()
	case d.divided():
		machine.One, err = w.orders()
	case !d.program.Appends():
		machine.One = w.statement
	default:
		works, err = w.appender()
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	d.workers = append(d.workers, w)
	return works, nil
}

// link is the worker's connection to file at.
func (w *worker) link(at int) (*link, error) {
	if l := w.links[at]; l != nil {
		return l, nil
	}
	c, err := w.d.openShard(w.d.shards[at])
	if err == nil {
		w.links[at] = newLink(c, &w.counts)
	}
	return w.links[at], err
}

// Do executes n operations and returns how many of them are committed.
func (w *worker) Do(ctx context.Context, first, n int64) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.open {
		return 0, errClosed
	}
	return w.Session.Do(ctx, first, n)
}

var errClosed = errors.New("the connection is closed")

// Close closes the connections. Closing again does nothing.
func (w *worker) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = false
	var errs []error
	for i, l := range w.links {
		if l != nil {
			errs = append(errs, l.close())
		}
		w.links[i] = nil
	}
	return errors.Join(errs...)
}

func (w *worker) isOpen() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}
