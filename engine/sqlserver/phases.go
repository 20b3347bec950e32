package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/operations"
)

// ConnectPhase opens a worker's connection for a phase of the program.
func (c connector) ConnectPhase(ctx context.Context, phase, worker int) (filewise.Session, error) {
	d := c.build.design
	phases := d.program.Phases
	if phase < 0 || phase >= len(phases) || worker < 0 || worker >= max(phases[phase].Connections, d.program.Connections) {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "worker %d of phase %d of %d", worker, phase, len(phases))
	}
	p := phases[phase]
	if p.Act != filewise.ActWork {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "a connection for %s, which has none: %w", p.Family, filewise.ErrUnsupported)
	}
	s := &phaseSession{session: session{build: c.build, worker: worker, args: p.Args, vars: d.ofWorker(worker)}, phase: p}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(c.build.server.login.explain(fmt.Errorf("connection %d: %w", worker, err)), s.Close())
	}
	return s, nil
}

// phaseSession is a connection that works in a phase: it calls the procedure that
// loops on the server, or sends statements of its own.
type phaseSession struct {
	session
	phase      filewise.Phase
	typed      filewise.TypedArgs // nil: operations are of one type
	statements []string           // by type
	churn      string             // with churnNumber in the place of the number
	values     []any
}

// churnNumber stands for the number of a table that comes and goes.
const churnNumber = "NUMBER"

// ready renders what the phase executes, and opens the connection. One that
// connects for each statement has none.
func (s *phaseSession) ready(ctx context.Context) (err error) {
	d := s.build.design
	for _, section := range operations.SectionsOf(s.phase) {
		text, err := d.batch(operations.Section(s.phase, section), s.vars)
		if err != nil {
			return err
		}
		s.statements = append(s.statements, text)
	}
	if len(s.phase.Types) > 0 {
		var ok bool
		if s.typed, ok = s.phase.Args.(filewise.TypedArgs); !ok || len(s.statements) != len(s.phase.Types) {
			return filewise.Errorf(filewise.CodeInternal, "", "%s has %d types and %d sections", s.phase.Family, len(s.phase.Types), len(s.statements))
		}
	}
	if d.churns() {
		if s.churn, err = d.batch("churn", withNumber(s.vars, churnNumber)); err != nil {
			return err
		}
	}
	if name := "committed-" + s.phase.Section; sections[d.program.Workload].Has(name) {
		if s.look, err = d.batch(name, s.vars); err != nil {
			return err
		}
	}
	s.call = s.statements[0]
	if s.phase.PerStatement {
		return nil
	}
	return s.open(ctx)
}

func withNumber(vars map[string]any, number string) map[string]any {
	vars["Number"] = number
	return vars
}

// Do executes operations first … first+n−1, each a transaction of its own.
func (s *phaseSession) Do(ctx context.Context, first, n int64) (int64, error) {
	if !s.phase.Client && ctx.Err() == nil {
		return s.insert(ctx, first, n)
	}
	return operations.Each(ctx, first, n, s.one, s.broken)
}

// one executes one operation, after the table that comes and goes.
func (s *phaseSession) one(ctx context.Context, i int64) error {
	if s.churn != "" {
		number := strconv.FormatInt(s.build.churned.Add(1), 10)
		if _, err := s.conn.ExecContext(ctx, strings.ReplaceAll(s.churn, churnNumber, number)); err != nil {
			return fmt.Errorf("churn: %w", err)
		}
	}
	statement := s.statements[0]
	if s.typed != nil {
		statement = s.statements[s.typed.TypeOf(s.worker, i)]
	}
	s.values = s.args.Args(s.values[:0], s.worker, i)
	var on executor = s.conn
	if s.phase.PerStatement {
		pool := s.build.server.login.pool(s.build.design.name, appName, 1)
		defer pool.Close() // that it is opened and closed belongs to the operation
		on = pool
	}
	_, err := on.ExecContext(ctx, statement, s.values...)
	return err
}

// broken says how many operations are committed when that number was, and the next
// one failed.
func (s *phaseSession) broken(ctx context.Context, first, done int64, err error) (int64, error) {
	i := first + done
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else {
		err = s.build.server.login.explain(err)
	}
	err = fmt.Errorf("connection %d, operation %d: %w", s.worker, i, err)
	if s.phase.PerStatement {
		return done, err
	}
	more, lookErr := s.committed(i, 1)
	return done + more, errors.Join(err, lookErr)
}
