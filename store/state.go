package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"filewise"
	"filewise/internal/process"
)

// Finish stores how a run ended; Ended defaults to now. A store that was damaged
// meanwhile is an error.
func (s *Store) Finish(ctx context.Context, id int64, o Outcome) error {
	if o.Ended.IsZero() {
		o.Ended = time.Now()
	}
	err := s.write(ctx, "store the end of a run", func(conn *sql.Conn) error {
		res, err := conn.ExecContext(ctx, "UPDATE runs SET state = ?, ended = ?, ending = ?, why = ?, verdict = ? WHERE id = ?",
			string(o.State), timeText(o.Ended), string(o.Ending), o.Why, o.Verdict, id)
		return affected(ctx, conn, res, err, id)
	})
	if err != nil {
		return err
	}
	return errors.Join(s.disown(id), s.reread(ctx))
}

// reread looks at the file as another process would find it: what this one has
// cached may be there no more.
func (s *Store) reread(ctx context.Context) error {
	again, err := OpenExisting(ctx, s.path)
	if err != nil {
		return err
	}
	return again.Close()
}

// Resume makes this process the owner of a run that nobody runs, and the run
// running. A run that its owner still runs is refused with code busy.
func (s *Store) Resume(ctx context.Context, id int64) (r Run, err error) {
	self, err := process.Self()
	if err != nil {
		return Run{}, filewise.Errorf(filewise.CodeInternal, "", "cannot tell which process this is: %w", err)
	}
	if r, err = s.Run(ctx, id); err != nil {
		return r, err
	}
	if err := s.own(id); err != nil {
		return Run{}, err
	}
	err = s.write(ctx, "resume a run", func(conn *sql.Conn) error {
		if r, err = s.readRun(ctx, conn, id); err != nil {
			return err
		}
		if r.State == Running && r.Owner != self && r.Owner.Status() == process.Alive {
			return filewise.Errorf(filewise.CodeBusy, "wait until it has ended, or end it", "run %d is being run by %v", id, r.Owner)
		}
		owner, err := toJSON(self, "owner")
		if err != nil {
			return err
		}
		res, err := conn.ExecContext(ctx, "UPDATE runs SET state = 'running', ended = NULL, ending = '', why = '', verdict = '', owner = ? "+
			"WHERE id = ?", owner, id)
		r.State, r.Owner, r.Ended, r.Ending, r.Why, r.Verdict = Running, self, nil, "", "", ""
		return affected(ctx, conn, res, err, id)
	})
	if err != nil {
		err = errors.Join(err, s.disown(id))
	}
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
