package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"filewise"
)

// lockID is the number of the measuring lock in DBMS_LOCK: any of the range that
// is for users (0 … 1073741823), the same in every Filewise.
const lockID = 728_417_309

// errHeld is how section lock says that DBMS_LOCK did not give the lock (-20099).
const errHeld = 20099

// The actions by which sessions announce that they want to measure, and do.
const (
	waiting   = "waiting to measure"
	measuring = "measuring"
)

// Lock takes the measuring lock of the database: by DBMS_LOCK where the account
// may, and in any case by announcing it in v$session, where it is seen by name.
// Both know the sessions of one pluggable database.
func (s *server) Lock(ctx context.Context, who string) (filewise.Lock, error) {
	c, err := s.connection(ctx, waiting, who)
	if err != nil {
		return nil, err
	}
	if err := s.lock(ctx, c, who); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return measuringLock{c}, nil
}

// measuringLock is the connection that has the lock.
type measuringLock struct{ held held }

// Held asks whether the session lives and announces that it measures, before all
// others; a lock of DBMS_LOCK lives as long.
func (l measuringLock) Held(ctx context.Context) error { return still(ctx, l.held) }

// Release ends the connection, with which the server lets go.
func (l measuringLock) Release() error { return l.held.close() }

// still looks whether the session of a client is the one that measures.
func still(ctx context.Context, c client) error {
	sid, err := ownSession(ctx, c)
	if err != nil {
		return err
	}
	all, err := announced(ctx, c)
	if err != nil {
		return err
	}
	me := slices.IndexFunc(all, func(a announcement) bool { return a.sid == sid })
	if me < 0 || all[me].action != measuring {
		return errors.New("the session does not announce any more that it measures")
	}
	if other := rival(all, sid, measuring); other != "" {
		return busy(other, nil)
	}
	return nil
}

func ownSession(ctx context.Context, c client) (sid string, err error) {
	found, err := rows(ctx, c, 2, "own-session", nil)
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", errNoRows
	}
	return text(found[0][0]), nil
}

func (s *server) lock(ctx context.Context, c client, who string) error {
	if !s.missing[grantLock] {
		if err := exec(ctx, c, "lock", vars{"Lock": lockID}); err != nil && codeOf(err) != errHeld {
			return err
		} else if err != nil {
			return busy(holder(ctx, c), err)
		}
	}
	sid, err := ownSession(ctx, c)
	if err != nil {
		return err
	}
	for _, action := range []string{waiting, measuring} {
		if err := announce(ctx, c, action, who); err != nil {
			return err
		}
		all, err := announced(ctx, c)
		if err != nil {
			return err
		}
		if other := rival(all, sid, action); other != "" {
			return busy(other, nil)
		}
	}
	return nil
}

func busy(who string, cause error) error {
	err := fmt.Errorf("%s is measuring on this server", who)
	if cause != nil {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return filewise.Errorf(filewise.CodeBusy, "wait for it to end, or end it", "%w", err)
}

// holder is who measures, as announced.
func holder(ctx context.Context, c client) string {
	all, err := announced(ctx, c)
	if err == nil {
		for _, a := range all {
			if a.action == measuring {
				return a.info
			}
		}
	}
	return "another Filewise"
}

// announcement is a session of Filewise's, of any host.
type announcement struct {
	sid, serial, action, info, logon string
}

func announced(ctx context.Context, c client) ([]announcement, error) {
	found, err := rows(ctx, c, 5, "announced", nil, module)
	var all []announcement
	for _, r := range found {
		all = append(all, announcement{text(r[0]), text(r[1]), text(r[2]), text(r[3]), text(r[4])})
	}
	return all, err
}

// rival is who keeps the session sid from measuring; empty: nobody. First, while it
// waits, a session gives way to one that measures and to one that waits longer.
// Then it announces that it measures, and looks again: one that began to in the
// meantime had looked before this one announced itself, and the earlier log-on wins.
// A session that measured at the first look is never overtaken, and of two that
// come at once exactly one remains, since at its second look the later one
// sees the earlier.
func rival(all []announcement, sid, action string) string {
	me := slices.IndexFunc(all, func(a announcement) bool { return a.sid == sid })
	if me < 0 {
		return "a session that v$session does not show (this one is missing in it too)"
	}
	for i, a := range all {
		if i == me || a.action != waiting && a.action != measuring {
			continue
		}
		earlier := cmp.Or(cmp.Compare(a.logon, all[me].logon), compareNumbers(a.sid, all[me].sid)) < 0
		if earlier || action == waiting && a.action == measuring {
			return cmp.Or(a.info, "another Filewise")
		}
	}
	return ""
}

func compareNumbers(a, b string) int {
	x, _ := number(a)
	y, _ := number(b)
	return cmp.Compare(x, y)
}
