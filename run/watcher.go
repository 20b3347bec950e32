package run

import (
	"context"
	"errors"
	"time"

	"filewise"
)

// Watch opens a database for a watcher that only reads. No question takes longer than askPatience.
func Watch(ctx context.Context, e filewise.Capturer, t filewise.Target, database string) (filewise.Watcher, error) {
	open := func(ctx context.Context) (filewise.Watcher, error) { return e.Watch(ctx, t, database) }
	w, err := within(ctx, askPatience, t, "a session", open,
		func(w filewise.Watcher) { _ = w.Close() })
	if err != nil {
		return nil, err
	}
	return watcher{w, t}, nil
}

// Script calls write, which writes the scripts that change a database to a layout, within scriptPatience.
func Script(ctx context.Context, t filewise.Target, write func(context.Context) (filewise.Migration, error)) (filewise.Migration, error) {
	return within(ctx, scriptPatience, t, "what its scripts need", write, nil)
}

// watcher is a Watcher that gives up if the server does not answer.
type watcher struct {
	filewise.Watcher
	of filewise.Target
}

func (w watcher) Counted(ctx context.Context) ([]filewise.CountedStatement, error) {
	return within(ctx, askPatience, w.of, "the statements that it has counted", w.Watcher.Counted, nil)
}

func (w watcher) Sessions(ctx context.Context) (active, connected int, err error) {
	both, err := within(ctx, askPatience, w.of, "its sessions", func(ctx context.Context) (n [2]int, err error) {
		n[0], n[1], err = w.Watcher.Sessions(ctx)
		return n, err
	}, nil)
	return both[0], both[1], err
}

func (w watcher) Shape(ctx context.Context, text string, constants []string) (filewise.Shape, error) {
	return within(ctx, askPatience, w.of, "the shape of a statement", func(ctx context.Context) (filewise.Shape, error) {
		return w.Watcher.Shape(ctx, text, constants)
	}, nil)
}

func (w watcher) Table(ctx context.Context, name string, withhold func(string) bool) (filewise.TableFacts, error) {
	return within(ctx, askPatience, w.of, "table "+name, func(ctx context.Context) (filewise.TableFacts, error) {
		return w.Watcher.Table(ctx, name, withhold)
	}, nil)
}

func (w watcher) Settings(ctx context.Context, sessions map[string]string) (map[string]string, error) {
	return within(ctx, askPatience, w.of, "its settings", func(ctx context.Context) (map[string]string, error) {
		return w.Watcher.Settings(ctx, sessions)
	}, nil)
}

// Close waits at most a second, since a driver may wait for the server's reply.
func (w watcher) Close() error {
	_, err := within(context.Background(), time.Second, w.of, "the end of a session",
		func(context.Context) (struct{}, error) { return struct{}{}, w.Watcher.Close() }, nil)
	if errors.Is(err, errSilent) {
		return nil
	}
	return err
}
