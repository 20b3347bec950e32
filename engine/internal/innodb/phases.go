package innodb

import (
	"context"
	"database/sql/driver"
	"errors"
	"filewise/engine/internal/sqlfile"
	"fmt"
	"io"

	"filewise"
)

// ConnectPhase opens a worker's connection for a phase of the program.
func (c Connector) ConnectPhase(ctx context.Context, phase, worker int) (filewise.Session, error) {
	phases := c.Schema.Program.Phases
	if phase < 0 || phase >= len(phases) {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "phase %d of %d", phase, len(phases))
	}
	p := phases[phase]
	schema := c.Schema.forPhase(p)
	if n := schema.Program.Connections; worker < 0 || worker >= n {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "worker %d of %d", worker, n)
	}
	link, err := c.Host.Link()
	if err != nil {
		return nil, err
	}
	s := &session{host: c.Host, link: link, schema: schema, worker: worker, pool: c.Host.Pool()}
	if schema.Program.Own != nil {
		return newOwn(ctx, s, p)
	}
	s.look, err = schema.oneIfAny(SectionCommitted+"-"+p.Section, schema.TableOf(worker))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	switch {
	case !p.Client:
		return s.loop(ctx, p)
	case len(p.Types) > 0:
		return newTyped(ctx, s, p)
	}
	return newClient(ctx, s, p)
}

// loop readies a session whose operations the server loops over.
func (s *session) loop(ctx context.Context, p filewise.Phase) (_ filewise.Session, err error) {
	if s.call, err = s.schema.Statement(SectionCall+"-"+p.Section, s.schema.TableOf(s.worker)); err == nil {
		err = s.ready(ctx)
	}
	if err != nil {
		return nil, errors.Join(Classify(s.link.Explain(err)), s.Close())
	}
	return s, nil
}

// client sends each operation as a statement of its own.
type client struct {
	*session
	phase     filewise.Phase
	text      string
	order     []int // of the statement's parameters: which argument each is
	statement driver.Stmt
	args      []any
	values    []driver.NamedValue
	row       []driver.Value
}

// newClient readies a session with its prepared statement; of a phase with a
// connection for each statement there is none.
func newClient(ctx context.Context, s *session, p filewise.Phase) (_ filewise.Session, err error) {
	c := &client{session: s, phase: p}
	if c.text, err = s.schema.Statement(SectionStatement+p.Section, s.schema.TableOf(s.worker)); err == nil {
		c.text, c.order = positional(c.text)
		c.values = make([]driver.NamedValue, len(c.order))
		if p.PerStatement {
			s.pool.SetMaxIdleConns(-1) // what comes back is closed
			return c, nil
		}
		err = s.ready(ctx)
	}
	if err == nil {
		err = s.conn.Raw(c.prepare(ctx))
	}
	if err != nil {
		return nil, errors.Join(Classify(s.link.Explain(err)), c.Close())
	}
	return c, nil
}

// prepare prepares the statement on the driver's own connection, which is the
// session's alone: database/sql would allocate for each execution.
func (c *client) prepare(ctx context.Context) func(any) error {
	return func(connection any) (err error) {
		p, ok := connection.(driver.ConnPrepareContext)
		if !ok {
			return fmt.Errorf("the driver's connection %T prepares no statements", connection)
		}
		if c.statement, err = p.PrepareContext(ctx, c.text); err != nil {
			return fmt.Errorf("preparing %s: %w", sqlfile.Short(c.text), err)
		}
		return nil
	}
}

// Do executes n statements, each a transaction of its own. When the context ends,
// the one that runs is interrupted on the server.
func (c *client) Do(ctx context.Context, first, n int64) (done int64, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	over, told := make(chan struct{}), make(chan struct{})
	stop := func() bool { return true }
	if !c.phase.PerStatement {
		stop = context.AfterFunc(ctx, func() {
			defer close(told)
			c.interrupt(over)
		})
	}
	c.host.Touched()
	defer c.host.Touched()
	for done < n && err == nil && ctx.Err() == nil {
		if err = c.one(ctx, first+done); err == nil {
			done++
		}
	}
	close(over)
	if !stop() {
		<-told
	}
	if err == nil {
		return done, context.Cause(ctx)
	}
	var landed int64
	var lookErr error
	if _, answered := Number(err); !answered { // else the server says itself that it is not committed
		landed, lookErr = c.landed(first + done)
	}
	if ctx.Err() != nil && (interrupted(err) || errors.Is(err, ctx.Err())) {
		err = context.Cause(ctx)
	} else {
		err = Classify(c.link.Explain(fmt.Errorf("connection %d, operation %d: %w", c.worker, first+done, err)))
	}
	return done + landed, errors.Join(err, lookErr)
}

// one executes one operation and reads its rows to the end.
func (c *client) one(ctx context.Context, i int64) error {
	c.args = c.phase.Args.Args(c.args[:0], c.worker, i)
	for n, arg := range c.order {
		c.values[n] = driver.NamedValue{Ordinal: n + 1, Value: c.args[arg]}
	}
	if c.phase.PerStatement {
		return c.alone(ctx)
	}
	rows, err := c.statement.(driver.StmtQueryContext).QueryContext(context.WithoutCancel(ctx), c.values)
	if err != nil {
		return err
	}
	if width := len(rows.Columns()); width > len(c.row) {
		c.row = make([]driver.Value, width)
	}
	for width := len(rows.Columns()); err == nil && width > 0; {
		err = rows.Next(c.row[:width])
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// alone executes the operation on a connection of its own: connecting, the
// statement and closing are the operation. A statement that runs is let finish:
// it is short, and to interrupt it would need another one for its number.
func (c *client) alone(ctx context.Context) (err error) {
	conn, err := c.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	args := make([]any, len(c.values))
	for i, v := range c.values {
		args[i] = v.Value
	}
	rows, err := conn.QueryContext(context.WithoutCancel(ctx), c.text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() { //nolint:revive // rows are read to the end, and not looked at
	}
	return rows.Err()
}

// landed says whether an operation that failed is committed all the same: 1 or 0.
func (c *client) landed(i int64) (int64, error) {
	if c.conn != nil {
		return c.committed(i, 1)
	}
	if c.link.Alive() != nil || c.look == "" {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	var found int64
	key := c.phase.Args.Args(nil, c.worker, i)[0]
	if err := c.link.Control.QueryRowContext(ctx, c.look, key).Scan(&found); err != nil {
		return 0, fmt.Errorf("looking up what is committed: %w", c.link.Explain(err))
	}
	return min(found, 1), nil
}

// Close ends the connection. Closing again does nothing.
func (c *client) Close() error {
	if c.statement != nil {
		_ = c.statement.Close() // of a dead server; it is gone either way
		c.statement = nil
	}
	return c.session.Close()
}

var _ filewise.PhaseConnector = Connector{}
