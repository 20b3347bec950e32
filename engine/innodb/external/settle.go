package external

import (
	"context"
	"strconv"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// Settle brings the database to rest as far as the account can. With the right to flush its tables, it writes their
// pages. Without, it waits until the server's own checkpoint has passed the present end of the log, as long as the
// checkpoint moves. It does not wait for a server that writes nothing while idle. Examine reports beforehand what then
// stays unwritten.
func (b *build) Settle(ctx context.Context) error {
	link, err := b.Link()
	if err != nil {
		return err
	}
	if b.server.flushes() {
		err := link.Flushed(ctx, b.steps.At(filewise.StageSettle).Texts()[0], func() error { return nil })
		if err != nil {
			err = cause(ctx, err)
		}
		return err
	}
	return b.awaitCheckpoint(ctx, link)
}

// errUnsettled explains why writes are not fully measured. An account can only request a flush of tables for export. That
// writes one file after the other, and so hides the effect of several files. Without the right, the server writes when it
// likes.
var errUnsettled = filewise.Errorf(filewise.CodePreflight,
	"Measure on a managed server of the same version (--engine) to have the drain count.",
	"on InnoDB by URL there is no drain that writes files side by side")

// flushes reports whether the account can write out its tables' pages.
func (s *server) flushes() bool {
	return s.rights.global[s.product.External.FlushRight] && s.rights.on(lockTables)
}

const (
	settlePatience = 60 * time.Second
	// settleRest is the time to wait for a checkpoint that does not move. The page cleaners of both servers act once a
	// second.
	settleRest = 1500 * time.Millisecond
)

func (b *build) awaitCheckpoint(ctx context.Context, link dialect.Link) error {
	d := b.server.product
	if v, err := strconv.ParseFloat(b.server.vars[d.External.IdleSetting], 64); err == nil && v == 0 {
		return nil
	}
	end, last, err := b.positions(ctx, link)
	if err != nil {
		return link.Explain(err)
	}
	start, moved := time.Now(), time.Now()
	for at := last; at < end && time.Since(moved) < settleRest && time.Since(start) < settlePatience; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
		if _, at, err = b.positions(ctx, link); err != nil {
			return link.Explain(err)
		}
		if at > last {
			last, moved = at, time.Now()
		}
	}
	return nil
}

// positions returns the log's end and the last checkpoint, in bytes of log. If the server does not report them, both
// are 0, and Settle does not wait.
func (b *build) positions(ctx context.Context, link dialect.Link) (end, last int64, err error) {
	d := b.server.product
	all, err := dialect.Pairs(ctx, link.Control, "SHOW GLOBAL STATUS WHERE Variable_name IN ('"+d.LogEnd+"', '"+d.LogCheckpoint+"')")
	if err != nil {
		return 0, 0, err
	}
	end, _ = strconv.ParseInt(all[d.LogEnd], 10, 64)
	last, _ = strconv.ParseInt(all[d.LogCheckpoint], 10, 64)
	return end, last, nil
}
