package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/internal/fault"
	"filewise/internal/openfiles"
	"filewise/lab/drive"
)

// storm is the number of connections that are opened or closed at the same time: enough for the round trips of a
// handshake to overlap, and few enough that a server's queue of new connections (80 on MariaDB by default) is never
// full.
const storm = 16

// Connect opens a connection of a phase for each of n workers, several at a time. When one fails, none stays open,
// and the error gives the number opened before.
func Connect(ctx context.Context, c filewise.Connector, phase, n int) ([]filewise.Session, error) {
	sessions := make([]filewise.Session, n)
	eg, ectx := errgroup.WithContext(ctx)
	eg.SetLimit(storm)
	for w := range sessions {
		if ectx.Err() != nil {
			break
		}
		eg.Go(func() (err error) {
			if err := ectx.Err(); err != nil {
				return err
			}
			// Not the group's context: a connection may keep it for its own life.
			sessions[w], err = c.Connect(ctx, phase, w)
			return err
		})
	}
	err := eg.Wait()
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return sessions, nil
	}
	if why := ctx.Err(); why != nil {
		err = why
	} else {
		err = refused(opened(sessions), n, err)
	}
	return nil, errors.Join(err, CloseAll(sessions))
}

func opened(sessions []filewise.Session) int {
	n := 0
	for _, s := range sessions {
		if s != nil {
			n++
		}
	}
	return n
}

// refused names the limit at which a connection failed.
func refused(had, want int, err error) error {
	remedy := filewise.RemedyOf(err)
	switch {
	case fault.TooManyFiles(err):
		remedy = "raise Filewise's own limit of open files (ulimit -n), or use fewer --connections"
	case remedy == "":
		remedy = "raise the server's limit of connections (max_connections), or use fewer --connections"
	}
	return filewise.Errorf(filewise.CodeTrials, remedy, "with %d of %d connections open, the next one failed: %w", had, want, err)
}

// CloseAll closes connections, several at a time; those that are nil were never
// opened.
func CloseAll(sessions []filewise.Session) error {
	errs := make([]error, len(sessions))
	var eg errgroup.Group
	eg.SetLimit(storm)
	for i, s := range sessions {
		if s == nil {
			continue
		}
		eg.Go(func() error {
			if err := s.Close(); err != nil {
				errs[i] = fmt.Errorf("close a connection: %w", err)
			}
			return nil
		})
	}
	_ = eg.Wait() // the errors are in errs
	return errors.Join(errs...)
}

// connect opens a phase's connections, which go on after what they have committed. In
// a session they stay open for all turns. Those of drivers are not opened here: all are nil.
func (l *life) connect(ctx context.Context, i int) (_ []filewise.Session, err error) {
	if l.runner.Drivers != nil {
		return make([]filewise.Session, l.program.Phases[i].Connections), nil
	}
	sessions := slices.Clone(l.open[i])
	if sessions == nil {
		sessions, err = Connect(ctx, l.db.Connector, i, l.program.Phases[i].Connections)
		if err == nil && l.keepsOpen() {
			l.open[i] = slices.Clone(sessions)
		}
	}
	return GoOn(sessions, l.ledgers[i]), err
}

// GoOn returns the connections, which go on after what they have done of a phase.
func GoOn(sessions []filewise.Session, done filewise.Ledger) []filewise.Session {
	for w, s := range sessions {
		if w < len(done) && done[w] > 0 {
			sessions[w] = after{s, done[w]}
		}
	}
	return sessions
}

// mostKept is the number of connections that a layout keeps open between its turns.
const mostKept = 64

// keepsOpen reports whether connections wait for the next turn: they are few, and on a server of the layout's own,
// where they take no other client's place.
func (l *life) keepsOpen() bool {
	if l.open == nil {
		return false
	}
	sum := 0
	for _, x := range l.program.Phases {
		sum += x.Connections
		if x.Cache != filewise.CacheAsIs { // whose server is restarted
			return false
		}
	}
	return sum <= mostKept && l.runner.Plan.Target.Mode != filewise.External
}

// disconnect closes connections after a turn, or leaves them to the next one.
func (l *life) disconnect(i int, sessions []filewise.Session) error {
	if l.open[i] != nil {
		return nil
	}
	return CloseAll(sessions)
}

// closeOpen closes what was left to further turns.
func (l *life) closeOpen() error {
	var errs []error
	for i, sessions := range l.open {
		errs = append(errs, CloseAll(sessions))
		delete(l.open, i)
	}
	return errors.Join(errs...)
}

// otherDescriptors counts Filewise's open descriptors apart from the workload's connections: the store, probes,
// control connections, the web page.
const otherDescriptors = 128

// FitsOpenFiles raises this process's limit of open files as far as it may, and
// refuses connections to a server that would exceed it.
func FitsOpenFiles(connections int) error {
	limit, known := openfiles.Raise()
	need := uint64(connections + otherDescriptors)
	if !known || need <= limit { // if the limit is not known, the connections will show it
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight, fmt.Sprintf("raise it (ulimit -n %d), or use --connections %d", need,
		max(int(limit)-otherDescriptors, 1)),
		"%d connections need %d open files; this process may have %d", connections, need, limit)
}

// Drivers are other processes that put a phase's load on the build, all of them together.
type Drivers interface {
	// Drive returns the drivers' work as one result, whose deltas are the drivers' own. The error wraps ErrVoid if a
	// driver, rather than the server, has failed.
	Drive(context.Context, Share) (drive.Result, error)
	// Await is called before each trial. It waits for a driver that is gone, and reports that; its error ends the
	// run.
	Await(ctx context.Context, waits func(why string)) error
}

// ErrVoid: a driver was too late, or has died. The trial does not count, whatever the layout; it
// is stored with the reason and measured again.
var ErrVoid = errors.New("void")

// Share is the load of a phase. Its sessions are nil, as many as there are connections.
type Share struct {
	Plan    Plan
	Layout  filewise.Layout
	Build   string // filewise.Database.Shared
	Phase   int
	Done    filewise.Ledger // of the phase, before
	Discard bool            // the operations that come before measured ones are needed
	Chunk   int64           // filewise.Database.Chunk
	drive.Load
}

// drive puts a load on the build: here, or by the drivers.
func (l *life) drive(ctx context.Context, i int, load drive.Load, measured bool) (drive.Result, error) {
	if l.runner.Drivers == nil {
		return drive.Run(ctx, load)
	}
	if l.db.Shared == nil {
		return drive.Result{}, filewise.Errorf(filewise.CodePreflight, "leave --drivers out", "no other process can work on the build")
	}
	return l.runner.Drivers.Drive(ctx, Share{Plan: l.runner.Plan, Layout: l.layout, Build: l.db.Shared(), Phase: i,
		Done: l.ledgers[i], Discard: measured, Chunk: l.db.Chunk, Load: load})
}
