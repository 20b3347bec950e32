package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"filewise"
	"filewise/lab/drive"
	"filewise/lab/probe"
)

// member is one layout of an interleaved block in progress. It is built like any trial, takes its turns, is quiet in
// between, and is checked and dropped at the end.
type member struct {
	life   *life
	turns  [][]filewise.Measure // per turn, the measures of all phases
	failed string               // the reason. Empty means it has not failed
}

func newMember(r *Runner, c filewise.Cell, s Schedule) *member {
	l := newLife(r, c, s)
	switch l.turn = new(turn); {
	case c.Pilot:
		l.turn.length, l.turn.of = r.Plan.PilotWindow, r.Plan.pilotParts()
	case r.Plan.Work > 0:
		l.turn.of = s.Rounds
	default:
		l.turn.length, l.turn.lead = s.Turn, r.Plan.lead(s)
	}
	return &member{life: l}
}

func (m *member) pilot() bool { return m.life.trial.Cell.Pilot }

// prepare builds the layout, or resets a loaded build, and observes it. The first interleaved block continues on the
// builds of the pilots.
func (m *member) prepare(ctx context.Context) (err error) {
	l := m.life
	l.trial.Started = l.runner.Clock.Now().UTC()
	if l.layout, err = l.runner.Plan.layout(l.trial.Cell.Layout); err != nil {
		return err
	}
	if !l.takeOver() {
		if err = l.acquire(ctx); err != nil {
			return err
		}
	}
	for _, s := range l.steps()[:2] {
		if err = l.stage(ctx, s.name, s.do); err != nil {
			return err
		}
	}
	if l.runner.Plan.Interleaved {
		l.open = make(map[int][]filewise.Session)
	}
	return nil
}

// warm runs the layout's turn of the first round, which is discarded. It takes as long as the warm-up of a trial
// measured in one go.
func (m *member) warm(ctx context.Context) error {
	l := m.life
	if l.schedule.WarmUp == 0 || l.runner.Plan.Window == 0 {
		return nil
	}
	for i, phase := range l.program.Phases {
		if phase.Act != filewise.ActWork {
			continue
		}
		if err := l.stage(ctx, filewise.StageWarmUp, func(ctx context.Context) error {
			return l.unmeasured(ctx, i, "while it was warmed up", func(load *drive.Load, _ filewise.Phase) { load.Window = l.schedule.WarmUp })
		}); err != nil {
			return l.named(phase, err)
		}
	}
	return l.stage(ctx, filewise.StageSettle, l.settle)
}

// turn measures one turn and waits until all of it is durable, so that no dirty pages are left to disturb the other
// layouts.
func (m *member) turn(ctx context.Context) error {
	l := m.life
	said := len(l.trial.Warnings)
	start := l.runner.Clock.Now()
	for more := true; more; more = m.pilot() && m.pilotGoesOn(start) {
		l.trial.Measures = nil
		for _, s := range l.turnSteps() {
			if err := l.stage(ctx, s.name, s.do); err != nil {
				return fmt.Errorf("turn %d: %w", len(m.turns)+1, err)
			}
		}
		m.turns = append(m.turns, l.trial.Measures)
		l.turn.part++
	}
	l.trial.Measures, l.trial.Warnings = nil, l.trial.Warnings[:said] // measures and warnings are added at the end, for all turns together
	return nil
}

// pilotGoesOn reports whether a pilot of fixed work needs another part. It ends after a third of the work, or after
// pilotTime, which is enough to forecast the time of the whole.
func (m *member) pilotGoesOn(start time.Time) bool {
	l := m.life
	return l.runner.Plan.Work > 0 && l.turn.part < l.turn.of/3 && l.runner.Clock.Now().Sub(start) < pilotTime
}

