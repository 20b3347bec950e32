package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filewise"
)

// orderSession is a connection of workload orders: to the file of its warehouse,
// and for transactions on other files one that it borrows.
type orderSession struct {
	d      *database
	counts *counts
	typed  filewise.TypedArgs
	phase  filewise.Phase
	worker int
	home   *orderConn
	file   int
	args   []any
	churn  []string // statements, with churnNumber in the place of the number
}

// churnNumber stands for the number of a table that comes and goes.
const churnNumber = "NUMBER"

func (d *database) connectOrders(phase, worker int) (_ *orderSession, err error) {
	p := d.program.Phases[phase]
	typed, ok := p.Args.(filewise.TypedArgs)
	if !ok || len(p.Sections) != len(p.Types) {
		return nil, fmt.Errorf("phase %s has no types of transactions", p.Family)
	}
	warehouses, _ := d.program.Vars["Warehouses"].(int64)
	s := &orderSession{d: d, counts: new(counts), typed: typed, phase: p, worker: worker, file: d.fileOfWarehouse(int64(worker)%max(warehouses, 1) + 1)}
	if churn, _ := d.program.Vars["Churn"].(bool); churn {
		if s.churn, err = d.sql.Statements("churn", churnVars(churnNumber)); err != nil {
			return nil, err
		}
	}
	c, err := d.connect(d.shards[s.file])
	if err != nil {
		return nil, err
	}
	s.home = newOrderConn(d.shape, c)
	d.orderCounts = append(d.orderCounts, s.counts)
	return s, nil
}

// Do executes n transactions.
func (s *orderSession) Do(ctx context.Context, first, n int64) (int64, error) {
	if s.home == nil {
		return 0, errors.New("the connection is closed")
	}
	for done := range n {
		err := ctx.Err()
		if err == nil {
			err = s.operation(ctx, first+done)
		}
		if err != nil {
			return done, fmt.Errorf("connection %d, transaction %d: %w", s.worker, first+done, explain(err))
		}
	}
	return n, nil
}

// operation is a transaction, after the table that comes and goes.
func (s *orderSession) operation(ctx context.Context, i int64) error {
	if err := s.createAndDrop(ctx); err != nil {
		return fmt.Errorf("churn: %w", err)
	}
	kind := s.phase.Sections[s.typed.TypeOf(s.worker, i)]
	s.args = s.typed.Args(s.args[:0], s.worker, i)
	t, err := readTransaction(kind, s.args)
	if err != nil {
		return err
	}
	rolledBack, err := s.run(ctx, t)
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	s.counts.transactions.Add(1)
	if !rolledBack && kind == kindNewOrder {
		s.counts.rows.Add(int64(len(t.lines)) + 2)
	}
	return nil
}

// run executes a transaction on the connection that it needs.
func (s *orderSession) run(ctx context.Context, t *orderTransaction) (rolledBack bool, err error) {
	files := t.files(s.d.shape, s.file)
	c, at := s.home, tx{c: s.home, s: s.d.shape}
	if len(files) > 1 {
		if c, err = s.d.takeRemote(ctx); err != nil {
			return false, err
		}
		defer s.d.giveRemote(c)
		at = tx{c: c, s: s.d.shape, attached: true}
	}
	if err := s.begin(ctx, c, t.reads(), files); err != nil {
		return false, errors.Join(err, c.abandon())
	}
	rolledBack, err = t.execute(at)
	end := "commit"
	if rolledBack {
		end = "rollback"
	}
	if err == nil {
		start := s.counts.log.begin()
		err = s.patiently(ctx, func() error { return c.each(orderKey{end, own}, nil) })
		s.counts.log.end(start, leastLog)
	}
	if err != nil {
		return false, errors.Join(err, c.abandon())
	}
	return rolledBack, nil
}

// begin begins a transaction with the write locks of all files that it needs. Of
// several files they are taken in the order of files, so that no two transactions
// wait for each other.
func (s *orderSession) begin(ctx context.Context, c *orderConn, reads bool, files []int) error {
	if reads {
		return c.each(orderKey{"begin-read", own}, nil)
	}
	start := s.counts.lock.begin()
	defer func() { s.counts.lock.end(start, leastLock) }()
	if len(files) == 1 {
		return s.patiently(ctx, func() error { return c.each(orderKey{"begin", own}, nil) })
	}
	if err := c.each(orderKey{"begin-read", own}, nil); err != nil {
		return err
	}
	for _, f := range files {
		if err := s.patiently(ctx, func() error { return c.each(orderKey{"lock", f}, nil) }); err != nil {
			return err
		}
	}
	return nil
}

// patiently tries again while another connection holds the lock, as long as the
// context lasts.
func (s *orderSession) patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !isBusy(err) {
			return err
		}
		s.counts.timeouts.Add(1)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// createAndDrop creates, fills and drops a table with a name of its own, where
// the workload wants it.
func (s *orderSession) createAndDrop(ctx context.Context) error {
	if s.churn == nil {
		return nil
	}
	number := strconv.FormatInt(s.d.orders.churned.Add(1), 10)
	for _, st := range s.churn {
		text := strings.ReplaceAll(st, churnNumber, number)
		err := s.patiently(ctx, func() error {
			_, err := s.home.conn.ExecContext(background, text, nil)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// abandon rolls back what SQLite has not rolled back itself.
func (c *orderConn) abandon() error {
	if c.conn.AutoCommit() {
		return nil
	}
	return c.each(orderKey{"rollback", own}, nil)
}

// Close closes the connection. Closing again does nothing.
func (s *orderSession) Close() error {
	if s.home == nil {
		return nil
	}
	err := s.home.close()
	s.home = nil
	return err
}
