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

// storm is the number of connections that are opened or closed at the same time. It is large enough for the round trips
// of handshakes to overlap. It is small enough never to fill a server's queue of new connections (80 on MariaDB by
// default).
const storm = 16

// Connect opens a phase's connections for n workers, several at a time. If one fails, all are closed, and the error
// reports how many were open.
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
			// Pass ctx, not the group's context: a connection may keep it as long as it lives.
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

// refused returns an error with the limit that a new connection probably exceeded.
func refused(had, want int, err error) error {
	remedy := filewise.RemedyOf(err)
	switch {
	case fault.TooManyFiles(err):
		remedy = fault.MoreFiles + "use fewer --connections"
	case remedy == "":
		remedy = "raise the server's limit of connections (max_connections), or use fewer --connections"
	}
	return filewise.Errorf(filewise.CodeTrials, remedy, "with %d of %d connections open, the next one failed: %w", had, want, err)
}

// CloseAll closes connections, several at a time. It skips nil ones, which were never opened.
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
	_ = eg.Wait() // errors are collected in errs
	return errors.Join(errs...)
}

// connect opens a phase's connections, which continue after the operations they have committed. In an interleaved block
// they stay open for all turns if keepsOpen allows it. With drivers all are nil, because drivers open their own.
func (l *life) connect(ctx context.Context, i int) (_ []filewise.Session, err error) {
	if l.runner.Drivers != nil {
		return make([]filewise.Session, l.program.Phases[i].Connections), nil
	}
	sessions := slices.Clone(l.open[i])
	if sessions == nil {
		sessions, err = Connect(ctx, l.db, i, l.program.Phases[i].Connections)
		if err == nil && l.keepsOpen() {
			l.open[i] = slices.Clone(sessions)
		}
	}
	return GoOn(sessions, l.ledgers[i]), err
}

// GoOn returns the connections, each continuing after the operations it has done in a phase.
func GoOn(sessions []filewise.Session, done filewise.Ledger) []filewise.Session {
	for w, s := range sessions {
		if w < len(done) && done[w] > 0 {
			sessions[w] = after{s, done[w]}
		}
	}
	return sessions
}

// mostKept is the largest number of connections that a layout keeps open between its turns.
const mostKept = 64

// keepsOpen reports whether connections stay open until the next turn. They do if they are few, and if the server is
// the layout's own, so that they block no other client.
func (l *life) keepsOpen() bool {
	if l.open == nil {
		return false
	}
	sum := 0
	for _, x := range l.program.Phases {
		sum += x.Connections
		if x.Cache != filewise.CacheAsIs { // this restarts the server
			return false
		}
	}
	return sum <= mostKept && l.runner.Plan.Target.Mode != filewise.External
}

// disconnect closes connections after a turn, unless connect keeps them open for the next one.
func (l *life) disconnect(i int, sessions []filewise.Session) error {
	if l.open[i] != nil {
		return nil
	}
	return CloseAll(sessions)
}

// closeOpen closes the connections that were kept open for later turns.
func (l *life) closeOpen() error {
	var errs []error
	for i, sessions := range l.open {
		errs = append(errs, CloseAll(sessions))
		delete(l.open, i)
	}
	return errors.Join(errs...)
}

// otherDescriptors is the allowance for open descriptors other than the workload's connections: the store, probes,
// control connections, the web page.
const otherDescriptors = 128

// FitsOpenFiles raises this process's limit of open files as far as allowed. It returns an error if the connections
// would exceed that limit.
func FitsOpenFiles(connections int) error {
	limit, known := openfiles.Raise()
	need := uint64(connections + otherDescriptors)
	if !known || need <= limit { // an unknown limit shows when connections are opened
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight, fmt.Sprintf("raise it (ulimit -n %d), or use --connections %d", need,
		max(int(limit)-otherDescriptors, 1)),
		"%d connections need %d open files; this process may have %d", connections, need, limit)
}

// Drivers puts a phase's load on a build from other processes, which work together.
type Drivers interface {
	// Drive runs the load and returns the drivers' work as one result, whose deltas are the drivers' own. The error wraps
	// ErrVoid if a driver failed rather than the server.
	Drive(context.Context, Share) (drive.Result, error)
	// Await is called before each trial. It waits for drivers that are gone, and reports each wait. An error ends the run.
	Await(ctx context.Context, waits func(why string)) error
}

// ErrVoid reports that a driver was too late or has died. The trial does not count against its layout: it is stored
// with the reason and measured again.
var ErrVoid = errors.New("void")

// Share is the load of a phase that drivers put on a build. Its sessions are nil; their number is the number of
// connections.
type Share struct {
	Plan    Plan
	Layout  filewise.Layout
	Build   string // as filewise.Database.Shared returns it
	Phase   int
	Done    filewise.Ledger // operations of the phase done before
	Discard bool            // the operations before the measured ones are needed
	Chunk   int64           // as in filewise.Database.Chunk
	drive.Load
}

// drive puts a load on the build: in this process, or with the drivers.
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
