package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"filewise"
	"filewise/internal/process"
	"filewise/lab/experiment"
)

// CreateRun stores a new run and returns its id. It fills in empty fields: the state (running), the start (now) and the
// owner (this process).
func (s *Store) CreateRun(ctx context.Context, r Run) (id int64, err error) {
	if r.State == "" {
		r.State = Running
	}
	if r.Started.IsZero() {
		r.Started = time.Now()
	}
	self, err := process.Self()
	if err != nil {
		return 0, filewise.Errorf(filewise.CodeInternal, "", "cannot identify this process: %w", err)
	}
	if r.Owner == (process.Identity{}) {
		r.Owner = self
	}
	s.settleAbandoned(ctx)
	err = s.write(ctx, "store a new run", func(conn *sql.Conn) error {
		id, err = insertRun(ctx, conn, r)
		return err
	})
	if err == nil && r.State == Running && r.Owner == self {
		err = s.own(id)
	}
	return id, err
}

func insertRun(ctx context.Context, conn *sql.Conn, r Run) (int64, error) {
	args, err := runColumns(r)
	if err != nil {
		return 0, filewise.Errorf(filewise.CodeInternal, "", "run cannot be stored: %w", err)
	}
	res, err := conn.ExecContext(ctx, `INSERT INTO runs (started, ended, state, version, scenario, engine,
		layouts, owner, plan, machine, server, warnings, decisions, ending, why, verdict)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

func runColumns(r Run) ([]any, error) {
	var ended any
	if r.Ended != nil {
		ended = timeText(*r.Ended)
	}
	args := []any{timeText(r.Started), ended, string(r.State), r.Version, r.Plan.Scenario, r.Plan.Target.Engine}
	for _, c := range []struct {
		name string
		v    any
	}{{"layouts", filewise.LayoutNames(r.Plan.Layouts)}, {"owner", owner{r.Owner, r.Seal}}, {"plan", r.Plan},
		{"machine", r.Machine}, {"server", r.Server}, {"warnings", r.Warnings}, {"decisions", r.Decisions}} {
		text, err := toJSON(c.v, c.name)
		if err != nil {
			return nil, err
		}
		args = append(args, text)
	}
	return append(args, string(r.Ending), r.Why, r.Verdict), nil
}

// Run returns one run. An error of code not-found names the runs nearby.
func (s *Store) Run(ctx context.Context, id int64) (r Run, err error) {
	err = s.read(ctx, "read a run", func(conn *sql.Conn) error {
		r, err = s.readRun(ctx, conn, id)
		return err
	})
	return r, err
}

func (s *Store) readRun(ctx context.Context, conn *sql.Conn, id int64) (Run, error) {
	r := Run{ID: id}
	var started string
	var ended sql.NullString
	var ownerText, plan, machine, server, warnings, decisions, origin string
	err := conn.QueryRowContext(ctx, `SELECT started, ended, state, version, owner, plan, machine, server, warnings,
		ending, why, verdict, decisions, origin FROM runs WHERE id = ?`, id).Scan(&started, &ended, &r.State, &r.Version,
		&ownerText, &plan, &machine, &server, &warnings, &r.Ending, &r.Why, &r.Verdict, &decisions, &origin)
	if errors.Is(err, sql.ErrNoRows) {
		return Run{}, unknownRun(ctx, conn, id)
	}
	if err != nil {
		return Run{}, err
	}
	var by owner
	err = newBudget().fromJSON(field{"owner", ownerText, &by}, field{"plan", plan, &r.Plan}, field{"machine", machine, &r.Machine},
		field{"server", server, &r.Server}, field{"warnings", warnings, &r.Warnings},
		field{"decisions", decisions, &r.Decisions}, field{"origin", origin, &r.Origin})
	if err == nil {
		r.Started, r.Ended, err = startAndEnd(started, ended)
	}
	if err != nil {
		return Run{}, filewise.Errorf(filewise.CodeStore, damaged, "run %d is damaged in the store: %w", id, err)
	}
	r.Owner, r.Seal = by.Identity, by.Seal
	r.State = s.derived(r.ID, r.State, r.Owner)
	return r, nil
}

// owner is the content of the column owner.
type owner struct {
	process.Identity
	Seal string `json:"seal,omitempty"`
}

func startAndEnd(started string, ended sql.NullString) (time.Time, *time.Time, error) {
	start, err := parseTime(started)
	if err != nil || !ended.Valid {
		return start, nil, err
	}
	end, err := parseTime(ended.String)
	return start, &end, err
}

// Page selects a part of the list of runs. Its zero value selects all.
type Page struct {
	Before int64  // only lower run numbers. 0 means any
	Prefix string // beginning of a run's number or name
	Most   int    // only the newest. 0 means all
	Count  bool   // count the runs left out, too, for which SQLite reads all runs
}

// Runs lists all runs, the oldest first.
func (s *Store) Runs(ctx context.Context) ([]RunInfo, error) {
	list, _, err := s.Page(ctx, Page{})
	return list, err
}

// Page lists a part of the runs, the oldest first. more counts the runs left out, if the page has Count.
func (s *Store) Page(ctx context.Context, p Page) (list []RunInfo, more int, err error) {
	if p.Before == 0 {
		p.Before = math.MaxInt64
	}
	most := p.Most
	if most == 0 {
		most = -1
	}
	err = s.read(ctx, "list the runs", func(conn *sql.Conn) error {
		list = nil
		rows, err := conn.QueryContext(ctx, `SELECT r.id, started, ended, r.state, scenario, engine, layouts, owner, ending, verdict, decisions,
			origin,
			`+planText("name", "")+`, `+planText("tags", "null")+`,
			(SELECT count(*) FROM trials t WHERE t.run = r.id AND t.state = 'done' AND pilot = 0),
			(SELECT count(*) FROM trials t WHERE t.run = r.id AND t.state = 'failed' AND pilot = 0)
			FROM (SELECT * FROM runs WHERE id < ?1 AND (?2 = '' OR substr(id, 1, length(?2)) = ?2
				OR substr(`+planText("name", "")+`, 1, length(?2)) = ?2) ORDER BY id DESC LIMIT ?3) r ORDER BY r.id`, p.Before, p.Prefix, most)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			r, err := s.scanInfo(rows)
			if err != nil {
				return err
			}
			list = append(list, r)
		}
		if err := rows.Err(); err != nil || !p.Count {
			return err
		}
		return conn.QueryRowContext(ctx, "SELECT count(*) - ? FROM runs", len(list)).Scan(&more)
	})
	return list, more, err
}

// planText returns the SQL that reads a field of the stored plan as text, or absent if the plan lacks the field.
func planText(field, absent string) string {
	return fmt.Sprintf("CASE WHEN json_valid(plan) THEN coalesce(json_extract(plan, '$.%s'), '%s') ELSE '%s' END", field, absent, absent)
}

func (s *Store) scanInfo(rows *sql.Rows) (r RunInfo, err error) {
	var started, layouts, ownerText, decisions, origin, tags string
	var ended sql.NullString
	var owner process.Identity
	err = rows.Scan(&r.ID, &started, &ended, &r.State, &r.Scenario, &r.Engine, &layouts, &ownerText, &r.Ending, &r.Verdict, &decisions,
		&origin,
		&r.Name, &tags, &r.Trials, &r.Failed)
	if err != nil {
		return r, err
	}
	err = newBudget().fromJSON(field{"layouts", layouts, &r.Layouts}, field{"owner", ownerText, &owner}, field{"origin", origin, &r.Origin},
		field{"decisions", decisions, &r.Decisions}, field{"tags", tags, &r.Tags})
	if err == nil {
		r.Started, r.Ended, err = startAndEnd(started, ended)
	}
	if err != nil {
		return r, filewise.Errorf(filewise.CodeStore, damaged, "run %d is damaged in the store: %w", r.ID, err)
	}
	r.State = s.derived(r.ID, r.State, owner)
	return r, nil
}

// State is the progress of a run.
type State string

// The states of a run. A run whose owner is dead reads as interrupted.
const (
	Running     State = "running"
	Done        State = "done"
	Interrupted State = "interrupted"
	Failed      State = "failed"
)

// Run is one execution of an experiment. It holds all that a report needs in addition to the trials.
type Run struct {
	ID      int64            `json:"id"`
	Started time.Time        `json:"started"`
	Ended   *time.Time       `json:"ended"` // nil while it runs
	State   State            `json:"state"`
	Version string           `json:"version"` // of the Filewise that made it
	Owner   process.Identity `json:"owner"`
	Plan    experiment.Plan  `json:"plan"`
	Machine []filewise.Fact  `json:"machine"`
	Server  []filewise.Fact  `json:"server"`
	// Warnings holds the preflight's warnings. Trials have their own.
	Warnings []filewise.Warning `json:"warnings"`
	Ending   experiment.Ending  `json:"ending,omitempty"`
	Why      string             `json:"why,omitempty"`     // why it ended, in a sentence
	Verdict  string             `json:"verdict,omitempty"` // in one line
	// Decisions holds the verdict as data. It is empty for runs that have not ended, or were stored before decisions were.
	Decisions []experiment.OperationDecision `json:"decisions,omitempty"`
	// Seal proves that this host has stored the plan's addresses. No bundle or export contains it.
	Seal string `json:"-"`
	// Origin is the run's origin. Nil means it was measured for this store.
	Origin *Origin `json:"origin,omitempty"`
}

// RunInfo is one line of the list of runs.
type RunInfo struct {
	ID       int64             `json:"id"`
	Started  time.Time         `json:"started"`
	Ended    *time.Time        `json:"ended"`
	State    State             `json:"state"`
	Name     string            `json:"name,omitempty"`
	Tags     []string          `json:"tags,omitempty"` // KEY=VALUE
	Scenario string            `json:"scenario"`
	Engine   string            `json:"engine"`
	Layouts  []string          `json:"layouts"`
	Trials   int               `json:"trials"` // done, without pilots
	Failed   int               `json:"failed"` // trials that failed, without pilots
	Ending   experiment.Ending `json:"ending,omitempty"`
	Verdict  string            `json:"verdict,omitempty"`
	// Decisions holds the verdict as data. It is empty for runs that have not ended, or were stored before decisions were.
	Decisions []experiment.OperationDecision `json:"decisions,omitempty"`
	Origin    *Origin                        `json:"origin,omitempty"` // nil means it was measured here
}

// Outcome holds how a run ended.
type Outcome struct {
	State   State // Done, Interrupted or Failed
	Ended   time.Time
	Ending  experiment.Ending
	Why     string
	Verdict string // in one line, for the list
	// Decisions holds the verdict as data, one for each operation.
	Decisions []experiment.OperationDecision
}
