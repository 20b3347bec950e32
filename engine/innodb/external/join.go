package external

import (
	"context"
	"slices"
	"strconv"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/internal/marker"
)

// Join implements filewise.Sharer.
func (s *server) Join(_ context.Context, l filewise.Layout, p filewise.Program, shared string) (filewise.Connector, func(), error) {
	if !marker.IsName(shared) {
		return nil, nil, filewise.Errorf(filewise.CodeInternal, "", "build %q is none that others may join", shared)
	}
	d, err := newDesign(s.product, s.target, l, p, shared, s.pageSize())
	if err != nil {
		return nil, nil, err
	}
	b := &build{server: s, name: shared, design: d, control: s.pool(shared, controlConnections)}
	leave := func() { _ = b.control.Close() } // the process that made the build ends what this one cannot
	return dialect.Connector{Host: b, Schema: d.Schema}, leave, nil
}

// shared returns the name by which drivers join the build. This process does not see their work.
func (b *build) shared() string {
	b.Touched()
	return b.name
}

// Now returns the time by the server's clock.
func (s *server) Now(ctx context.Context) (time.Time, error) {
	var micros int64
	err := s.db.QueryRowContext(ctx, "SELECT CAST(1000000 * UNIX_TIMESTAMP(SYSDATE(6)) AS SIGNED)").Scan(&micros)
	return time.UnixMicro(micros), s.explain(err)
}

// sessionsOfDrivers queries this account's connections in a database, from any host.
const sessionsOfDrivers = "SELECT p.ID FROM information_schema.PROCESSLIST p JOIN information_schema.PROCESSLIST me " +
	"ON me.ID = CONNECTION_ID() AND me.USER = p.USER WHERE p.DB = ?"

// endDrivers ends the connections of other processes that have joined a build.
func (s *server) endDrivers(ctx context.Context, b *build) error {
	return end(ctx, s.db, func() ([]string, error) {
		var others []string
		err := dialect.Each(ctx, s.db, func(scan dialect.Scan) error {
			var id int64
			err := scan(&id)
			if err == nil && !s.numbers.has(id) {
				others = append(others, strconv.FormatInt(id, 10))
			}
			return err
		}, sessionsOfDrivers, b.name)
		return others, err
	})
}

// made reports whether a database is a build, whose sessions are this process's or its drivers'.
func (s *server) made(database string) bool {
	return slices.ContainsFunc(s.builds.All(), func(b *build) bool { return b.name == database })
}

// If a network connection is cut silently, the sessions of a dead Filewise stay on the server for hours. The marker of
// their database shows that the run died, and that it ran on this host.

// sessionsOfDead queries the connections that a dead run left. They use its database or hold the lock with its name,
// and have this connection's account and host.
const sessionsOfDead = "SELECT p.ID FROM information_schema.PROCESSLIST p JOIN information_schema.PROCESSLIST me " +
	"ON me.ID = CONNECTION_ID() AND me.USER = p.USER AND TRIM(TRAILING SUBSTRING_INDEX(me.HOST, ':', -1) FROM me.HOST) = " +
	"TRIM(TRAILING SUBSTRING_INDEX(p.HOST, ':', -1) FROM p.HOST) WHERE p.DB = ? OR p.ID = IS_USED_LOCK(?)"

// endDead ends these connections.
func (s *server) endDead(ctx context.Context, database string) error {
	return end(ctx, s.db, func() ([]string, error) { return dialect.Column(ctx, s.db, sessionsOfDead, database, database) })
}

// endPatience limits how long ended connections can keep what they hold.
const endPatience = 10 * time.Second

// end ends the connections that which returns until it returns none.
func end(ctx context.Context, db dialect.Queryer, which func() ([]string, error)) error {
	for limit := time.Now().Add(endPatience); ; {
		ids, err := which()
		if err != nil || len(ids) == 0 || time.Now().After(limit) {
			return err
		}
		for _, id := range ids {
			_, err = db.ExecContext(ctx, "KILL CONNECTION "+id)
			if n, _ := dialect.Number(err); err != nil && n != dialect.ErrNoThread {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
