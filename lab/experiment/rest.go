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

// rests reports whether a phase is judged by all its work from rest to rest: it writes, works
// as fast as it can, and the server can be brought to rest. A paced phase is judged by its
// latency, and does the same work on every layout.
func (l *life) rests(p filewise.Phase) bool {
	if l.runner.Plan.Observe != ObserveRest || !l.drains(p) || p.Rate > 0 || p.Pause != nil {
		return false
	}
	return l.unsettled() == nil
}

// mostOthers is the part of others from which a drain measures them more than the layout.
const mostOthers = 0.1

// othersWrite returns the amount that others changed while pilots worked, if it is too much for drains to be judged;
// else 0.
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

// unsettled returns why the server cannot be brought to rest; nil if it can.
func (l *life) unsettled() error {
	if part := l.schedule.OthersWrite; part > 0 && !l.trial.Cell.Pilot {
		return filewise.Errorf(filewise.CodePreflight, "Run while others rest, or on a server of its own.",
			"others changed %.0f %% of what was changed on the server while pilots worked, and its checkpoints write theirs, too", 100*part)
	}
	if s, ok := l.db.Settler.(filewise.PartialSettler); ok {
		return s.Unsettled()
	}
	return nil
}

// drains reports whether a drain follows the phase.
func (l *life) drains(p filewise.Phase) bool { return p.Act == filewise.ActWork && !l.program.ReadOnly }

// settleTwice brings the database to rest, then times how long that takes with nothing to write: the time that every
// drain of the build has in common. During a first reading the server may still write pages, so the shorter of two
// counts. It is measured on each build, not once a layout by its pilot, so that its noise is within the intervals.
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

// settled brings the database to rest and returns the time of writing.
func (l *life) settled(ctx context.Context) (time.Duration, error) {
	start := l.runner.Clock.Now()
	if err := settle(ctx, l.db.Settler); err != nil {
		return 0, err
	}
	took := l.runner.Clock.Now().Sub(start)
	if t, ok := l.db.Settler.(filewise.TimedSettler); ok {
		took = t.Took()
	}
	l.others = 0
	if s, ok := l.db.Settler.(filewise.SharedSettler); ok {
		part, known, err := s.Others(ctx)
		if err != nil {
			return took, err
		}
		if known {
			l.others = part
		}
	}
	return took, nil
}

// drain waits until what was written is durable on the storage, then closes the connections
// that did it: the server must not go on writing unobserved while hundreds of them end.
func (l *life) drain(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, l.closeDone()) }()
	m := l.lastMeasure()
	var took time.Duration
	settle := func() (err error) { took, err = l.settled(ctx); return err }
	if m != nil && m.Rest != nil { // the drain is part of what is observed
		err = l.beating(m.Family, settle)
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
		m.Rest.Others = l.others
		m.Rest.Written, m.Rest.Storage = l.writtenBehind(ctx)
		if c, ok := l.db.Settler.(filewise.CountingSettler); ok {
			if bytes, ok := c.Wrote(); ok {
				m.Rest.Written = added(m.Rest.Written, map[string]float64{filewise.WrittenData: float64(bytes)})
			}
		}
	}
	return nil
}

// edge is a reading of the probes at the window's end.
type edge struct {
	probes *probe.Set
	at     probe.Snapshot
}

// writtenBehind returns the bytes written since the window's end, by the counters of filewise.ProbeWritten, and the
// disks' work; nil if nothing was counted.
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

// A server may answer before it has counted what it wrote: PostgreSQL's checkpointer reports right
// after a checkpoint has returned.
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

// added returns a new sum of two maps; nil if both are empty.
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

// closeDone closes the connections that were left open for a drain.
func (l *life) closeDone() error {
	if l.done == nil {
		return nil
	}
	done := l.done
	l.done = nil
	return done()
}

// busy returns the work of a run of connections from the moment when all had begun to the last commit; the drain adds
// its time.
func busy(r drive.Result) *filewise.Rest {
	time := r.Measure.Window[1]
	if len(r.Ends) > 0 {
		time = 0
		for _, end := range r.Ends {
			time = max(time, end)
		}
	}
	early := drive.WorkedIn(r.Measure, 0, r.Late) // by those that had begun, when others had not
	return &filewise.Rest{Work: float64(r.Ledger.Total()) - early, Time: time - r.Late}
}

// addRest adds what one more turn did; nil if a turn has no observation from rest to rest.
func addRest(sum, turn *filewise.Rest) *filewise.Rest {
	if sum == nil || turn == nil {
		return nil
	}
	return &filewise.Rest{Work: sum.Work + turn.Work, Time: sum.Time + turn.Time, Empty: sum.Empty + turn.Empty,
		Written: added(sum.Written, turn.Written), Others: max(sum.Others, turn.Others),
		Storage: addedUp([]filewise.Measure{{Deltas: sum.Storage}, {Deltas: turn.Storage}})}
}

const warnWindow = "window-observed"

// restWarning reports that the window is judged though the plan demanded more.
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
