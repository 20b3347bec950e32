package external

import (
	"context"
	"fmt"
	"time"

	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/mark"
	"filewise/internal/process"
)

// Sessions of a Filewise that has died stand on the server as long as that hears nothing of
// it where the line was cut without a word: for hours. The mark of its database says that it
// has died, and on this host.

// ticketOf names the lock by which the connection that has the measuring lock says whose it
// is.
func ticketOf(id process.Identity) string {
	return measuring + " " + mark.Sum(fmt.Sprint(id.PID), fmt.Sprint(id.Start), id.Boot, id.Host, id.Space)
}

// tickets are this process's, and those of processes that have died here and left a database.
func (s *server) tickets(ctx context.Context) (own string, dead []string, err error) {
	self, err := process.Self()
	if err != nil {
		return "", nil, err
	}
	names, err := catalogue{s}.Names(ctx)
	for _, n := range names {
		if st, err := s.look(ctx, s.db, n.Name); err != nil {
			return "", nil, err
		} else if st.marked && st.mark.DiedHere() {
			dead = append(dead, ticketOf(st.mark.Process))
		}
	}
	return ticketOf(self), dead, err
}

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
