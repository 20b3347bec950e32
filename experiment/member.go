package experiment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"filewise"
	"filewise/drive"
	"filewise/probe"
)

// member is one layout of a session on its way: it is built like any trial, takes
// its turns, is quiet in between, and is checked and dropped at the end.
type member struct {
	life   *life
	turns  []filewise.Measure
	failed string // why; empty: it has not
}

func newMember(r *Runner, c filewise.Cell, s Schedule) *member {
	return &member{life: &life{
		runner: r, schedule: s, turn: r.Plan.Turn(), lead: r.Plan.lead(s.WarmUp),
		trial: filewise.Trial{Cell: c, State: filewise.Done},
	}}
}

// prepare builds the layout, or brings a loaded build back, and observes it.
func (m *member) prepare(ctx context.Context) (err error) {
	l := m.life
	l.trial.Started = l.runner.Clock.Now().UTC()
	if l.layout, err = l.runner.Plan.layout(l.trial.Cell.Layout); err != nil {
		return err
	}
	l.program = l.runner.Plan.Program(l.runner.Workload)
	if err = l.acquire(ctx); err != nil {
		return err
	}
	for _, s := range l.steps()[:2] {
		if err = l.stage(ctx, s.name, s.do); err != nil {
			return err
		}
	}
	return nil
}

// warm is the layout's turn of the first round, which is discarded, and as long as
// the warm-up of a trial in one go.
func (m *member) warm(ctx context.Context) error {
	if m.life.schedule.WarmUp == 0 {
		return nil
	}
	if err := m.life.stage(ctx, filewise.StageWarmUp, m.life.warm); err != nil {
		return err
	}
	return m.life.stage(ctx, filewise.StageSettle, m.life.settle)
}

// warm drives the workload for the warm-up, unmeasured.
func (l *life) warm(ctx context.Context) (err error) {
	sessions, err := l.connect(ctx)
	defer func() { err = errors.Join(err, CloseAll(sessions)) }()
	if err != nil {
		return err
	}
	load := l.load(sessions)
	load.WarmUp, load.Window = 0, l.schedule.WarmUp
	result, err := drive.Run(ctx, load)
	l.ledger = l.ledger.Plus(result.Ledger)
	l.retried(result.Measure.Errors, "while it was warmed up")
	return err
}

// turn measures one turn, and waits until all of it is durable: nothing dirty is
// left to disturb the others.
func (m *member) turn(ctx context.Context) error {
	l := m.life
	said := len(l.trial.Warnings)
	if err := l.stage(ctx, filewise.StageMeasure, l.measure); err != nil {
		return fmt.Errorf("turn %d: %w", len(m.turns)+1, err)
	}
	if err := l.stage(ctx, filewise.StageDrain, l.drain); err != nil {
		return fmt.Errorf("turn %d: %w", len(m.turns)+1, err)
	}
	m.turns = append(m.turns, l.trial.Measures[0])
	l.trial.Measures, l.trial.Warnings = nil, l.trial.Warnings[:said] // said of the whole at the end
	return nil
}

// conclude makes one measure of the turns, checks the data and gives the build back.
func (m *member) conclude(ctx context.Context) error {
	l := m.life
	whole, err := merged(m.turns, l.turn)
	if err != nil {
		return err
	}
	l.trial.Measures = []filewise.Measure{whole}
	l.retried(whole.Errors, "while it was measured")
	l.trial.Warnings = append(l.trial.Warnings, probe.Warnings(whole.Deltas)...)
	if err := l.stage(ctx, filewise.StageCheck, l.check); err != nil {
		return err
	}
	l.noteWritten()
	return l.release(ctx, nil)
}

// fail ends the layout's part in the session.
func (m *member) fail(ctx context.Context, err error) {
	m.failed = joined(err, m.life.release(ctx, err)).Error()
}

// finished is the layout's trial. Its time is that of its own stages: the others'
// turns are theirs.
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

// joined is errors.Join that leaves a single error as it is.
func joined(err, more error) error {
	if more == nil {
		return err
	}
	return errors.Join(err, more)
}

// folded sums the stages of one name, in the order in which they first came.
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

// merged is the measure of all turns of a layout, one after the other, their
// leads left out: work, times, failures and counters are sums, and the slices are
// those of the turns.
func merged(turns []filewise.Measure, length time.Duration) (filewise.Measure, error) {
	if len(turns) == 0 {
		return filewise.Measure{}, errors.New("there were no turns")
	}
	first := turns[0]
	out := filewise.Measure{Family: first.Family, Unit: first.Unit, SliceLength: first.SliceLength, Connections: first.Connections, Paced: first.Paced,
		Window: [2]time.Duration{0, time.Duration(len(turns)) * length}}
	var hists [][]byte
	for _, t := range turns {
		out.Work, out.Bytes = out.Work+t.Work, out.Bytes+t.Bytes
		out.Tail, out.Sync = out.Tail+t.Tail, out.Sync+t.Sync
		out.Turns = append(out.Turns, t.Work)
		out.Slices = append(out.Slices, within(t)...)
		out.Errors = plus(out.Errors, t.Errors)
		hists = append(hists, t.Hist)
	}
	out.Deltas = addedUp(turns)
	var err error
	out.Hist, err = drive.MergeHists(hists...)
	return out, err
}

// within are the slices of the measured part of a turn.
func within(m filewise.Measure) []int64 {
	if m.SliceLength <= 0 {
		return nil
	}
	out := make([]int64, (m.Window[1]-m.Window[0])/m.SliceLength)
	if from := int(m.Window[0] / m.SliceLength); from < len(m.Slices) {
		copy(out, m.Slices[from:])
	}
	return out
}

func plus(sum, more map[filewise.Class]int64) map[filewise.Class]int64 {
	if len(more) == 0 {
		return sum
	}
	if sum = maps.Clone(sum); sum == nil {
		sum = make(map[filewise.Class]int64)
	}
	for class, n := range more {
		sum[class] += n
	}
	return sum
}

// addedUp are the sums of the counters' moves, of shares and levels the means. What is absent
// in one turn is absent: a sum over the others would be too small. A wait that is
// absent was not waited for.
func addedUp(turns []filewise.Measure) []filewise.Delta {
	sums := make(map[filewise.Delta]float64)
	in := make(map[filewise.Delta]int)
	var keys []filewise.Delta
	for _, t := range turns {
		for _, d := range t.Deltas {
			value := d.Value
			d.Value = 0
			if in[d] == 0 {
				keys = append(keys, d)
			}
			sums[d], in[d] = sums[d]+value, in[d]+1
		}
	}
	var out []filewise.Delta
	for _, d := range keys {
		if in[d] < len(turns) && (d.Class == "" || !filewise.OfWaits(d.Probe)) {
			continue
		}
		sum, n := sums[d], in[d] // before the key changes
		if d.Value = sum; probe.IsMean(d) {
			d.Value = sum / float64(n)
		}
		out = append(out, d)
	}
	return out
}
