package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"filewise"
	"filewise/internal/process"
	"filewise/internal/sqlitedriver"
	"filewise/lab/experiment"
)

// write runs f in a transaction that holds the write lock from its start. So nothing that f has read can change before
// f writes.
func (s *Store) write(ctx context.Context, doing string, f func(*sql.Conn) error) error {
	return s.transact(ctx, "BEGIN IMMEDIATE", doing, f)
}

// read runs f on one state of the store, which no write changes meanwhile.
func (s *Store) read(ctx context.Context, doing string, f func(*sql.Conn) error) error {
	return s.transact(ctx, "BEGIN", doing, f)
}

// longest is the largest length in bytes of a column or row. A longer one means damage or another program, and is not
// read.
const longest = 64 << 20

func (s *Store) transact(ctx context.Context, begin, doing string, f func(*sql.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return wrap(err, s.path, doing)
	}
	defer conn.Close()
	if err := sqlitedriver.LimitLength(conn, longest); err != nil {
		return wrap(err, s.path, doing)
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return wrap(err, s.path, doing)
	}
	err = f(conn)
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// Roll back even after a failed commit. The error "no transaction is active" is fine then.
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return wrap(err, s.path, doing)
	}
	return nil
}

// timeFormat keeps every nanosecond, and its texts sort in the order of time.
const timeFormat = "2006-01-02T15:04:05.000000000Z"

func timeText(t time.Time) string { return t.UTC().Format(timeFormat) }

func parseTime(s string) (time.Time, error) { return time.Parse(timeFormat, s) }

// toJSON encodes a value whose type is known to have a JSON form. So an error can only be about NaN or an infinite
// number.
func toJSON(v any, what string) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return string(b), nil
}

// field is a JSON column and the destination of its value.
type field struct {
	name string
	text string
	to   any
}

// budget holds the bytes of memory that a row may still take. Only damage or another program exceeds it. A whole run
// has no limit, so that every stored run can be read.
type budget struct{ limits }

func newBudget() *budget { return &budget{ofRun} }

// take reserves bytes, and returns an error if the budget does not have them.
func (b *budget) take(bytes int64) error {
	if b.Memory -= bytes; b.Memory < 0 {
		return errJSONTooLarge
	}
	return nil
}

// small is the length in bytes up to which a text is decoded unchecked: at most small*objectBytes, 16 MiB of memory.
const small = 16 << 10

// unmarshal decodes a text, which another program may have written.
func (b *budget) unmarshal(text string, to any) (err error) {
	content, memory := []byte(text), int64(len(text))
	if memory > small {
		if memory, err = checkJSONSize(content, b.limits); err != nil {
			return err
		}
	}
	if err := b.take(memory); err != nil {
		return err
	}
	return json.Unmarshal(content, to)
}

// fromJSON decodes JSON columns.
func (b *budget) fromJSON(fields ...field) error {
	for _, f := range fields {
		if err := b.unmarshal(f.text, f.to); err != nil {
			return fmt.Errorf("column %s: %w", f.name, err)
		}
	}
	return nil
}

// Finish stores how a run ended. Ended defaults to now. Finish returns an error if the store was damaged during the
// run.
func (s *Store) Finish(ctx context.Context, id int64, o Outcome) error {
	if o.Ended.IsZero() {
		o.Ended = time.Now()
	}
	decisions, err := toJSON(o.Decisions, "decisions")
	if err != nil {
		return err
	}
	err = s.write(ctx, "store the end of a run", func(conn *sql.Conn) error {
		res, err := conn.ExecContext(ctx, "UPDATE runs SET state = ?, ended = ?, ending = ?, why = ?, verdict = ?, decisions = ? "+
			"WHERE id = ?", string(o.State), timeText(o.Ended), string(o.Ending), o.Why, o.Verdict, decisions, id)
		return affected(ctx, conn, res, err, id)
	})
	if err != nil {
		return err
	}
	return errors.Join(s.disown(id), s.reread(ctx))
}

// reread opens the file as another process would, since what this process has cached may no longer be in it.
func (s *Store) reread(ctx context.Context) error {
	again, err := OpenExisting(ctx, s.path)
	if err != nil {
		return err
	}
	return again.Close()
}

// Resume makes this process the owner of a run, and sets the run's state to running. A run that another process still
// runs is refused with code busy.
func (s *Store) Resume(ctx context.Context, id int64) (r Run, err error) {
	self, err := process.Self()
	if err != nil {
		return Run{}, filewise.Errorf(filewise.CodeInternal, "", "cannot identify this process: %w", err)
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
			return filewise.Errorf(filewise.CodeBusy, "wait for it, or end it", "run %d is being run by %v", id, r.Owner)
		}
		text, err := toJSON(owner{self, r.Seal}, "owner")
		if err != nil {
			return err
		}
		res, err := conn.ExecContext(ctx, "UPDATE runs SET state = 'running', ended = NULL, ending = '', why = '', verdict = '', "+
			"decisions = 'null', owner = ? WHERE id = ?", text, id)
		r.State, r.Owner, r.Ended, r.Ending, r.Why, r.Verdict, r.Decisions = Running, self, nil, "", "", "", nil
		return affected(ctx, conn, res, err, id)
	})
	if err != nil {
		err = errors.Join(err, s.disown(id))
	}
	return r, err
}

// Extend stores the plan of a run that goes on for longer than planned. A run in progress is refused with code busy.
func (s *Store) Extend(ctx context.Context, id int64, p experiment.Plan) error {
	text, err := toJSON(p, "plan")
	if err != nil {
		return err
	}
	return s.write(ctx, "extend a run", func(conn *sql.Conn) error {
		r, err := s.readRun(ctx, conn, id)
		if err != nil {
			return err
		}
		if r.State == Running && r.Owner.Status() == process.Alive {
			return filewise.Errorf(filewise.CodeBusy, "wait for it, or end it", "run %d is being run by %v", id, r.Owner)
		}
		res, err := conn.ExecContext(ctx, "UPDATE runs SET plan = ? WHERE id = ?", text, id)
		return affected(ctx, conn, res, err, id)
	})
}

// Redesign stores the plan and the server's facts of a run that goes on with another design.
func (s *Store) Redesign(ctx context.Context, id int64, p experiment.Plan, server []filewise.Fact) error {
	text, err := toJSON(p, "plan")
	if err != nil {
		return err
	}
	facts, err := toJSON(server, "facts of the server")
	if err != nil {
		return err
	}
	return s.write(ctx, "store another design of a run", func(conn *sql.Conn) error {
		res, err := conn.ExecContext(ctx, "UPDATE runs SET plan = ?, server = ? WHERE id = ?", text, facts, id)
		return affected(ctx, conn, res, err, id)
	})
}

// affected returns the error for an unknown run if a statement changed no row.
func affected(ctx context.Context, conn *sql.Conn, res sql.Result, err error, id int64) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return unknownRun(ctx, conn, id)
}
