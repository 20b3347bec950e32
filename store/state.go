package store

import (
	"context"
	"database/sql"
	"time"

	"filewise"
	"filewise/internal/process"
)

// SetState stores the state of a run.
func (s *Store) SetState(ctx context.Context, id int64, state State) error {
	return s.write(ctx, "store the state of a run", func(conn *sql.Conn) error {
		res, err := conn.ExecContext(ctx, "UPDATE runs SET state = ? WHERE id = ?", string(state), id)
		return affected(ctx, conn, res, err, id)
	})
}

// Finish stores how a run ended; Ended defaults to now.
func (s *Store) Finish(ctx context.Context, id int64, o Outcome) error {
	if o.Ended.IsZero() {
		o.Ended = time.Now()
	}
	return s.write(ctx, "store the end of a run", func(conn *sql.Conn) error {
		res, err := conn.ExecContext(ctx, "UPDATE runs SET state = ?, ended = ?, ending = ?, why = ?, verdict = ? WHERE id = ?",
			string(o.State), timeText(o.Ended), string(o.Ending), o.Why, o.Verdict, id)
		return affected(ctx, conn, res, err, id)
	})
}

// Resume makes this process the owner of a run that nobody runs, and the run
// running. A run that its owner still runs is refused with code busy.
func (s *Store) Resume(ctx context.Context, id int64) (r Run, err error) {
	self, err := process.Self()
	if err != nil {
		return Run{}, filewise.Errorf(filewise.CodeInternal, "", "cannot tell which process this is: %w", err)
	}
	err = s.write(ctx, "resume a run", func(conn *sql.Conn) error {
		if r, err = readRun(ctx, conn, id); err != nil {
			return err
		}
		if r.State == Running && r.Owner != self && r.Owner.Status() == process.Alive {
			return filewise.Errorf(filewise.CodeBusy, "wait until it has ended, or end it", "run %d is being run by %v", id, r.Owner)
		}
		owner, err := toJSON(self, "owner")
		if err != nil {
			return err
		}
		res, err := conn.ExecContext(ctx, "UPDATE runs SET state = 'running', ended = NULL, ending = '', why = '', verdict = '', owner = ? WHERE id = ?", owner, id)
		r.State, r.Owner, r.Ended, r.Ending, r.Why, r.Verdict = Running, self, nil, "", "", ""
		return affected(ctx, conn, res, err, id)
	})
	return r, err
}

// affected turns "no row" into "no such run".
func affected(ctx context.Context, conn *sql.Conn, res sql.Result, err error, id int64) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return unknownRun(ctx, conn, id)
}
