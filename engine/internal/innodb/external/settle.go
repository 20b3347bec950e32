package external

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"filewise/engine/internal/innodb"
	"filewise/engine/internal/sqlfile"
)

// flush is the statement that has InnoDB write all pages of the database's tables
// to their files, and of nothing else.
func (g *design) flush() string {
	names := make([]string, len(g.schema.Tables))
	for i, t := range g.schema.Tables {
		names[i] = innodb.Ident(g.schema.Database) + "." + innodb.Ident(t.Name)
	}
	return "FLUSH LOCAL TABLES " + strings.Join(names, ", ") + " FOR EXPORT"
}

// Settle brings the database to rest, as far as the account may: with the right
// to flush its tables, their pages are written. Without, it waits until the
// server's own checkpoint has come to what is in the log now, as long as it
// moves; a server that writes nothing while idle is not waited for. What remains
// unwritten then is said by Examine, beforehand.
func (b *build) Settle(ctx context.Context) error {
	link, err := b.Link()
	if err != nil {
		return err
	}
	if b.server.flushes() {
		return b.writeOut(ctx, link)
	}
	return b.awaitCheckpoint(ctx, link)
}

// flushes: the account may write its tables' pages out.
func (s *server) flushes() bool {
	return s.rights.global[s.dialect.FlushRight] && s.rights.on(lockTables)
}

func (b *build) writeOut(ctx context.Context, link innodb.Link) error {
	conn, err := link.Control.Conn(ctx)
	if err != nil {
		return link.Explain(err)
	}
	defer conn.Close()
	flush := b.design.flush()
	_, err = conn.ExecContext(ctx, flush)
	if _, e := conn.ExecContext(context.WithoutCancel(ctx), "UNLOCK TABLES"); err == nil {
		err = e
	}
	if err != nil {
		return cause(ctx, link.Explain(fmt.Errorf("%s: %w", sqlfile.Short(flush), err)))
	}
	return nil
}

const (
	settlePatience = 60 * time.Second
	// settleRest is how long a checkpoint that does not move is waited for: the
	// page cleaners of both servers act once a second.
	settleRest = 1500 * time.Millisecond
)

func (b *build) awaitCheckpoint(ctx context.Context, link innodb.Link) error {
	d := b.server.dialect
	if v, err := strconv.ParseFloat(b.server.vars[d.IdleSetting], 64); err == nil && v == 0 {
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

// positions are the log's end and the last checkpoint, in bytes of log; a server
// that does not tell them says 0, and is not waited for.
func (b *build) positions(ctx context.Context, link innodb.Link) (end, last int64, err error) {
	d := b.server.dialect
	all, err := readPairs(ctx, link.Control, "SHOW GLOBAL STATUS WHERE Variable_name IN ('"+d.LogEnd+"', '"+d.Checkpoint+"')")
	if err != nil {
		return 0, 0, err
	}
	end, _ = strconv.ParseInt(all[d.LogEnd], 10, 64)
	last, _ = strconv.ParseInt(all[d.Checkpoint], 10, 64)
	return end, last, nil
}
