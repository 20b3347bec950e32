package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

const (
	// mostAttached is what SQLite is compiled with (SQLITE_MAX_ATTACHED).
	mostAttached = 10
	// mostLinks is how many connections at most have all files attached: each of
	// them has as many files open as the layout has, three times.
	mostLinks = 16
)

// attachedName is the schema under which file i is attached.
func attachedName(i int) string { return fmt.Sprintf("fw_%04d", i+1) }

// attach attaches a file under a name.
func (c *conn) attach(file, name string) error {
	if _, err := c.ExecContext(background, "ATTACH DATABASE ?1 AS "+ident(name), named(file)); err != nil {
		return fmt.Errorf("attaching %s: %w", file, err)
	}
	return nil
}

// attachOthers attaches all files but the first, with which they share names.
func (s *shape) attachOthers(c *conn) error {
	for i, sh := range s.shards[1:] {
		if err := c.attach(sh.path, attachedName(i+1)); err != nil {
			return err
		}
	}
	return nil
}

// openAll opens a connection to no file of its own, with all files attached: its
// transactions lock those alone that they touch.
func (s *shape) openAll() (*conn, error) {
	raw, err := workers.Open("file::memory:?mode=memory")
	if err != nil {
		return nil, fmt.Errorf("opening a connection for all files: %w", err)
	}
	c := &conn{raw, "all files"}
	if err := s.attachAll(c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (s *shape) attachAll(c *conn) error {
	pragmas := []string{fmt.Sprintf("busy_timeout = %d", busyMillis), fmt.Sprintf("wal_autocheckpoint = %d", s.autoCheckpoint)}
	for i, sh := range s.shards {
		name := attachedName(i)
		if err := c.attach(sh.path, name); err != nil {
			return err
		}
		if sh.chunk > 0 {
			if err := c.setChunk(name, sh); err != nil {
				return err
			}
		}
		for _, set := range append([]string{"synchronous = " + s.synchronous}, s.settings...) {
			pragmas = append(pragmas, name+"."+set)
		}
	}
	for _, set := range pragmas {
		if _, err := c.query(background, "PRAGMA "+set); err != nil {
			return err
		}
	}
	return nil
}

// attachedLinks are the connections to all files, which workers borrow.
type attachedLinks struct {
	mu        sync.Mutex
	all, free []*link
	places    chan struct{} // as many as there may be connections in use
}

// take borrows one, waiting until one may be had.
func (a *attachedLinks) take(ctx context.Context, s *shape) (*link, error) {
	a.mu.Lock()
	if a.places == nil {
		a.places = make(chan struct{}, mostLinks)
	}
	places := a.places
	a.mu.Unlock()
	select {
	case places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.free); n > 0 {
		l := a.free[n-1]
		a.free = a.free[:n-1]
		return l, nil
	}
	c, err := s.openAll()
	if err != nil {
		<-places
		return nil, err
	}
	l := newLink(c, nil)
	a.all = append(a.all, l)
	return l, nil
}

// give returns one.
func (a *attachedLinks) give(l *link) {
	a.mu.Lock()
	a.free = append(a.free, l)
	a.mu.Unlock()
	<-a.places
}

// close closes them all; none may be in use.
func (a *attachedLinks) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, l := range a.all {
		errs = append(errs, l.close())
	}
	a.all, a.free = nil, nil
	return errors.Join(errs...)
}
