package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"filewise"
)

// Trials returns the trials of a run in the order in which they were measured.
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

// readTrials returns the trials without measures, and for each trial's id its index.
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
		if err := rows.Scan(&id, &c.Pilot, &c.Block, &c.Position, &c.Layout, &c.Attempt, &t.Build, &t.State, &t.Reason,
			&started, &t.Elapsed, &stages, &files, &final, &warnings); err != nil {
			return nil, nil, err
		}
		err := newBudget().fromJSON(field{"stages", stages, &t.Stages}, field{"files", files, &t.Files},
			field{"final", final, &t.Final}, field{"warnings", warnings, &t.Warnings})
		if err == nil {
			t.Started, err = parseTime(started)
		}
		if most := max(c.Block, c.Position, c.Attempt); err == nil && (min(c.Block, c.Position, c.Attempt) < 0 || most > mostOf) {
			err = fmt.Errorf("it is the %dth of its kind, and no plan has so many", most) // counting up to it would not end
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
		slice_length, slices, slices IS NULL, hist, hist IS NULL, deltas, errors, types, turns, connections, paced, rest
		FROM measures WHERE trial IN (SELECT id FROM trials WHERE run = ?)
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

// scanMeasure reads a measure's row. scanErr is SQLite's error; err is an error in the row's content.
func scanMeasure(rows *sql.Rows) (id int64, m filewise.Measure, scanErr, err error) {
	var work, bytes any
	var slices []byte
	var noSlices, noHist bool
	var deltas, failures, types, turns, rest string
	if scanErr = rows.Scan(&id, &m.Operation, &m.Unit, &m.Window[0], &m.Window[1], &work, &bytes, &m.Tail, &m.Sync,
		&m.SliceLength, &slices, &noSlices, &m.Hist, &noHist, &deltas, &failures, &types, &turns, &m.Connections, &m.Paced,
		&rest); scanErr != nil {
		return id, m, scanErr, nil
	}
	slices, m.Hist = blob(slices, noSlices), blob(m.Hist, noHist)
	b := newBudget()
	var errs [6]error
	m.Work, errs[0] = parseFloatColumn(work)
	m.Bytes, errs[1] = parseFloatColumn(bytes)
	if errs[2] = b.take(8*int64(len(slices)) + int64(len(m.Hist))); errs[2] == nil {
		m.Slices, errs[2] = unpackSlices(slices)
	}
	m.Deltas, errs[3] = unpackDeltas(b, deltas)
	errs[4] = b.fromJSON(field{"errors", failures, &m.Errors}, field{"types", types, &m.Types}, field{"turns", turns, &m.Turns},
		field{"rest", rest, &m.Rest})
	errs[5] = checkHists(m)
	return id, m, nil, errors.Join(errs[:]...)
}

// blob returns a column's content. It distinguishes an empty blob from NULL, since modernc.org/sqlite returns nil for
// both.
func blob(content []byte, null bool) []byte {
	if content == nil && !null {
		return []byte{}
	}
	return content
}

func damagedTrial(run int64, c filewise.Cell, err error) error {
	return filewise.Errorf(filewise.CodeStore, damaged, "%s of run %d is damaged in the store: %w", cellName(c), run, err)
}
