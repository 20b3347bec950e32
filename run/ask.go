package run

import (
	"context"
	"errors"
	"time"

	"filewise"
)

// askPatience bounds every question to a server by URL that only reads: a server that takes the connection and never
// answers, or sends rows without end, would hold the command for ever. Tests shorten it.
var askPatience = 30 * time.Second

var errSilent = errors.New("no answer")

// lateness is the time that a question may take to end after its time, before it is left behind. Tests shorten it.
var lateness = 5 * time.Second

// lookPatience bounds all questions of a look at a server, each of which has its own patience.
const lookPatience = time.Minute

// scriptPatience bounds all questions that a script for a database takes.
const scriptPatience = 5 * time.Minute

// dropPatience bounds the drop of what a killed run has left, which may hold a lot of data.
const dropPatience = 10 * time.Minute

// ask sends a server by URL a question within askPatience; others have no limit. A driver that does not give up in
// time is left behind, and leave, unless it is nil, ends what it returns late.
func ask[T any](ctx context.Context, t filewise.Target, question string, do func(context.Context) (T, error), leave func(T)) (T, error) {
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
		return filewise.Errorf(filewise.CodePreflight, "look whether the server answers others (is it stopped, full, or another program?), "+
			"then run the command again", "%s: %w within %v to: %s", t.Address, errSilent, after, question)
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, patience, silent(patience))
	defer cancel()
	answered := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.err = filewise.Errorf(filewise.CodePreflight, "look at what answers there, and name a server that keeps to its protocol",
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
	case a.err == nil || ctx.Err() != nil || errors.Is(a.err, errSilent):
	case limited.Err() != nil:
		a.err = silent(patience)
	case filewise.CodeOf(a.err) == filewise.CodeInternal && errors.Is(a.err, context.DeadlineExceeded): // of a shorter patience within
		a.err = silent(time.Since(began).Round(time.Second))
	}
	return a.of, a.err
}

// Facts returns the opened server's facts.
func (env *Environment) Facts(ctx context.Context) ([]filewise.Fact, error) {
	return ask(ctx, env.Target, "version and settings", env.Server.Facts, nil)
}

func activity(ctx context.Context, t filewise.Target, of filewise.Monitor) ([]filewise.Gauge, error) {
	return ask(ctx, t, "what others do there", of.Activity, nil)
}

func leftovers(ctx context.Context, t filewise.Target, of filewise.Cleaner) ([]filewise.Leftover, error) {
	return ask(ctx, t, "what killed runs have left there", of.Leftovers, nil)
}

func opened(ctx context.Context, e filewise.Engine, t filewise.Target) (filewise.Server, error) {
	return ask(ctx, t, "a session", func(ctx context.Context) (filewise.Server, error) { return e.Open(ctx, t) },
		func(s filewise.Server) { _ = s.Close() })
}
