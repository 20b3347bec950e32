package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
	if b.design.own() {
		return b.connectOwn(ctx, p, worker)
	}
	if phase > 0 && worker == 0 && b.design.churns() {
		if err := b.sweep(ctx); err != nil {
			return nil, err
		}
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
	phase      filewise.Phase
	statements []string // by type of operation; one, where there are no types
	names      []string // of the same, prepared
	typed      filewise.TypedArgs
	churn      bool // before each operation a table comes and goes
	wire
	executor
}

// ready renders what the phase executes, and prepares it on a connection. One that
// connects for each statement has none yet.
func (s *phaseSession) ready(ctx context.Context) (err error) {
	d := s.build.design
	t := d.tableOf(s.worker)
	for _, section := range sectionsOf(s.phase) {
		statement, err := d.statement(section, t)
		if err != nil {
			return err
		}
		s.statements = append(s.statements, statement)
	}
	if name := prefixCommitted + s.phase.Section; sections[d.program.Workload].Has(name) {
		if s.look, err = d.statement(name, t); err != nil {
			return err
		}
	}
	if len(s.phase.Types) > 0 {
		if err := s.types(); err != nil {
			return err
		}
	}
	if s.phase.PerStatement {
		return nil
	}
	if s.conn, err = s.build.link.worker(ctx); err != nil {
		return err
	}
	if s.names, err = s.prepare(ctx, s.statements); err != nil {
		return err
	}
	if s.churn = d.churns(); !s.churn {
		return nil
	}
	churn, err := d.statement(prefixStatement+sectionChurn, t)
	if err != nil {
		return err
	}
	return s.prepareAs(ctx, churnName, churn)
}

// types has the arguments tell the types of operations.
func (s *phaseSession) types() error {
	typed, ok := s.args.(filewise.TypedArgs)
	if !ok || len(s.statements) != len(s.phase.Types) || s.phase.PerStatement {
		return filewise.Errorf(filewise.CodeInternal, "", "phase %s has %d types of operations, and %d statements", s.phase.Family, len(s.phase.Types), len(s.statements))
	}
	s.typed = typed
	return nil
}

// prepare prepares statements, each once, and returns their names.
func (s *phaseSession) prepare(ctx context.Context, statements []string) (names []string, err error) {
	for i, statement := range statements {
		if first := slices.Index(statements, statement); first < i {
			names = append(names, names[first])
			continue
		}
		name := callName
		if len(statements) > 1 {
			name = fmt.Sprintf("%s_%d", callName, i)
		}
		if err := s.prepareAs(ctx, name, statement); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

func (s *phaseSession) prepareAs(ctx context.Context, name, statement string) error {
	_, err := s.conn.Prepare(ctx, name, statement, nil)
	return s.build.link.done(ctx, statement, err)
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

// send executes one operation by its prepared statement.
func (s *phaseSession) send(i int64) error {
	if s.churn {
		if err := s.comeAndGo(); err != nil {
			return err
		}
	}
	name := s.names[0]
	if s.typed != nil {
		name = s.names[s.typed.TypeOf(s.worker, i)]
	}
	s.write(s.args, s.worker, i)
	if err := s.execute(s.conn, name, s.params); err != nil || s.typed != nil {
		return err // of several types each looks itself whether its rows are there
	}
	return s.found(s.rows())
}

// churnName is the prepared statement of a table that comes and goes.
const churnName = "fw_churn"

// comeAndGo creates, fills and drops a table with a number of its own.
func (s *phaseSession) comeAndGo() error {
	s.clear()
	s.Int(s.build.churned.Add(1))
	return failed("churn", s.execute(s.conn, churnName, s.params))
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
	s.write(s.args, s.worker, i)
	err = s.guarded(ctx, func() error {
		tag, err := conn.ExecParams(context.Background(), s.statements[0], s.params, nil, nil, nil).Close()
		if err != nil {
			return err
		}
		return s.found(tag.RowsAffected())
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
func (s *phaseSession) found(rows int64) error {
	if len(s.params) > 0 && rows == 0 {
		return fmt.Errorf("%s %q: %w", s.phase.Section, s.params, errNoRow)
	}
	return nil
}

var errNoRow = errors.New("there is no such row")