// turnSteps returns the steps of a turn: every phase once, with its follow-up. Data are checked at the end of the
// interleaved block. Restored data are verified in the turn, before they are discarded.
func (l *life) turnSteps() []step {
	var steps []step
	for i, phase := range l.program.Phases {
		steps = append(steps, l.measuringSteps(i)...)
		if phase.Act == filewise.ActRestore || phase.Act == filewise.ActBackup && !l.program.Restores() {
			steps = append(steps, step{filewise.StageCheck, func(ctx context.Context) error { return l.named(phase, l.compare(ctx, i)) }})
		}
	}
	return steps
}

// conclude merges the turns into one measure per phase, checks the data and gives the build back.
func (m *member) conclude(ctx context.Context) error {
	l := m.life
	if len(m.turns) == 0 {
		return errors.New("there were no turns")
	}
	l.turn = nil // the rest is about the whole interleaved block
	if err := l.closeOpen(); err != nil {
		return err
	}
	for k := range m.turns[0] {
		whole, err := merged(m.turns, k)
		if err != nil {
			return err
		}
		l.retried(whole.Errors, "while it was measured")
		l.trial.Warnings = append(l.trial.Warnings, probe.Warnings(whole.Deltas)...)
		if err := l.recorded(l.phaseOf(whole.Operation), whole); err != nil {
			return err
		}
	}
	if err := l.stage(ctx, filewise.StageCheck, l.checkAll); err != nil {
		return err
	}
	l.noteWritten()
	l.weigh()
	if m.pilot() && l.handsOver() && void(l.trial) == "" {
		return nil
	}
	return l.release(ctx, nil)
}

// phaseOf returns the phase of a measure. If the measure is a load during an act, it returns the load's phase.
func (l *life) phaseOf(operation string) filewise.Phase {
	for _, x := range l.program.Phases {
		if x.ConcurrentLoad != "" && filewise.ConcurrentOperation(x.ConcurrentLoad, x.Operation) == operation {
			operation = x.ConcurrentLoad
		}
	}
	return l.program.Phases[max(l.program.PhaseOf(operation), 0)]
}

// checkAll compares the data with what all turns should have left. It checks after the last phase of work, because
// restored data are verified turn by turn.
func (l *life) checkAll(ctx context.Context) error {
	last := len(l.program.Phases) - 1
	for last > 0 && l.program.Phases[last].Act == filewise.ActRestore {
		last--
	}
	if l.program.Phases[last].Act == filewise.ActWork || l.program.Restores() {
		if err := l.runner.Workload.Check(ctx, l.db, last, l.ledgers[:last+1]); err != nil {
			return err
		}
	}
	return l.finish(ctx)
}

// fail ends the layout's part in the interleaved block and gives its build back.
func (m *member) fail(ctx context.Context, err error) {
	m.failed = joined(err, m.life.release(ctx, err)).Error()
}

// keep leaves the build of a pilot to the first interleaved block, unless the pilot failed.
func (m *member) keep() {
	if m.pilot() && m.failed == "" && void(m.life.trial) == "" {
		m.life.handOver()
	}
}

// finished returns the layout's trial. Its elapsed time is the sum of its own stages, without the other layouts' turns.
func (m *member) finished() filewise.Trial {
	t := m.life.trial
	if m.failed != "" {
		t.State, t.Reason = filewise.Failed, m.failed
	}
	t.Stages = folded(t.Stages)
	for _, s := range t.Stages {
		t.Elapsed += s.Took
	}
	return t
}

// joined joins two errors like errors.Join, except that it returns err unchanged if more is nil.
func joined(err, more error) error {
	if more == nil {
		return err
	}
	return errors.Join(err, more)
}

// folded sums the stages of each name, in order of first appearance.
func folded(stages []filewise.Stage) []filewise.Stage {
	var out []filewise.Stage
	for _, s := range stages {
		i := slices.IndexFunc(out, func(o filewise.Stage) bool { return o.Name == s.Name })
		if i < 0 {
			out = append(out, s)
			continue
		}
		out[i].Took += s.Took
	}
	return out
}
