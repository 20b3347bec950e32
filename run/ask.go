package run

import (
	"context"
	"errors"
	"time"

	"filewise"
)

// askPatience bounds every read-only question to an external server. Otherwise a server that accepts the connection and
// never answers, or sends rows without end, would block the command for ever. Tests shorten it.
var askPatience = filewise.ReadPatience

// lateness is the extra time that a question may take to end after its time is over, before it is abandoned. Tests
// shorten it.
var lateness = 5 * time.Second

// lookPatience bounds all questions of one look at a server together. Each question has its own limit too.
const lookPatience = time.Minute

// scriptPatience bounds all questions needed to write a script for a database.
const scriptPatience = 5 * time.Minute

// dropPatience bounds the removal of a killed run's leftovers, which may hold a lot of data.
const dropPatience = 10 * time.Minute

// Ask runs do, which asks an external server a question, within askPatience. For other targets it sets no limit. A
// driver that does not give up in time is abandoned. If the driver returns a result late, leave closes it, unless leave
// is nil.
func Ask[T any](ctx context.Context, t filewise.Target, question string, do func(context.Context) (T, error), leave func(T)) (T, error) {
	if t.Mode != filewise.External {
		return do(ctx)
	}
	return within(ctx, askPatience, t, question, do, leave)
}

func within[T any](ctx context.Context, patience time.Duration, t filewise.Target, question string,
	do func(context.Context) (T, error), leave func(T)) (T, error) {
	type answer struct {
		of  T
		err error
	}
	silent := func(after time.Duration) error {
		return filewise.Errorf(filewise.CodePreflight, "check whether the server answers others (is it stopped, full, or another program?), "+
			"then run the command again", "%s: %w within %v to: %s", t.Address, filewise.ErrNoAnswer, after, question)
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, patience, silent(patience))
	defer cancel()
	answered := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = filewise.Errorf(filewise.CodePreflight, "check what answers there, and name a server that keeps to its protocol",
					"%s sent an answer that cannot be read (%s): %v", t.Address, question, p)
			}
			answered <- a
		}()
		a.of, a.err = do(limited)
	}()
	var a answer
	select {
	case a = <-answered:
	case <-limited.Done():
		select {
		case a = <-answered:
		case <-time.After(lateness):
			go func() {
				if late := <-answered; late.err == nil && leave != nil {
					leave(late.of)
				}
			}()
			return a.of, context.Cause(limited)
		}
	}
	switch {
	case a.err == nil || ctx.Err() != nil || errors.Is(a.err, filewise.ErrNoAnswer):
	case limited.Err() != nil:
		a.err = silent(patience)
	case filewise.CodeOf(a.err) == filewise.CodeInternal && errors.Is(a.err, context.DeadlineExceeded): // a shorter limit within the driver
		a.err = silent(time.Since(began).Round(time.Second))
	}
	return a.of, a.err
}

// Facts returns the opened server's facts.
func (env *Environment) Facts(ctx context.Context) ([]filewise.Fact, error) {
	return Ask(ctx, env.Target, "version and settings", env.Server.Facts, nil)
}

func activity(ctx context.Context, t filewise.Target, of filewise.ExternalServer) ([]filewise.Gauge, error) {
	return Ask(ctx, t, "what others do there", of.Activity, nil)
}

func leftovers(ctx context.Context, t filewise.Target, of filewise.ExternalServer) ([]filewise.Leftover, error) {
	return Ask(ctx, t, "what killed runs have left there", of.Leftovers, nil)
}

func opened(ctx context.Context, e filewise.Engine, t filewise.Target) (filewise.Server, error) {
	return Ask(ctx, t, "a session", func(ctx context.Context) (filewise.Server, error) { return e.Open(ctx, t) },
		func(s filewise.Server) { _ = s.Close() })
}

// Script calls write, which writes the scripts that change a database to a layout, within scriptPatience.
func Script(ctx context.Context, t filewise.Target, write func(context.Context) (filewise.Migration, error)) (filewise.Migration, error) {
	return within(ctx, scriptPatience, t, "what its scripts need", write, nil)
}
