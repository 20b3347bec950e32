package postgres

import (
	"context"
	"io"

	"filewise"
	"filewise/engine/postgres/internal/capturing"
)

// Watch opens a user's database, for reading only.
func (Engine) Watch(ctx context.Context, t filewise.Target, database string) (filewise.Watcher, error) {
	if err := checkExternal(t); err != nil {
		return nil, err
	}
	a := *t.Address
	a.Path = database
	return capturing.Watch(ctx, a, customRules)
}

// ReadLog reads a server's csvlog or jsonlog, and calls each for every statement of the database.
func (Engine) ReadLog(r io.Reader, database string, each func(filewise.LoggedStatement)) error {
	t := customRules.Teller(true, each)
	defer t.Close()
	return capturing.ReadLog(r, database, t.Tell)
}
