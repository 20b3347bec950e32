package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"filewise"
)

// Origin describes the origin of an imported run. The run itself holds who measured it, and on what.
type Origin struct {
	ID       int64     `json:"id"`             // the run's id in its own store
	Version  string    `json:"version"`        // of the Filewise that exported it
	Host     string    `json:"host,omitempty"` // Host is the measuring host's name, and User the measuring user's
	User     string    `json:"user,omitempty"`
	Exported time.Time `json:"exported"`
	Imported time.Time `json:"imported"`
	SHA256   string    `json:"sha256"` // hash of the run in its bundle
}

// importTrial reverses exportTrial.
func importTrial(t exportedTrial) filewise.Trial {
	out := t.Trial
	out.Measures = nil
	for _, e := range t.Measures {
		m := e.Measure
		m.Work, m.Bytes, m.Deltas = number64(e.Work), number64(e.Bytes), nil
		for _, d := range e.Deltas {
			delta := d.Delta
			delta.Value = number64(d.Value)
			m.Deltas = append(m.Deltas, delta)
		}
		out.Measures = append(out.Measures, m)
	}
	return out
}

// number64 reverses finite: nil becomes NaN.
func number64(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// Import stores a run from another store, with all its trials, in one transaction. It does not store a run twice. If an
// imported run has gone on at its origin, it gets the trials that it lacks. added is the number of new trials, 0 if the
// run and all its trials were stored already.
func (s *Store) Import(ctx context.Context, m Manifest, run Run, trials []filewise.Trial) (id int64, added int, err error) {
	origin := Origin{ID: run.ID, Version: m.Version, Host: m.Host, User: m.User, Exported: m.Exported, Imported: time.Now().UTC(),
		SHA256: m.SHA256}
	if run.State == Running { // it cannot be ended from here
		run.State = Interrupted
	}
	err = s.write(ctx, "import a run", func(conn *sql.Conn) error {
		here, found, err := s.sameRun(ctx, conn, run)
		if err != nil {
			return err
		}
		if found {
			id, added, err = goneOn(ctx, conn, here, run, trials, origin)
			return err
		}
		if id, err = insertRun(ctx, conn, run); err != nil {
			return err
		}
		added = len(trials)
		return errors.Join(setOrigin(ctx, conn, id, origin), insertTrials(ctx, conn, id, trials))
	})
	return id, added, err
}

// sameRun finds a stored run by its start, to the nanosecond, and its seed, which no two runs share.
func (s *Store) sameRun(ctx context.Context, conn *sql.Conn, run Run) (Run, bool, error) {
	var ids []int64
	rows, err := conn.QueryContext(ctx, "SELECT id FROM runs WHERE started = ?", timeText(run.Started))
	if err != nil {
		return Run{}, false, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return Run{}, false, err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return Run{}, false, err
	}
	for _, id := range ids {
		here, err := s.readRun(ctx, conn, id)
		if err != nil || here.Plan.Seed == run.Plan.Seed {
			return here, err == nil, err
		}
	}
	return Run{}, false, nil
}

// goneOn adds the trials that an imported run has got at its origin since its last import.
func goneOn(ctx context.Context, conn *sql.Conn, here, run Run, trials []filewise.Trial, origin Origin) (id int64, added int, err error) {
	_, stored, err := readTrials(ctx, conn, here.ID)
	if err != nil || here.Origin == nil || len(trials) <= len(stored) {
		return here.ID, 0, err
	}
	for i, t := range stored {
		if t.Cell != trials[i].Cell || !t.Started.Equal(trials[i].Started) {
			return 0, 0, filewise.Errorf(filewise.CodeUsage, "import it into another store: --store FILE",
				"run %d here began as the run of the bundle, and went on otherwise", here.ID)
		}
	}
	var ended any
	if run.Ended != nil {
		ended = timeText(*run.Ended)
	}
	decisions, err := toJSON(run.Decisions, "decisions")
	if err != nil {
		return 0, 0, err
	}
	_, err = conn.ExecContext(ctx, "UPDATE runs SET state = ?, ended = ?, ending = ?, why = ?, verdict = ?, decisions = ? WHERE id = ?",
		string(run.State), ended, string(run.Ending), run.Why, run.Verdict, decisions, here.ID)
	return here.ID, len(trials) - len(stored), errors.Join(err,
		setOrigin(ctx, conn, here.ID, origin), insertTrials(ctx, conn, here.ID, trials[len(stored):]))
}

func setOrigin(ctx context.Context, conn *sql.Conn, id int64, o Origin) error {
	text, err := toJSON(o, "origin")
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "UPDATE runs SET origin = ? WHERE id = ?", text, id)
	return err
}

func insertTrials(ctx context.Context, conn *sql.Conn, run int64, trials []filewise.Trial) error {
	for _, t := range trials {
		if err := insertTrial(ctx, conn, run, t); err != nil {
			return err
		}
	}
	return nil
}

// String returns the origin in one line.
func (o Origin) String() string {
	return fmt.Sprintf("run %d of %s, exported %s, imported %s", o.ID, o.Where(),
		o.Exported.Local().Format("2006-01-02 15:04"), o.Imported.Local().Format("2006-01-02 15:04"))
}

// Where names the user and the host of the measurement.
func (o Origin) Where() string {
	switch {
	case o.Host == "":
		return "an unnamed host"
	case o.User == "":
		return o.Host
	}
	return o.User + "@" + o.Host
}
