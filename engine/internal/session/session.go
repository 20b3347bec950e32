package session

import (
	"context"
	"fmt"
	"time"

	"filewise"
	"filewise/engine/internal/operations"
)

// Session is one connection that executes operations. It implements filewise.Session.
type Session struct {
	Engine
	Worker int
	Phase  filewise.Phase
	Limit  int64  // the most operations that the connection can execute; 0 means no limit
	Noun   string // what errors call an operation

	typed filewise.TypedArgs // nil if all operations are of one type
	watch watch
	// refused is the operation whose values collided with an existing key, and attempts counts these collisions. If attempts is 0,
	// none did.
	refused  int64
	attempts int
}

// Engine holds the engine's functions for a session. They work on the session's connection unless stated otherwise.
type Engine struct {
	// Call has the server execute operations first … first+n−1.
	Call func(ctx context.Context, first, n int64) error
	// One executes one operation. In a PerStatement phase it also opens and closes the connection, and calls Guard itself
	// while the connection is open.
	One func(ctx context.Context, i int64) error
	// Try executes one operation and rolls it back. If nil, Rehearse does nothing.
	Try func(ctx context.Context, i int64) error
	// Interrupt asks the server, through another connection, to end what this one executes. It is called again until that
	// has ended, because a server forgets a request that arrives between two statements. If Interrupt is set, the contexts
	// of Call and One never end. If nil, those contexts end, and the driver does the interrupting.
	Interrupt func(ctx context.Context) error
	// Drop closes the connection on this side, even while something waits for a reply. The network connection or the
	// server may have died silently. If nil, the driver notices that itself.
	Drop func()
	// Interrupted recognizes the error of an interrupted call. If nil, every error after the context's end counts as one.
	Interrupted func(err error) bool
	// Unchanged recognizes the error of an operation that was not begun or surely changed nothing, so that nothing is
	// looked up. If nil, no error shows that.
	Unchanged func(err error) bool
	// Died reports whether the server is known to have ended. Then nothing can be looked up, and the trial has failed. If
	// nil, that is never known.
	Died func() bool
	// Rollback ends the transaction, if one is open.
	Rollback func(ctx context.Context) error
	// Kill has the server end a session whose connection is broken, because it may still be working. If nil, the server
	// notices by itself.
	Kill func(ctx context.Context) error
	// Alive reports whether the server still has the session. If nil, Kill has waited for the session's end.
	Alive func(ctx context.Context) (bool, error)
	// Look reports, through another connection, whether the operation with these arguments is committed. If nil, the data
	// do not show that.
	Look func(ctx context.Context, args []any) (bool, error)
	// Explain adds the class and the remedy to an error of Call and One. Errors of the other functions have both already.
	Explain func(err error) error
	// Release closes the connection if it is open. It can be called twice.
	Release func() error
	// Patience limits the clean-up after a failure. 0 means 30 s.
	Patience time.Duration
}

// New returns the session of a worker in a phase. The caller must then set Engine.
func New(p filewise.Program, phase, worker int) (*Session, error) {
	if phase < 0 || phase >= len(p.Phases) {
		return nil, internal("phase %d of %d", phase, len(p.Phases))
	}
	x := p.Phases[phase]
	if n := p.Connections(); worker < 0 || worker >= n {
		return nil, internal("worker %d of %d in phase %d", worker, n, phase)
	}
	if x.Act != filewise.ActWork {
		return nil, internal("a connection for %s, which has none: %w", x.Operation, filewise.ErrUnsupported)
	}
	s := &Session{Worker: worker, Phase: x, Limit: x.Limit, Noun: "operation"}
	if len(x.Types) == 0 {
		return s, nil
	}
	var ok bool
	if s.typed, ok = x.Args.(filewise.TypedArgs); !ok || len(x.Sections) != len(x.Types) || x.PerStatement {
		return nil, internal("phase %s has %d types of operations, and %d sections", x.Operation, len(x.Types), len(x.Sections))
	}
	return s, nil
}

func internal(format string, args ...any) error {
	return filewise.Errorf(filewise.CodeInternal, "", format, args...)
}

// Do executes operations first … first+n−1 and returns how many of them are committed.
func (s *Session) Do(ctx context.Context, first, n int64) (int64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if s.Call == nil {
		return s.each(ctx, first, n)
	}
	if s.Limit == 0 || first+n <= s.Limit {
		return s.loop(ctx, first, n)
	}
	done, err := s.loop(ctx, first, max(s.Limit-first, 0))
	if err == nil {
		err = filewise.Errorf(filewise.CodeTrials, "make --work smaller, or use --key sequential",
			"connection %d has no unique keys beyond its row %d", s.Worker, s.Limit)
	}
	return done, err
}

