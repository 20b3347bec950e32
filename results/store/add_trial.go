package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"filewise"
	"filewise/internal/sqlitedriver"
)

// AddTrial stores a trial with all its slices in one transaction. If it returns nil, the trial is on the storage. It
// refuses a trial if one of the same cell and attempt is stored already.
func (s *Store) AddTrial(ctx context.Context, run int64, t filewise.Trial) error {
	return s.write(ctx, "store a trial", func(conn *sql.Conn) error { return insertTrial(ctx, conn, run, t) })
}

func insertTrial(ctx context.Context, conn *sql.Conn, run int64, t filewise.Trial) error {
	args, err := trialColumns(run, t)
	if err != nil {
		return filewise.Errorf(filewise.CodeInternal, "", "%s cannot be stored: %w", cellName(t.Cell), err)
	}
	res, err := conn.ExecContext(ctx, `INSERT INTO trials (run, pilot, block, position, layout, attempt, instance,
		state, reason, started, elapsed, stages, files, final, warnings)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, args...)
	if err != nil {
		return explainTrial(ctx, conn, run, t.Cell, err)
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	for i, m := range t.Measures {
		if err := addMeasure(ctx, conn, id, i, m); err != nil {
			return err
		}
	}
	return nil
}

func trialColumns(run int64, t filewise.Trial) ([]any, error) {
	c := t.Cell
	args := []any{run, c.Pilot, c.Block, c.Position, c.Layout, c.Attempt, t.Build,
		string(t.State), t.Reason, timeText(t.Started), int64(t.Elapsed)}
	for _, j := range []struct {
		name string
		v    any
	}{{"stages", t.Stages}, {"files", t.Files}, {"final", t.Final}, {"warnings", t.Warnings}} {
		text, err := toJSON(j.v, j.name)
		if err != nil {
			return nil, err
		}
		args = append(args, text)
	}
	return args, nil
}

func addMeasure(ctx context.Context, conn *sql.Conn, trial int64, ordinal int, m filewise.Measure) error {
	deltas, err := packDeltas(m.Deltas)
	if err != nil {
		return err
	}
	failures, err := toJSON(m.Errors, "errors")
	if err != nil {
		return err
	}
	types, err := toJSON(m.Types, "types")
	if err != nil {
		return err
	}
	turns, err := toJSON(m.Turns, "turns")
	if err != nil {
		return err
	}
	rest, err := toJSON(m.Rest, "rest")
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `INSERT INTO measures (trial, ordinal, family, unit, window_from, window_to, work, bytes,
		tail, sync, slice_length, slices, hist, deltas, errors, types, turns, connections, paced, rest)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		trial, ordinal, m.Operation, m.Unit, int64(m.Window[0]), int64(m.Window[1]), floatColumn(m.Work), floatColumn(m.Bytes),
		int64(m.Tail), int64(m.Sync), int64(m.SliceLength), packSlices(m.Slices), m.Hist, deltas, failures, types, turns, m.Connections, m.Paced,
		rest)
	return err
}

// explainTrial turns a refusal by the schema into an error for the user.
func explainTrial(ctx context.Context, conn *sql.Conn, run int64, c filewise.Cell, err error) error {
	e, ok := sqlitedriver.CodesOf(err)
	if !ok || e.Primary != sqlitedriver.Constraint {
		return err
	}
	switch e.Extended {
	case sqlitedriver.ConstraintForeignKey:
		return unknownRun(ctx, conn, run)
	case sqlitedriver.ConstraintUnique:
		return filewise.Errorf(filewise.CodeInternal, "", "%s of run %d is stored already: %w", cellName(c), run, err)
	}
	return filewise.Errorf(filewise.CodeInternal, "", "%s of run %d is not one that can be stored: %w", cellName(c), run, err)
}

func cellName(c filewise.Cell) string {
	where := fmt.Sprintf("block %d", c.Block)
	if c.Pilot {
		where = "pilot"
	}
	return fmt.Sprintf("trial of %s (%s, attempt %d)", c.Layout, where, c.Attempt)
}

const (
	// recordWithin is the longest time that storing a trial may take after the run was ended.
	recordWithin = 30 * time.Second
	// unlockedWithin is the time to wait while another process keeps the store locked. After it, the measured trial is
	// given up.
	unlockedWithin = 5 * time.Minute
)

// Recorder stores the trials of one run.
type Recorder struct {
	store *Store
	run   int64
}

// Recorder returns the recorder with which the experiment runner stores trials.
func (s *Store) Recorder(run int64) *Recorder { return &Recorder{store: s, run: run} }

// Record stores a finished trial even if ctx has ended. Ctrl-C must not cost a measured trial, nor must another process
// that keeps the store locked for a while.
func (r *Recorder) Record(ctx context.Context, t filewise.Trial) error {
	ctx = context.WithoutCancel(ctx)
	for end := time.Now().Add(unlockedWithin); ; {
		err := r.once(ctx, t)
		if c, ok := sqlitedriver.CodesOf(err); !ok || c.Primary != sqlitedriver.Busy || time.Now().After(end) {
			return err
		}
	}
}

func (r *Recorder) once(ctx context.Context, t filewise.Trial) error {
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	return r.store.AddTrial(ctx, r.run, t)
}
