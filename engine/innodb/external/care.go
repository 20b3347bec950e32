package external

import (
	"context"

	"filewise/engine/innodb/client"
	"filewise/engine/internal/external"
	"filewise/internal/findings"
	"filewise/internal/marker"
)

// Care returns the server as the care of a user's own database uses it. Programs then use the account too, so its
// sessions are not counted as others'.
func (s *server) Care() client.Care {
	s.mine = s.config.User
	return client.Care{Server: s.product.Title + " " + s.version, DB: s.db, Pool: s.pool, Explain: s.explain, Grant: s.grant,
		Global: s.rights.global, Ours: ours, OnOurs: s.rights.on, Instrumented: s.on("performance_schema")}
}

// ExamineRights checks the account's rights.
func (s *server) ExamineRights(e *findings.Examination) {
	(&examination{Examination: e, server: s}).rightsHeld()
}

// ExamineActivity checks what others do on the server.
func (s *server) ExamineActivity(ctx context.Context, e *findings.Examination) {
	(&examination{Examination: e, server: s}).activity(ctx)
}

// MakeDatabase creates a database with a marked name, which is locked until drop has dropped the database. If only the
// creation fails, drop is not nil, and does no harm.
func (s *server) MakeDatabase(ctx context.Context) (name string, drop func(context.Context) error, err error) {
	name = marker.NewName()
	hold, err := external.Hold(ctx, s.claim(name))
	if err != nil {
		return "", nil, s.explain(err)
	}
	return name, func(ctx context.Context) error {
		if err := s.remove(ctx, name); err != nil {
			return err
		}
		return hold.Release()
	}, s.create(ctx, name, true)
}