// loop has the server execute the operations in one call, and returns how many are committed.
func (s *Session) loop(ctx context.Context, first, n int64) (int64, error) {
	err := s.Guard(ctx, func(ctx context.Context) error { return s.Call(ctx, first, n) })
	if err == nil {
		return n, nil
	}
	return s.failed(ctx, first, n, err)
}

// each has the client execute the operations one after the other.
func (s *Session) each(ctx context.Context, first, n int64) (done int64, err error) {
	if s.Phase.PerStatement {
		done, err = s.run(ctx, ctx, first, n)
	} else {
		err = s.Guard(ctx, func(calm context.Context) (err error) {
			done, err = s.run(ctx, calm, first, n)
			return err
		})
	}
	if err == nil || ended(ctx, err) {
		return done, err
	}
	defer func() {
		if filewise.ClassOf(err) == filewise.ClassDuplicate {
			s.refuse(first + done)
		}
	}()
	if s.Unchanged != nil && s.Unchanged(err) {
		return done, s.named(ctx, first+done, s.explain(ctx, err))
	}
	more, err := s.failed(ctx, first+done, 1, err)
	return done + more, s.named(ctx, first+done, err)
}

// redrawer draws values again if an operation's values made a key that exists already.
type redrawer interface {
	// ArgsAgain appends the arguments for another attempt at the operation. Attempts count from 1.
	ArgsAgain(dst []any, worker int, i int64, attempt int) []any
}

// Args appends the arguments of operation i to dst. If the operation's values collided with an existing key before, new
// values are drawn.
func (s *Session) Args(dst []any, i int64) []any {
	if again, ok := s.Phase.Args.(redrawer); ok && s.attempts > 0 && i == s.refused {
		return again.ArgsAgain(dst, s.Worker, i, s.attempts)
	}
	return s.Phase.Args.Args(dst, s.Worker, i)
}

// refuse notes that the values of operation i collided with an existing key.
func (s *Session) refuse(i int64) {
	if s.refused != i {
		s.refused, s.attempts = i, 0
	}
	s.attempts++
}

// Rehearse executes operation i and rolls it back. If its values collide with an existing key, it tries other values.
func (s *Session) Rehearse(ctx context.Context, i int64) (err error) {
	if s.Try == nil {
		return nil
	}
	s.attempts = 0
	for range mostRedrawn {
		err = s.Guard(ctx, func(calm context.Context) error { return s.Try(calm, i) })
		if err == nil {
			break
		}
		if err = s.explain(ctx, err); filewise.ClassOf(err) != filewise.ClassDuplicate {
			break
		}
		s.refuse(i)
	}
	s.attempts = 0
	return err
}

// mostRedrawn limits how often a rehearsal draws values to find a new key.
const mostRedrawn = 50

// run executes operations until one fails or ctx ends, and returns how many were executed.
func (s *Session) run(ctx, calm context.Context, first, n int64) (done int64, err error) {
	for ; done < n; done++ {
		if ctx.Err() != nil {
			return done, context.Cause(ctx)
		}
		if err := s.One(calm, first+done); err != nil {
			return done, err
		}
	}
	return n, nil
}

// Type returns the type of operation i, as an index of the phase's sections.
func (s *Session) Type(i int64) int {
	if s.typed == nil {
		return 0
	}
	return s.typed.TypeOf(s.Worker, i)
}

// named adds to an error which operation failed, unless the error is only the context's end.
func (s *Session) named(ctx context.Context, i int64, err error) error {
	if err == nil || ended(ctx, err) {
		return err
	}
	return fmt.Errorf("connection %d, %s %d: %w", s.Worker, s.Noun, i, err)
}

// ended reports whether an error is the cause of the context's end and nothing else.
func ended(ctx context.Context, err error) bool {
	return ctx.Err() != nil && err == context.Cause(ctx) //nolint:errorlint // more than the cause is more than the end
}

// Close ends the connection.
func (s *Session) Close() error {
	s.watch.end()
	if s.Release == nil {
		return nil
	}
	return s.Release()
}

// Render renders the SQL of a phase's operations, one result for each type.
func Render[T any](p filewise.Phase, render func(section string) (T, error)) ([]T, error) {
	var all []T
	for _, section := range operations.SectionsOf(p) {
		one, err := render(operations.Section(p, section))
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
