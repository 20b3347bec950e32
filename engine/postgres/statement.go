package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"filewise/engine/postgres/internal/client"
)

// send executes one operation by its prepared statement.
func (s *statements) send(_ context.Context, i int64) error {
	if s.churn {
		if err := s.createAndDropTable(); err != nil {
			return err
		}
	}
	s.Write(s.Phase.Args, s.Worker, i)
	err := s.Execute(s.conn, s.names[s.Type(i)], s.Params)
	if err != nil || len(s.Phase.Types) > 0 {
		return err // of several types each looks itself whether its rows are there
	}
	return s.found(s.Rows())
}

// churnName is the prepared statement of a table that is created and dropped.
const churnName = "fw_churn"

// createAndDropTable creates, fills and drops a table with a number of its own.
func (s *statements) createAndDropTable() error {
	s.Clear()
	s.Int(s.build.churned.Add(1))
	return client.Failed("churn", s.Execute(s.conn, churnName, s.Params))
}

// apart executes one operation on a connection of its own: that it is opened and
// closed belongs to the operation.
func (s *statements) apart(ctx context.Context, i int64) (err error) {
	s.conn = nil
	conn, err := s.build.link.Worker(ctx)
	if err != nil {
		return err
	}
	s.conn = conn
	s.Write(s.Phase.Args, s.Worker, i)
	err = s.Guard(ctx, func(ctx context.Context) error {
		tag, err := conn.ExecParams(ctx, s.texts[0], s.Params, nil, nil, nil).Close()
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
func (s *statements) found(rows int64) error {
	if len(s.Params) > 0 && rows == 0 {
		return fmt.Errorf("%s %q: %w", s.Phase.Section, s.Params, errNoRow)
	}
	return nil
}

var errNoRow = errors.New("there is no such row")
