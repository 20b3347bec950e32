package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"filewise"
	"filewise/workload"
)

// trying is a self-check on its way.
type trying struct {
	server *externalServer
	report func(filewise.Finding)
	work   filewise.Workload
	db     *filewise.Database
	build  *build
	ledger filewise.Ledger
}

// attempt is one step of a self-check and the sections of SQL that it tries.
type attempt struct {
	what     string
	sections []string
	do       func(context.Context) error
	optional bool // needs a right that a measurement does not
}

// untried are sections that a self-check leaves alone: they would leave a file on
// the server that SQL cannot remove.
var untried = []string{"backup-files", "backup-header", "restore", "drop-restoring"}

// selfLayout tries every statement that builds: two files, of which one is added
// later, and indexes apart.
func selfLayout() filewise.Layout {
	return filewise.Layout{Name: "self-check", Kind: filewise.KindFilegroup, AddedLater: filewise.LaterRebuilt, Indexes: filewise.IndexesApart,
		Data: filewise.Spread{Files: 2, Bytes: 32 * mib, Allocation: filewise.Preallocated, Growth: mib}}
}

// SelfCheck tries every statement once on a scratch database, which it drops.
func (s *externalServer) SelfCheck(ctx context.Context, report func(filewise.Finding)) {
	t := &trying{server: s, report: report}
	var err error
	t.work, err = workload.NewInserts(workload.Params{Connections: 2, RowBytes: 100, CommitEvery: 7,
		Table: workload.TableShared, Key: workload.KeyRandom}, 1)
	if err != nil {
		t.say(attempt{what: "workload"}, err, 0)
		return
	}
	t.ledger = make(filewise.Ledger, 2)
	passed := t.all(ctx, t.questions()) && t.all(ctx, t.life())
	for _, w := range selfWorkloads() {
		if passed {
			t.tryWorkload(ctx, w)
		}
	}
	if t.db != nil { // also what a failed step has left
		t.all(context.WithoutCancel(ctx), []attempt{{what: "drop the scratch database", sections: []string{"drop"}, do: t.db.Dropper.Drop}})
	}
	for _, section := range untried {
		report(filewise.Finding{Check: "statement " + section, Status: filewise.StatusNote, Detail: "not tried: it would leave a file on the server"})
	}
	if !passed {
		report(filewise.Finding{Check: "self-check", Status: filewise.StatusNote, Detail: "the steps after the one that failed were not tried"})
	}
}

// all tries steps until one fails.
func (t *trying) all(ctx context.Context, steps []attempt) bool {
	for _, a := range steps {
		start := time.Now()
		err := a.do(ctx)
		t.say(a, err, time.Since(start))
		if err != nil && !a.optional {
			return false
		}
	}
	return true
}

func (t *trying) say(a attempt, err error, took time.Duration) {
	f := filewise.Finding{Check: "statement " + a.what, Status: filewise.StatusOK, Detail: fmt.Sprintf("%v: %s", a.sections, took.Round(time.Millisecond))}
	if err != nil {
		err = t.server.login.explain(err)
		f.Detail = fmt.Sprintf("%v: %v", a.sections, err)
		f.Status, f.Remedy = filewise.StatusFailed, "paste this report into an issue"
		if a.optional {
			f.Status, f.Remedy = filewise.StatusNote, ""
		}
		if remedy := filewise.RemedyOf(err); remedy != "" {
			f.Remedy = remedy
		}
	}
	t.report(f)
}

// questions only read.
func (t *trying) questions() []attempt {
	s := t.server
	asks := func(section string, optional bool) attempt {
		return attempt{section, []string{section}, func(ctx context.Context) error {
			text, err := fixed(section, nil)
			if err == nil {
				_, err = query(ctx, s.control, text)
			}
			return err
		}, optional}
	}
	steps := []attempt{asks("identity", false), asks("rights", false), asks("configuration", false), asks("leftovers", false),
		asks("machine", true), asks("model", true), asks("volumes", true), asks("holder", true)}
	if s.identity.version.major >= 14 {
		steps = append(steps, asks("drives", true))
	}
	if s.identity.version.atLeast(13, 4001) {
		steps = append(steps, asks("instant-initialization", true))
	}
	return append(steps,
		attempt{"activity", []string{"activity"}, func(ctx context.Context) error { _, err := s.Activity(ctx); return err }, true},
		attempt{"measuring lock", []string{"lock", "held", "unlock"}, func(ctx context.Context) error {
			lock, err := s.Lock(ctx, "self-check")
			if err != nil {
				return err
			}
			return errors.Join(lock.Held(ctx), lock.Release())
		}, true})
}

