package oracle

import (
	"context"
	"errors"
	"io"

	"filewise"
	"filewise/engine/oracle/internal/capturing"
)

// Watch opens a schema of a database, for reading only.
func (e Engine) Watch(ctx context.Context, t filewise.Target, database string) (filewise.Watcher, error) {
	opened, err := e.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	s := opened.(*server)
	w, err := watch(ctx, s.control, s.about, s.Close, database)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return w, nil
}

func watch(ctx context.Context, c client, a about, end func() error, schema string) (filewise.Watcher, error) {
	rules := userNames{}.Plain()
	rules.Qualified = true
	server := capturing.Server{Banner: "Oracle " + a.version, Rules: rules, Unseen: unreadable, Close: end}
	server.Ask = func(ctx context.Context, section string, v map[string]any, args ...any) ([][]any, error) {
		all, err := rowsOf(ctx, c, captureSQL, 0, section, v, args...)
		if unreadable(err) {
			remedy := grants(a.account, applied, captured, []view{{Name: "DBA_TABLES"}, {Name: "DBA_SEGMENTS"}, {Name: "V_$SESSION"}})
			err = filewise.Errorf(filewise.CodePreflight, remedy, "the account may not read what capture asks: %w", err)
		}
		return all, err
	}
	server.Exec = func(ctx context.Context, section string, args ...any) error {
		s, err := askOf(captureSQL, section, nil, args...)
		if err != nil {
			return err
		}
		return c.exec(ctx, s)
	}
	return capturing.Watch(ctx, server, schema)
}

// ReadLog is refused: the server writes no log of statements.
func (Engine) ReadLog(io.Reader, string, func(filewise.LoggedStatement)) error {
	return absent("leave --log out: capture reads what the server counts", "statements of a log on oracle")
}
