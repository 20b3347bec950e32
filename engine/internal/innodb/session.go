package innodb

import (
	"context"
	"database/sql"
	"errors"
	"filewise/engine/internal/sqlfile"
	"fmt"

	"filewise"
)

// Connector opens a program's connections. It implements filewise.Connector.
type Connector struct {
	Host   Host
	Schema Schema
}

// Connect opens a worker's connection and readies it.
func (c Connector) Connect(ctx context.Context, worker int) (filewise.Session, error) {
	if n := c.Schema.Program.Connections; worker < 0 || worker >= n {
		return nil, filewise.Errorf(filewise.CodeInternal, "", "worker %d of %d", worker, n)
	}
	link, err := c.Host.Link()
	if err != nil {
		return nil, err
	}
	s := &session{host: c.Host, link: link, schema: c.Schema, worker: worker, pool: c.Host.Pool()}
	if s.call, err = c.Schema.Statement(SectionCall, c.Schema.TableOf(worker)); err == nil {
		s.look, err = c.Schema.Statement(SectionCommitted, c.Schema.TableOf(worker))
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.ready(ctx); err != nil {
		return nil, errors.Join(Classify(link.Explain(err)), s.Close())
	}
	return s, nil
}

// session is one connection of the workload.
type session struct {
	host   Host
	link   Link
	schema Schema
	worker int
	pool   *sql.DB // of this one connection
	conn   *sql.Conn
	id     int64 // the server's number of the connection
	call   string
	look   string // empty: what the operations did leaves no trace
}

func (s *session) ready(ctx context.Context) (err error) {
	setup, err := s.schema.ifAny(SectionConnection, s.schema.TableOf(s.worker))
	if err != nil {
		return err
	}
	if s.conn, err = s.pool.Conn(ctx); err != nil {
		return err
	}
	if err := s.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&s.id); err != nil {
		return err
	}
	for _, statement := range setup {
		if _, err := s.conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", sqlfile.Short(statement), err)
		}
	}
	return nil
}

// Do has the server insert n rows in one call. When the context ends, the call
// is interrupted on the server, and what it had committed is looked up.
func (s *session) Do(ctx context.Context, first, n int64) (int64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if most := s.schema.Program.Limit; most > 0 && first+n > most {
		done, err := s.insert(ctx, first, max(most-first, 0))
		if err == nil {
			err = filewise.Errorf(filewise.CodeTrials, "make --work smaller, or use --key sequential",
				"connection %d has no unique keys beyond its row %d", s.worker, most)
		}
		return done, err
	}
	return s.insert(ctx, first, n)
}

// insert is one call of the procedure.
func (s *session) insert(ctx context.Context, first, n int64) (int64, error) {
	// The driver would drop the connection when its context ends, and the server
	// would work on: so the call has none, and the server is told to stop.
	over := make(chan struct{})
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		s.interrupt(over)
	})
	s.host.Touched()
	defer s.host.Touched()
	_, err := s.conn.ExecContext(context.WithoutCancel(ctx), s.call, s.worker, first, n)
	close(over)
	if !stop() {
		<-told
	}
	if err == nil {
		return n, nil
	}
	done, lookErr := s.committed(first, n)
	if ctx.Err() != nil && interrupted(err) {
		err = context.Cause(ctx)
	} else {
		err = Classify(s.link.Explain(err))
	}
	return done, errors.Join(err, lookErr)
}

// Close ends the connection.
func (s *session) Close() error {
	if s.conn != nil {
		_ = s.conn.Close() // a connection to a dead server may complain; it is gone either way
	}
	return s.pool.Close()
}
