package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"filewise"
	"filewise/engine/sqlserver/dialect"
)

// dropPatience limits the wait for others to leave a database that is dropped.
const dropPatience = 20 * time.Second

// pauses holds how long to wait for a server.
type pauses struct {
	drop  time.Duration // for others to leave a database
	again time.Duration // between two checks whether they have
	wake  time.Duration // for a living run to take its lock again on a build that was offline
}

// usualPauses holds the default pauses. After emptying the buffers, a run takes its build's lock again within a second.
var usualPauses = pauses{dropPatience, 200 * time.Millisecond, time.Second}

// drop drops the database with this name if it has exactly this marker, and contains only what Filewise or custom SQL
// makes. Without a marker, the database must be empty and unmarked.
func (s *externalServer) drop(ctx context.Context, name, text string) error {
	statement, err := server.Statement("drop", map[string]any{"Name": name, "Mark": text, "Unmarked": text == "",
		"Custom": forCustom(name, text)})
	if err != nil {
		return err
	}
	insist := func() error { return s.insist(ctx, statement, "dropping "+name, "DROP DATABASE "+dialect.Ident(name)) }
	err = insist()
	if hasNumber(err, errOffline) { // its marker cannot be read
		if err = s.wake(ctx, name); err == nil {
			err = insist()
		}
	}
	return err
}

// within calls f with a connection to a database, and then closes it.
func (s *externalServer) within(name string, f func(*sql.DB) error) error {
	db := s.login.pool(name, appName, 1)
	return errors.Join(f(db), db.Close())
}

// insist repeats a batch while others are still leaving the database that it concerns. last is the statement for an
// administrator if the account may not execute the batch.
func (s *externalServer) insist(ctx context.Context, statement, doing, last string) error {
	return s.persist(ctx, doing, last, func() error { _, err := s.control.ExecContext(ctx, statement); return err })
}

// persist repeats do while sessions that leave the database are still in it.
func (s *externalServer) persist(ctx context.Context, doing, last string, do func() error) error {
	deadline := time.Now().Add(s.pauses.drop)
	for {
		err := do()
		switch {
		case err == nil, hasNumber(err, errNoDatabase) && !hasNumber(err, errNotMarked):
			return nil
		case hasNumber(err, errNotMarked):
			return filewise.Errorf(filewise.CodePreflight, "check it, and drop it yourself if it is not needed",
				"%s: the database does not carry the marker that it was given: %w", doing, err)
		case hasNumber(err, errOthers):
			return filewise.Errorf(filewise.CodePreflight, "check it, save what you need, and drop it yourself",
				"%s: nothing is done: %w", doing, err)
		case !hasNumber(err, errInUse) && !hasNumber(err, errOthersIn) && !hasNumber(err, errNoLock) || time.Now().After(deadline):
			remedy := "filewise clean --target URL removes what is left; if that cannot, " + administrator(last)
			if slices.ContainsFunc(lackOfRight, func(n int) bool { return hasNumber(err, n) }) {
				remedy = administrator(last)
			}
			return filewise.Errorf(filewise.CodeTrials, remedy, "%s: %w", doing, s.login.explain(err))
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), s.login.explain(err))
		case <-time.After(s.pauses.again):
		}
	}
}

// Drop drops the build's database if it still carries its marker. Calling Drop twice is harmless.
func (b *build) Drop(ctx context.Context) error {
	var discarded error
	if b.backups != nil {
		discarded = b.backups.Discard(ctx)
		b.backups.leave()
	}
	b.leave()
	return errors.Join(b.drop(ctx, b.design.marker), discarded)
}

// drop drops the database with this marker. With an empty marker, the database must be empty.
func (b *build) drop(ctx context.Context, marker string) error {
	err := b.server.drop(ctx, b.design.name, marker)
	if err == nil {
		b.server.builds.Remove(b)
	}
	return err
}

// dropFailed removes what a failed build has left. The database may be marked, unmarked or missing.
func (b *build) dropFailed(ctx context.Context) error {
	err := b.Drop(ctx)
	if hasNumber(err, errNotMarked) {
		return b.drop(ctx, "")
	}
	return err
}

// leave closes Filewise's connections to the database.
func (b *build) leave() {
	b.server.idle.end(b)
	b.mu.Lock()
	keeper := b.keeper
	b.keeper = nil
	b.mu.Unlock()
	for _, c := range []*sql.DB{b.inside, b.loader} {
		if c != nil {
			defer c.Close()
		}
	}
	if keeper != nil {
		_ = keeper.Close() // the database is dropped, and the server may have ended the connection
	}
}
