package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/probe"
)

// rests reports whether a phase is judged by all its work from rest to rest. It is if it writes, works as fast as it
// can, and the server can be brought to rest. A paced phase is judged by its latency instead; it does the same work on
// every layout.
func (l *life) rests(p filewise.Phase) bool {
	if l.runner.Plan.Observe != ObserveRest || !l.drains(p) || p.Rate > 0 || p.Pause != nil {
		return false
	}
	return l.unsettled() == nil
}

// mostOthers is the share of changes by others above which a drain measures others' writing rather than the layout.
const mostOthers = 0.1

// othersWrite returns the share of changes by others during the pilots if it is too large to judge drains. Otherwise it
// returns 0.
func (h history) othersWrite() float64 {
	most := 0.0
	for _, l := range h.plan.Layouts {
		if t := h.tries[cellKey{0, l.Name}].done; t != nil {
			for _, m := range t.Measures {
				if m.Rest != nil {
					most = max(most, m.Rest.Others)
				}
			}
		}
	}
	if most <= mostOthers {
		return 0
	}
	return most
}

// unsettled returns why the server cannot be brought to rest, or nil if it can.
func (l *life) unsettled() error {
	if part := l.schedule.OthersWrite; part > 0 && !l.trial.Cell.Pilot {
		return filewise.Errorf(filewise.CodePreflight, "Run while others rest, or on a separate server.",
			"others changed %.0f %% of what was changed on the server while pilots worked, and its checkpoints write theirs, too", 100*part)
	}
	return l.db.Unsettled
}

// drains reports whether a drain follows the phase.
func (l *life) drains(p filewise.Phase) bool { return p.Act == filewise.ActWork && !l.program.ReadOnly }

// settleTwice brings the database to rest, then times twice how long that takes with nothing to write. Every drain of
// the build includes that time. During the first timing the server may still write pages, so the shorter time counts.
// It is timed on each build, not once per layout, so that the intervals include its noise.
func (l *life) settleTwice(ctx context.Context) error {
	if _, err := l.settled(ctx); err != nil {
		return err
	}
	l.trial.Warnings = append(l.trial.Warnings, l.restWarning()...)
	if !l.restsAtAll() {
		return nil
	}
	first, err := l.settled(ctx)
	if err != nil {
		return err
	}
	again, err := l.settled(ctx)
	l.empty = min(first, again)
	return err
}

func (l *life) restsAtAll() bool {
	for _, p := range l.program.Phases {
		if l.rests(p) {
			return true
		}
	}
	return false
}

// settled brings the database to rest and returns how long writing took.
func (l *life) settled(ctx context.Context) (time.Duration, error) {
	start := l.runner.Clock.Now()
	if err := settle(ctx, l.db); err != nil {
		return 0, err
	}
	took := l.runner.Clock.Now().Sub(start)
	l.last = filewise.Settled{}
	if l.db.Settled != nil {
		var err error
		if l.last, err = l.db.Settled(ctx); err != nil {
			return took, err
		}
	}
	if l.last.Took != nil {
		took = *l.last.Took
	}
	return took, nil
}

// drain waits until all writes are durable on the storage, then closes the connections that made them. The order
// matters: ending hundreds of connections must not let the server write unobserved.
func (l *life) drain(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, l.closeDone()) }()
	m := l.lastMeasure()
	var took time.Duration
	settle := func() (err error) { took, err = l.settled(ctx); return err }
	if m != nil && m.Rest != nil { // the drain is part of the observation
		err = l.beating(m.Operation, settle)
	} else {
		err = settle()
	}
	if err != nil || m == nil {
		return err
	}
	m.Sync = took
	if m.Rest != nil {
		m.Rest.Empty = min(l.empty, took)
		m.Rest.Time += took - m.Rest.Empty
		m.Rest.Others = l.last.Others
		m.Rest.Written, m.Rest.Storage = l.writtenBehind(ctx)
	}
	return nil
}

