package external

import (
	"context"
	"slices"
	"strconv"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/mark"
)

// Join implements filewise.Sharer.
func (s *server) Join(_ context.Context, l filewise.Layout, p filewise.Program, shared string) (filewise.Connector, func(), error) {
	if !mark.IsName(shared) {
		return nil, nil, filewise.Errorf(filewise.CodeInternal, "", "build %q is none that others may join", shared)
	}
	d, err := newDesign(s.product, s.target, l, p, shared, s.pageSize())
	if err != nil {
		return nil, nil, err
	}
	b := &build{server: s, name: shared, design: d, control: s.pool(shared, controlConnections)}
	leave := func() { _ = b.control.Close() } // whoever has made the build ends what it cannot
	return dialect.Connector{Host: b, Schema: d.Schema}, leave, nil
}

// Now is the time of the server's clock.
func (s *server) Now(ctx context.Context) (time.Time, error) {
	var micros int64
	err := s.db.QueryRowContext(ctx, "SELECT CAST(1000000 * UNIX_TIMESTAMP(SYSDATE(6)) AS SIGNED)").Scan(&micros)
	return time.UnixMicro(micros), s.explain(err)
}

// sessionsOfDrivers are this account's connections in a database, wherever from.
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

// made tells whether a database is a build: its sessions are this process's, or drivers'.
func (s *server) made(database string) bool {
	return slices.ContainsFunc(s.builds.All(), func(b *build) bool { return b.name == database })
}
