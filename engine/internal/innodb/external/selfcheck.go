package external

import (
	"context"
	"fmt"
	"strings"
	"time"

	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/engine/internal/sqlfile"
	"filewise/workload"
)

// SelfCheck takes small databases of each kind through a trial's life, and
// reports every statement. What it creates it drops again, also after a failure.
func (s *server) SelfCheck(ctx context.Context, report func(filewise.Finding)) {
	c := &selfCheck{server: s, report: report}
	for _, text := range []string{"SELECT VERSION(), @@version_comment", "SHOW GLOBAL VARIABLES", "SHOW GRANTS"} {
		c.try(text, func() error { _, err := s.db.ExecContext(ctx, text); return err })
	}
	c.try("SELECT GET_LOCK, IS_USED_LOCK, RELEASE_LOCK", func() error {
		h, err := s.hold(ctx, "filewise self-check")
		if err != nil {
			return err
		}
		return h.release()
	})
	c.try("SELECT … FROM information_schema.PROCESSLIST", func() error { _, err := s.Activity(ctx); return err })
	c.try("SELECT … FROM information_schema.SCHEMATA (leftovers)", func() error { _, err := s.Leftovers(ctx); return err })
	rebuilt := filewise.Layout{Kind: filewise.KindPartitions, AddedLater: filewise.LaterRebuilt}
	for _, l := range []filewise.Layout{{Kind: filewise.KindPerTable}, {Kind: filewise.KindPartitions}, rebuilt} {
		for _, every := range []int{1, 2} {
			c.life(ctx, l, every)
		}
	}
}

type selfCheck struct {
	server *server
	report func(filewise.Finding)
}

// try reports a step; it returns whether the step succeeded.
func (c *selfCheck) try(what string, step func() error) bool {
	f := filewise.Finding{Check: strings.Join(strings.Fields(sqlfile.Short(what)), " "), Status: filewise.StatusOK}
	start := time.Now()
	if err := c.server.explain(step()); err != nil {
		f.Status, f.Detail, f.Remedy = filewise.StatusFailed, err.Error(), filewise.RemedyOf(err)
	} else {
		f.Detail = fmt.Sprintf("%.1f ms", float64(time.Since(start).Microseconds())/1000)
	}
	c.report(f)
	return f.Status == filewise.StatusOK
}

// life is a trial's life with two connections.
func (c *selfCheck) life(ctx context.Context, l filewise.Layout, commitEvery int) {
	s := c.server
	l.Name = "self-check"
	l.Data = filewise.Spread{Files: 2, Bytes: 4 << 20, Allocation: filewise.Growing, Placement: filewise.PlaceRoundRobin}
	w, err := workload.NewInserts(workload.Params{Connections: 2, RowBytes: 50, CommitEvery: commitEvery, Table: workload.TableShared, Key: workload.KeyRandom}, 1)
	if err != nil {
		c.try("workload inserts", func() error { return err })
		return
	}
	var b *build
	name := fmt.Sprintf("(kind %s, %d rows a commit)", l.Kind, commitEvery)
	if !c.try("CREATE DATABASE, its mark, tables and procedures "+name, func() (err error) { b, err = s.build(ctx, l, w.Program()); return err }) {
		return
	}
	defer c.try("DROP DATABASE "+innodb.Ident(b.name), func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyPatience)
		defer cancel()
		return b.Drop(ctx)
	})
	for _, statement := range append(s.dialect.creation(b.name, "…"), created(b)...) {
		c.report(filewise.Finding{Check: strings.Join(strings.Fields(sqlfile.Short(statement)), " "), Status: filewise.StatusOK, Detail: "executed"})
	}
	ledger := make(filewise.Ledger, 2)
	q := innodb.Querier{Host: b, Schema: b.design.schema}
	c.try("files in the catalogue", func() error { _, err := b.Observe(ctx); return err })
	if !c.try("CALL "+b.design.schema.Tables[0].Procedure, func() error { return c.work(ctx, b, ledger) }) {
		return
	}
	c.try("KILL QUERY, and what is committed", func() error { return c.interrupted(ctx, b, ledger) })
	if l.AddedLater != "" {
		c.try(strings.Join(b.design.rebuild(), "; "), func() error { return b.Extend(ctx) })
	}
	c.try(b.design.flush(), func() error { return b.Settle(ctx) })
	c.try("files in the catalogue, after the work", func() error { _, err := b.Observe(ctx); return err })
	c.try("SELECT COUNT(*), SUM(CRC32(…))", func() error { return w.Check(ctx, q, ledger) })
	c.try("SHOW GLOBAL STATUS", func() error { _, err := statusProbe{s}.Read(ctx); return err })
}

func created(b *build) []string {
	all, err := b.design.schema.Create()
	if err != nil {
		return nil // it was created: the same statements
	}
	return all
}

func (c *selfCheck) work(ctx context.Context, b *build, ledger filewise.Ledger) error {
	for worker := range ledger {
		session, err := innodb.Connector{Host: b, Schema: b.design.schema}.Connect(ctx, worker)
		if err != nil {
			return err
		}
		done, err := session.Do(ctx, ledger[worker], 10)
		ledger[worker] += done
		session.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// interrupted stops a call that would take long, as the end of a time window does.
func (c *selfCheck) interrupted(ctx context.Context, b *build, ledger filewise.Ledger) error {
	session, err := innodb.Connector{Host: b, Schema: b.design.schema}.Connect(ctx, 0)
	if err != nil {
		return err
	}
	defer session.Close()
	stop, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	done, err := session.Do(stop, ledger[0], 1<<30)
	ledger[0] += done
	if err == nil || stop.Err() == nil {
		return fmt.Errorf("%d rows were inserted before the call could be stopped: %w", done, err)
	}
	return ctx.Err()
}
