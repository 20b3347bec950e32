package external

import (
	"context"
	"time"

	"filewise/engine/innodb/dialect"
)

// Sessions of a Filewise that has died stand on the server as long as that hears nothing of
// it where the line was cut without a word: for hours. The mark of its database says that it
// has died, and on this host.

// sessionsOfDead are the connections in a database, and the one that has its name, of this
// account and from where this connection comes: those of its maker, who has died here.
const sessionsOfDead = "SELECT p.ID FROM information_schema.PROCESSLIST p JOIN information_schema.PROCESSLIST me " +
	"ON me.ID = CONNECTION_ID() AND me.USER = p.USER AND TRIM(TRAILING SUBSTRING_INDEX(me.HOST, ':', -1) FROM me.HOST) = " +
	"TRIM(TRAILING SUBSTRING_INDEX(p.HOST, ':', -1) FROM p.HOST) WHERE p.DB = ? OR p.ID = IS_USED_LOCK(?)"

// endDead ends them.
func (s *server) endDead(ctx context.Context, database string) error {
	return end(ctx, s.db, func() ([]string, error) { return dialect.Column(ctx, s.db, sessionsOfDead, database, database) })
}

// endPatience is how long connections that are ended may keep what they hold.
const endPatience = 10 * time.Second

// end ends connections until there are none.
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
