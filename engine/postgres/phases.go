package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
)

// ConnectPhase opens a worker's connection for a phase of the program.
func (c connector) ConnectPhase(ctx context.Context, phase, worker int) (filewise.Session, error) {
	b := c.build
	phases := b.design.program.Phases
	if phase < 0 || phase >= len(phases) || worker < 0 || worker >= max(phases[phase].Connections, b.design.program.Connections) {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "worker %d of phase %d of %d", worker, phase, len(phases))
	}
	p := phases[phase]
	if p.Act != filewise.ActWork {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "a connection for %s, which has none: %w", p.Family, filewise.ErrUnsupported)
	}
	s := &phaseSession{session: session{build: b, worker: worker, args: p.Args}, phase: p}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// phaseSession is a connection that works in a phase: it calls the procedure that
// loops on the server, or sends statements of its own.
type phaseSession struct {
	session
	phase     filewise.Phase
	statement string
	values    []any    // of the current operation
	params    [][]byte // the same as text, in buf
	buf       []byte
}

// ready renders what the phase executes, and prepares it on a connection. One that
// connects for each statement has none yet.
func (s *phaseSession) ready(ctx context.Context) (err error) {
	d := s.build.design
	t := d.tableOf(s.worker)
	if s.statement, err = d.statement(sectionOf(s.phase), t); err != nil {
		return err
	}
	if name := prefixCommitted + s.phase.Section; sections[d.program.Workload].Has(name) {
		if s.look, err = d.statement(name, t); err != nil {
			return err
		}
	}
	if s.phase.PerStatement {
		return nil
	}
	if s.conn, err = s.build.link.worker(ctx); err != nil {
		return err
	}
	_, err = s.conn.Prepare(ctx, callName, s.statement, nil)
	return s.build.link.done(ctx, s.statement, err)
}

// Do executes operations first … first+n−1, each a transaction of its own.
func (s *phaseSession) Do(ctx context.Context, first, n int64) (int64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if !s.phase.Client {
		return s.loop(ctx, first, n)
	}
	if s.phase.PerStatement {
		for i := range n {
			if err := s.apart(ctx, first+i); err != nil {
				return s.broken(ctx, first, i, err)
			}
		}
		return n, nil
	}
	at := int64(0)
	err := s.guarded(ctx, func() error {
		for ; at < n; at++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := s.send(first + at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return s.broken(ctx, first, at, err)
	}
	return n, nil
}

// broken says how many operations are committed when that number was, and the next
// one failed.
func (s *phaseSession) broken(ctx context.Context, first, done int64, err error) (int64, error) {
	if s.conn == nil || errors.Is(err, context.Cause(ctx)) || errors.Is(err, errNoRow) {
		return done, err // the next one was not begun, or has changed nothing
	}
	last, err := s.ended(ctx, first+done, 1, err)
	return done + last, fmt.Errorf("connection %d, operation %d: %w", s.worker, first+done, err)
}

// send executes one operation by the prepared statement.
func (s *phaseSession) send(i int64) error {
	s.arguments(i)
	return s.found(s.conn.ExecPrepared(context.Background(), callName, s.params, nil, nil).Close())
}

// apart executes one operation on a connection of its own: that it is opened and
// closed belongs to the operation.
func (s *phaseSession) apart(ctx context.Context, i int64) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.conn = nil
	conn, err := s.build.link.worker(ctx)
	if err != nil {
		return err
	}
	s.conn = conn
	s.arguments(i)
	err = s.guarded(ctx, func() error {
		return s.found(conn.ExecParams(context.Background(), s.statement, s.params, nil, nil, nil).Close())
	})
	if err != nil {
		return err // what became of it is looked up on what is left of the connection
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = conn.Close(end) // it has committed
	s.conn = nil
	return nil
}

// found refuses an operation on a key that met no row.
func (s *phaseSession) found(tag pgconn.CommandTag, err error) error {
	if err == nil && len(s.params) > 0 && tag.RowsAffected() == 0 {
		return fmt.Errorf("%s %v: %w", s.phase.Section, s.values, errNoRow)
	}
	return err
}

var errNoRow = errors.New("there is no such row")

// arguments makes the texts of the operation's arguments, without an allocation
// once the buffers have grown.
func (s *phaseSession) arguments(i int64) {
	s.values = s.args.Args(s.values[:0], s.worker, i)
	s.params, s.buf = s.params[:0], s.buf[:0]
	for _, v := range s.values {
		from := len(s.buf)
		switch v := v.(type) {
		case int64:
			s.buf = strconv.AppendInt(s.buf, v, 10)
		case float64:
			s.buf = strconv.AppendFloat(s.buf, v, 'g', -1, 64)
		case string:
			s.buf = append(s.buf, v...)
		case []byte:
			s.buf = append(s.buf, v...)
		case nil:
			s.params = append(s.params, nil)
			continue
		default:
			s.buf = fmt.Append(s.buf, v)
		}
		s.params = append(s.params, s.buf[from:len(s.buf):len(s.buf)])
	}
}