// life takes a small layout through all that a trial does.
func (t *trying) life() []attempt {
	steps := []attempt{
		{what: "build a scratch database", sections: []string{"create", "options", "keep", "tables", "pool", "procedure"}, do: t.create},
		{what: "observe", sections: []string{"files"}, do: t.observe},
		{what: "insert", sections: []string{"connection", "call", "end-transaction", "committed"}, do: t.insert},
		{what: "end a session", sections: []string{"ended"}, do: t.end},
		{what: "add files and rebuild", sections: []string{"add-files", "rebuild"}, do: func(ctx context.Context) error { return t.db.Extender.Extend(ctx) }},
		{what: "observe the added files", sections: []string{"files"}, do: t.observe},
		{what: "settle", sections: []string{"settle"}, do: func(ctx context.Context) error { return t.db.Settler.Settle(ctx) }},
		{what: "check the data", sections: []string{"check"}, do: func(ctx context.Context) error { return t.work.Check(ctx, t.db.Querier, t.ledger) }},
		{what: "look at it as at a leftover", sections: []string{"look"}, do: t.look},
		{what: "back it up to NUL", sections: []string{"backup"}, optional: true, do: func(ctx context.Context) error {
			_, err := t.server.backup(ctx, t.build.design.name, transfer{stripes: []string{null}}, nil)
			return err
		}},
	}
	if t.server.may.view {
		steps = append(steps, attempt{what: "I/O per file", sections: []string{"file-io"}, optional: true,
			do: func(ctx context.Context) error { _, err := fileProbe{t.build}.Read(ctx); return err }},
			attempt{what: "waits of sessions", sections: []string{"session-waits", "page-latches"}, optional: true, do: t.waits},
			attempt{what: "pages written in the background", sections: []string{"writing"}, optional: true,
				do: func(ctx context.Context) error { _, err := writingProbe{t.build}.Read(ctx); return err }})
	}
	return steps
}

func (t *trying) waits(ctx context.Context) error {
	p := newWaitProbe(t.build)
	if err := p.Sample(ctx, 0); err != nil {
		return err
	}
	_, err := p.Read(ctx)
	return err
}

func (t *trying) create(ctx context.Context) (err error) {
	if t.db, err = t.server.Build(ctx, selfLayout(), t.work.Program()); err == nil {
		t.build = t.db.Dropper.(dropper).build
	}
	return err
}

func (t *trying) observe(ctx context.Context) error {
	_, err := t.db.Observer.Observe(ctx)
	return err
}

// insert works, and looks up what is committed as after a failure.
func (t *trying) insert(ctx context.Context) error {
	for w := range t.ledger {
		s, err := t.db.Connector.Connect(ctx, w)
		if err != nil {
			return err
		}
		defer s.Close()
		done, err := s.Do(ctx, 0, 50)
		t.ledger[w] = done
		if err != nil {
			return err
		}
		n, err := s.(*session).committed(0, 60)
		if err != nil {
			return err
		}
		if n != done {
			return fmt.Errorf("%d rows were committed, and %d are found", done, n)
		}
	}
	return nil
}

func (t *trying) end(ctx context.Context) error {
	text, err := t.build.design.batch("ended", t.build.design.ofTable(t.build.design.tables[0], 0))
	if err != nil {
		return err
	}
	return takeLock(ctx, t.build.inside, text)
}

// look must find the mark, and that a run keeps the database.
func (t *trying) look(ctx context.Context) error {
	l, text, ours := t.server.look(ctx, row{"name": t.build.design.name, "state": "ONLINE", "access": int64(1)})
	if !ours || text != t.build.design.mark || l.Kept == "" {
		return fmt.Errorf("the scratch database looks like %+v, and its mark like %q", l, text)
	}
	return nil
}
