package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/internal/operations"
)

// ConnectPhase opens a worker's connection for a phase of the program.
func (w workers) ConnectPhase(ctx context.Context, phase, worker int) (filewise.Session, error) {
	d := w.build.design
	phases := d.program.Phases
	if phase < 0 || phase >= len(phases) || worker < 0 || worker >= max(phases[phase].Connections, d.program.Connections) {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "worker %d of phase %d of %d", worker, phase, len(phases))
	}
	p := phases[phase]
	if p.Act != filewise.ActWork {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "a connection for %s, which has none: %w", p.Family, filewise.ErrUnsupported)
	}
	s := &phaseSession{session: session{build: w.build, worker: worker, args: p.Args, close: func() error { return nil }, control: w.build.conn}, phase: p}
	if err := s.render(); err != nil {
		return nil, err
	}
	if p.PerStatement {
		return s, nil
	}
	conn, err := w.build.server.workerConn(ctx, d.names.Tablespace, worker)
	if err != nil {
		return nil, err
	}
	s.own, s.close = conn, conn.close
	if err := s.identify(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// phaseSession is a connection that works in a phase: it calls the procedure that
// loops on the server, or sends statements and blocks of its own.
type phaseSession struct {
	session
	phase      filewise.Phase
	typed      filewise.TypedArgs // nil: operations are of one type
	statements []statement        // by type
	churn      []statement
	answers    [3]int64
	values     []any
}

// render renders what the phase executes.
func (s *phaseSession) render() (err error) {
	d := s.build.design
	for _, section := range operations.SectionsOf(s.phase) {
		one, err := d.statement(operations.Section(s.phase, section), table{})
		if err != nil {
			return err
		}
		s.statements = append(s.statements, one)
	}
	if len(s.phase.Types) > 0 {
		var ok bool
		if s.typed, ok = s.phase.Args.(filewise.TypedArgs); !ok || len(s.statements) != len(s.phase.Types) {
			return filewise.Errorf(filewise.CodeInternal, "", "%s has %d types and %d sections", s.phase.Family, len(s.phase.Types), len(s.statements))
		}
	}
	if d.churns() {
		if s.churn, err = d.churnOf(s.worker); err != nil {
			return err
		}
	}
	if name := "committed-" + s.phase.Section; workloads[d.program.Workload].Has(name) {
		if s.look, err = d.statement(name, table{}); err != nil {
			return err
		}
	}
	s.call = s.statements[0]
	return nil
}

// churnOf are the statements of a worker's table that comes and goes. Its name is
// the worker's own: the server would take no longer one for each transaction.
func (d *design) churnOf(worker int) ([]statement, error) {
	all, err := d.statementsWith("churn", table{}, vars{"ChurnTable": d.names.Tablespace + suffix(churnLetters, worker)})
	if err == nil && len(all) != 3 {
		err = filewise.Errorf(filewise.CodeInternal, "", "section churn has %d statements", len(all))
	}
	return all, err
}

// mostBinds is the most that a statement of a workload has.
const mostBinds = 12

// Do executes operations first … first+n−1, each a transaction of its own.
func (s *phaseSession) Do(ctx context.Context, first, n int64) (int64, error) {
	if !s.phase.Client && ctx.Err() == nil {
		return s.insert(ctx, first, n)
	}
	return operations.Each(ctx, first, n, s.one, s.broken)
}

// one executes one operation, after the table that comes and goes.
func (s *phaseSession) one(ctx context.Context, i int64) error {
	for _, c := range s.churn {
		if err := s.own.exec(ctx, c); err != nil {
			return fmt.Errorf("churn: %w", err)
		}
	}
	what := s.statements[0]
	if s.typed != nil {
		what = s.statements[s.typed.TypeOf(s.worker, i)]
	}
	what.args = s.arguments(what.text, i)
	if !s.phase.PerStatement {
		return s.execute(ctx, s.own, what)
	}
	conn, err := s.build.server.plain(ctx) // that it is opened and closed belongs to the operation
	if err != nil {
		return err
	}
	return errors.Join(s.execute(ctx, conn, what), conn.close())
}

// arguments are those of the operation, and places for what the server returns.
func (s *phaseSession) arguments(text string, i int64) []any {
	s.values = s.args.Args(s.values[:0], s.worker, i)
	given := len(s.values)
	for n := given; n < operations.Parameters(text, ":", mostBinds); n++ {
		s.values = append(s.values, sql.Out{Dest: &s.answers[n-given]})
	}
	return s.values
}

// execute executes a block or a query, whose rows are read to the end.
func (s *phaseSession) execute(ctx context.Context, on client, what statement) error {
	if !strings.HasPrefix(what.text, "SELECT") && !strings.Contains(what.text, "\nSELECT") {
		return on.exec(ctx, what)
	}
	found, err := on.rows(ctx, what)
	if err == nil && len(found) == 0 && len(what.args) > 0 {
		err = fmt.Errorf("%s %v: %w", s.phase.Section, what.args, errNoRows)
	}
	return err
}

// broken says how many operations are committed when that number was, and the next
// one failed.
func (s *phaseSession) broken(ctx context.Context, first, done int64, err error) (int64, error) {
	i := first + done
	if ctx.Err() != nil && codeOf(err) == errInterrupted {
		err = context.Cause(ctx)
	}
	err = fmt.Errorf("connection %d, operation %d: %w", s.worker, i, err)
	if s.phase.PerStatement {
		return done, err
	}
	more, lookErr := s.committed(i, 1)
	return done + more, errors.Join(err, lookErr)
}
