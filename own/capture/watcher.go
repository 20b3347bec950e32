package capture

import (
	"context"
	"io"
	"time"

	"filewise"
	"filewise/run"
)

// Capturer is an engine that can record what the clients of an existing database do.
type Capturer interface {
	// Watch opens a user's database, in sessions that cannot write.
	Watch(ctx context.Context, t filewise.Target, database string) (Watcher, error)
	// ReadLog reads a server's log, and calls each in order with the statements that a database was given.
	ReadLog(r io.Reader, database string, each func(filewise.LoggedStatement)) error
}

// Watcher queries a database. Every query is light and has a time limit.
type Watcher interface {
	// Server returns the product and version.
	Server() string
	// Counted returns the statements that the server has counted so far, without their values. If the server does not
	// count, the error states what to do.
	Counted(context.Context) ([]filewise.CountedStatement, error)
	// Sessions returns how many of the database's sessions are executing something now, and how many there are.
	Sessions(context.Context) (active, connected int, err error)
	// Shape divides a statement from its values, except for the constants (see Shape.Keep). It executes nothing. The error
	// reports why the server would not accept the statement.
	Shape(ctx context.Context, text string, constants []string) (filewise.Shape, error)
	// Table returns the facts of the table with this name, with statistics of its columns. If no table has the name, the
	// facts have no name. No value of a column that withhold names is read or returned.
	Table(ctx context.Context, name string, withhold func(column string) bool) (filewise.TableFacts, error)
	// Settings returns the settings, by name, that make a managed server behave like this one. Settings that clients make
	// in their own sessions go before the server's; nil means none are known. "autocommit" is included if sessions begin
	// without it.
	Settings(ctx context.Context, sessions map[string]string) (map[string]string, error)
	Close() error
}

// patient is a Watcher that gives up if the server does not answer.
type patient struct {
	Watcher
	of filewise.Target
}

func (w patient) Counted(ctx context.Context) ([]filewise.CountedStatement, error) {
	return run.Ask(ctx, w.of, "the statements that it has counted", w.Watcher.Counted, nil)
}

func (w patient) Sessions(ctx context.Context) (active, connected int, err error) {
	both, err := run.Ask(ctx, w.of, "its sessions", func(ctx context.Context) (n [2]int, err error) {
		n[0], n[1], err = w.Watcher.Sessions(ctx)
		return n, err
	}, nil)
	return both[0], both[1], err
}

func (w patient) Shape(ctx context.Context, text string, constants []string) (filewise.Shape, error) {
	return run.Ask(ctx, w.of, "the shape of a statement", func(ctx context.Context) (filewise.Shape, error) {
		return w.Watcher.Shape(ctx, text, constants)
	}, nil)
}

func (w patient) Table(ctx context.Context, name string, withhold func(string) bool) (filewise.TableFacts, error) {
	return run.Ask(ctx, w.of, "table "+name, func(ctx context.Context) (filewise.TableFacts, error) {
		return w.Watcher.Table(ctx, name, withhold)
	}, nil)
}

func (w patient) Settings(ctx context.Context, sessions map[string]string) (map[string]string, error) {
	return run.Ask(ctx, w.of, "its settings", func(ctx context.Context) (map[string]string, error) {
		return w.Watcher.Settings(ctx, sessions)
	}, nil)
}

// Close waits at most a second, since a driver may wait for the server's reply.
func (w patient) Close() error {
	closed := make(chan error, 1)
	go func() { closed <- w.Watcher.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(time.Second):
		return nil
	}
}