// edge holds a reading of the probes at the end of the window.
type edge struct {
	probes *probe.Set
	at     probe.Snapshot
}

// writtenBehind returns what was written since the end of the window: bytes by the counters of filewise.ProbeWritten,
// and the deltas of the disks. Both are nil if nothing was counted.
func (l *life) writtenBehind(ctx context.Context) (out map[string]float64, storage []filewise.Delta) {
	e := l.edge
	if l.edge = nil; e == nil {
		return nil, nil
	}
	out, storage = l.writtenSince(ctx, e)
	for range lateReadings {
		if len(out) == 0 || out[filewise.WrittenData] > 0 || l.runner.Clock.Sleep(ctx, lateReading) != nil {
			break
		}
		out, storage = l.writtenSince(ctx, e)
	}
	return out, storage
}

// A server may answer before it has counted what it wrote, so counters are read again. PostgreSQL's checkpointer
// reports just after a checkpoint has returned.
const (
	lateReadings = 3
	lateReading  = 20 * time.Millisecond
)

func (l *life) writtenSince(ctx context.Context, e *edge) (out map[string]float64, storage []filewise.Delta) {
	m := filewise.Measure{Deltas: e.probes.Delta(e.at, e.probes.Read(ctx))}
	for _, d := range m.Deltas {
		if d.Probe == "disk" && !probe.IsMean(d) {
			storage = append(storage, d)
		}
	}
	for _, d := range slices.Concat(m.Deltas, probe.Written(m, l.trial.Files, l.embedded())) {
		if d.Probe == filewise.ProbeWritten && d.Unit == "B" {
			out = added(out, map[string]float64{d.Name: d.Value})
		}
	}
	return out, storage
}

// added returns the sum of two maps. It never changes sum; if more is empty, it returns sum itself.
func added[K comparable, V int64 | float64](sum, more map[K]V) map[K]V {
	if len(more) == 0 {
		return sum
	}
	if sum = maps.Clone(sum); sum == nil {
		sum = make(map[K]V, len(more))
	}
	for key, n := range more {
		sum[key] += n
	}
	return sum
}

// closeDone closes the connections that were kept open for a drain.
func (l *life) closeDone() error {
	if l.done == nil {
		return nil
	}
	done := l.done
	l.done = nil
	return done()
}

// busy returns the work of all connections and its duration, from the moment when all had begun until the last commit.
// The drain adds its time later.
func busy(r drive.Result) *filewise.Rest {
	time := r.Measure.Window[1]
	if len(r.Ends) > 0 {
		time = 0
		for _, end := range r.Ends {
			time = max(time, end)
		}
	}
	early := drive.WorkedIn(r.Measure, 0, r.Late) // by connections that began before the last one did
	return &filewise.Rest{Work: float64(r.Ledger.Total()) - early, Time: time - r.Late}
}

// addRest adds the observation of one more turn. It returns nil if a turn was not observed from rest to rest.
func addRest(sum, turn *filewise.Rest) *filewise.Rest {
	if sum == nil || turn == nil {
		return nil
	}
	return &filewise.Rest{Work: sum.Work + turn.Work, Time: sum.Time + turn.Time, Empty: sum.Empty + turn.Empty,
		Written: added(sum.Written, turn.Written), Others: max(sum.Others, turn.Others),
		Storage: addedUp([]filewise.Measure{{Deltas: sum.Storage}, {Deltas: turn.Storage}})}
}

const warnWindow = "window-observed"

// restWarning warns that only the window is judged, although the plan demands from rest to rest.
func (l *life) restWarning() []filewise.Warning {
	err := l.unsettled()
	if l.runner.Plan.Observe != ObserveRest || err == nil {
		return nil
	}
	return []filewise.Warning{{
		Code:    warnWindow,
		Message: fmt.Sprintf("Only the rate within the window is judged; data files may be written later, unmeasured: %v.", err),
		Remedy:  filewise.RemedyOf(err),
	}}
}
