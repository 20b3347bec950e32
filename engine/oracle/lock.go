package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"filewise"
	"filewise/engine/internal/external"
)

// lockID is the number of the measuring lock in DBMS_LOCK. It is from the range for users (0 … 1073741823), and the
// same in every Filewise.
const lockID = 728_417_309

// errHeld is the error with which section lock reports that DBMS_LOCK did not give the lock (-20099).
const errHeld = 20099

// Actions with which sessions announce that they wait to measure, and that they measure.
const (
	waiting   = "waiting to measure"
	measuring = "measuring"
)

// Lock takes the database's measuring lock. It uses DBMS_LOCK if the account has the right, and always announces it in
// v$session. Both cover the sessions of one pluggable database.
func (s *server) Lock(ctx context.Context, h filewise.Holder) (filewise.Lock, error) {
	c := &claim{server: s, who: h.Who}
	holder := func(context.Context) string { return "" } // lock itself names the holder
	return external.Measuring{Claim: c, Holder: holder, Explain: func(err error) error { return err }}.Lock(ctx)
}

// claim is the connection that holds the measuring lock.
type claim struct {
	server *server
	who    string
	held   held
}

// Take opens the connection and takes the lock.
func (c *claim) Take(ctx context.Context) (err error) {
	if c.held, err = c.server.pool.connection(ctx, waiting, c.who); err != nil {
		return err
	}
	return c.server.lock(ctx, c.held, c.who)
}

// Check asks whether the session lives and is the first that announces that it measures. A lock of DBMS_LOCK lives as
// long as the session.
func (c *claim) Check(ctx context.Context) error { return c.server.still(ctx, c.held) }

// Release does nothing, because the server releases the lock when the connection ends.
func (c *claim) Release(context.Context) error { return nil }

// Close ends the connection.
func (c *claim) Close() error {
	if c.held.close == nil {
		return nil
	}
	return c.held.close()
}

// still checks that a client's session measures.
func (s *server) still(ctx context.Context, c client) error {
	sid, err := s.thisSession(ctx, c)
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
	if other := rival(all, sid, measuring); other != nil {
		return s.busy(*other)
	}
	return nil
}

func (s *server) thisSession(ctx context.Context, c client) (sid string, err error) {
	r, err := row(ctx, c, 3, "this-session")
	if err != nil {
		return "", err
	}
	return text(r[0]), s.onInstance(r[2])
}

func (s *server) lock(ctx context.Context, c client, who string) error {
	if !s.missing[grantLock] {
		err := exec(ctx, c, "lock", vars{"Lock": lockID})
		if codeOf(err) == errHeld {
			return s.taker(ctx, c, err)
		}
		if err != nil {
			return err
		}
	}
	sid, err := s.thisSession(ctx, c)
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
		if other := rival(all, sid, action); other != nil {
			return s.busy(*other)
		}
	}
	return nil
}

// busy reports who measures, and what to do if its process is gone: the server keeps a session of which it hears nothing
// until TCP gives it up, which takes hours.
func (s *server) busy(by announcement) error {
	remedy := "wait for it to end, or end it"
	if by.sid != "" {
		remedy += "; if it has ended, or its host has, the server will not notice for hours: have the DBA execute " + by.kill(s.about.instance)
	}
	return filewise.Errorf(filewise.CodeBusy, remedy, "%s is measuring on this server", by.info)
}

// kill returns the statement with which a DBA ends the session. instance is the session's instance, or 0 if the
// database has only one.
func (a announcement) kill(instance int64) string {
	at := a.sid + "," + a.serial
	if instance != 0 {
		at += ",@" + strconv.FormatInt(instance, 10)
	}
	return "ALTER SYSTEM KILL SESSION '" + at + "' IMMEDIATE"
}

// taker reports who holds the lock of DBMS_LOCK, as announced.
func (s *server) taker(ctx context.Context, c client, refused error) error {
	all, err := announced(ctx, c)
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.action == measuring {
			return s.busy(a)
		}
	}
	return filewise.Errorf(filewise.CodeBusy, fmt.Sprintf("wait for it to end; whose it is the DBA sees by SELECT s.sid, s.serial#, "+
		"s.program FROM v$lock l JOIN v$session s ON s.sid = l.sid "+
		"WHERE l.type = 'UL' AND l.id1 = %d", lockID), "a session holds the measuring lock and "+
		"does not announce that it measures: %w", refused)
}

// announcement is a session of Filewise on any host.
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

// rival returns the session that keeps session sid from measuring, or nil. First, while it waits, a session gives way
// to a session that measures or has waited longer. Then it announces that it measures, and looks again. A session that
// began to measure meanwhile had looked before this announcement; of the two, the earlier log-on wins. A session that
// measured at the first look is never overtaken. If two come at once, exactly one remains, because at its second look
// the later one sees the earlier.
func rival(all []announcement, sid, action string) *announcement {
	me := slices.IndexFunc(all, func(a announcement) bool { return a.sid == sid })
	if me < 0 {
		return &announcement{info: "a session that v$session does not show (this one is missing in it too)"}
	}
	for i, a := range all {
		if i == me || a.action != waiting && a.action != measuring {
			continue
		}
		earlier := cmp.Or(cmp.Compare(a.logon, all[me].logon), compareNumbers(a.sid, all[me].sid)) < 0
		if earlier || action == waiting && a.action == measuring {
			a.info = cmp.Or(a.info, "another Filewise")
			return &a
		}
	}
	return nil
}

func compareNumbers(a, b string) int {
	x, _ := number(a)
	y, _ := number(b)
	return cmp.Compare(x, y)
}
