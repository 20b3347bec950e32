package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/mattn/go-sqlite3"

	"filewise"
)

// AddTrial stores a trial with all its slices in one transaction; when it
// returns nil the trial is on the storage. A trial of the same cell and attempt
// as one that is stored is refused.
func (s *Store) AddTrial(ctx context.Context, run int64, t filewise.Trial) error {
	args, err := trialColumns(run, t)
	if err != nil {
		return filewise.Errorf(filewise.CodeInternal, "", "%s cannot be stored: %w", cellName(t.Cell), err)
	}
	return s.write(ctx, "store a trial", func(conn *sql.Conn) error {
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
	})
}

func trialColumns(run int64, t filewise.Trial) ([]any, error) {
	c := t.Cell
	args := []any{run, c.Pilot, c.Block, c.Position, c.Layout, c.Attempt, t.Instance,
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
	_, err = conn.ExecContext(ctx, `INSERT INTO measures (trial, ordinal, family, unit, window_from, window_to, work, bytes,
		tail, sync, slice_length, slices, hist, deltas) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		trial, ordinal, m.Family, m.Unit, int64(m.Window[0]), int64(m.Window[1]), floatColumn(m.Work), floatColumn(m.Bytes),
		int64(m.Tail), int64(m.Sync), int64(m.SliceLength), packSlices(m.Slices), m.Hist, deltas)
	return err
}

// explainTrial puts a refusal by the schema into words.
func explainTrial(ctx context.Context, conn *sql.Conn, run int64, c filewise.Cell, err error) error {
	var e sqlite3.Error
	if !errors.As(err, &e) || e.Code != sqlite3.ErrConstraint {
		return err
	}
	switch e.ExtendedCode {
	case sqlite3.ErrConstraintForeignKey:
		return unknownRun(ctx, conn, run)
	case sqlite3.ErrConstraintUnique:
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

// Trials returns the trials of a run in the order measured.
func (s *Store) Trials(ctx context.Context, run int64) (trials []filewise.Trial, err error) {
	err = s.read(ctx, "read the trials", func(conn *sql.Conn) error {
		ids, list, err := readTrials(ctx, conn, run)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return known(ctx, conn, run)
		}
		trials = list
		return readMeasures(ctx, conn, run, ids, trials)
	})
	if err != nil {
		return nil, err
	}
	return trials, nil
}

func known(ctx context.Context, conn *sql.Conn, run int64) error {
	var id int64
	err := conn.QueryRowContext(ctx, "SELECT id FROM runs WHERE id = ?", run).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return unknownRun(ctx, conn, run)
	}
	return err
}

// readTrials returns the trials without measures, and where each id is.
func readTrials(ctx context.Context, conn *sql.Conn, run int64) (map[int64]int, []filewise.Trial, error) {
	rows, err := conn.QueryContext(ctx, `SELECT id, pilot, block, position, layout, attempt, instance, state, reason,
		started, elapsed, stages, files, final, warnings FROM trials WHERE run = ? ORDER BY id`, run)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	ids := map[int64]int{}
	var trials []filewise.Trial
	for rows.Next() {
		var t filewise.Trial
		var id int64
		var started, stages, files, final, warnings string
		c := &t.Cell
		if err := rows.Scan(&id, &c.Pilot, &c.Block, &c.Position, &c.Layout, &c.Attempt, &t.Instance, &t.State, &t.Reason,
			&started, &t.Elapsed, &stages, &files, &final, &warnings); err != nil {
			return nil, nil, err
		}
		err := fromJSON(field{"stages", stages, &t.Stages}, field{"files", files, &t.Files},
			field{"final", final, &t.Final}, field{"warnings", warnings, &t.Warnings})
		if err == nil {
			t.Started, err = parseTime(started)
		}
		if err != nil {
			return nil, nil, damagedTrial(run, t.Cell, err)
		}
		ids[id] = len(trials)
		trials = append(trials, t)
	}
	return ids, trials, rows.Err()
}

func readMeasures(ctx context.Context, conn *sql.Conn, run int64, ids map[int64]int, trials []filewise.Trial) error {
	rows, err := conn.QueryContext(ctx, `SELECT trial, family, unit, window_from, window_to, work, bytes, tail, sync,
		slice_length, slices, hist, deltas FROM measures WHERE trial IN (SELECT id FROM trials WHERE run = ?)
		ORDER BY trial, ordinal`, run)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		id, m, scanErr, err := scanMeasure(rows)
		if scanErr != nil {
			return scanErr
		}
		t := &trials[ids[id]]
		if err != nil {
			return damagedTrial(run, t.Cell, err)
		}
		t.Measures = append(t.Measures, m)
	}
	return rows.Err()
}

// scanMeasure returns the failures of SQLite and of the row's content apart.
func scanMeasure(rows *sql.Rows) (id int64, m filewise.Measure, scanErr, err error) {
	var work, bytes any
	var slices []byte
	var deltas string
	if scanErr = rows.Scan(&id, &m.Family, &m.Unit, &m.Window[0], &m.Window[1], &work, &bytes, &m.Tail, &m.Sync,
		&m.SliceLength, &slices, &m.Hist, &deltas); scanErr != nil {
		return id, m, scanErr, nil
	}
	var errs [4]error
	m.Work, errs[0] = parseFloatColumn(work)
	m.Bytes, errs[1] = parseFloatColumn(bytes)
	m.Slices, errs[2] = unpackSlices(slices)
	m.Deltas, errs[3] = unpackDeltas(deltas)
	return id, m, nil, errors.Join(errs[:]...)
}

func damagedTrial(run int64, c filewise.Cell, err error) error {
	return filewise.Errorf(filewise.CodeStore, damaged, "%s of run %d is damaged in the store: %w", cellName(c), run, err)
}

// recordWithin is how long storing one trial may take after the run was ended.
const recordWithin = 30 * time.Second

// Recorder stores the trials of one run.
type Recorder struct {
	store *Store
	run   int64
}

// Recorder returns what the experiment runner records trials with.
func (s *Store) Recorder(run int64) *Recorder { return &Recorder{store: s, run: run} }

// Record stores a finished trial, also when ctx has ended: Ctrl-C must not cost
// a trial that was measured.
func (r *Recorder) Record(ctx context.Context, t filewise.Trial) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer cancel()
	return r.store.AddTrial(ctx, r.run, t)
}
