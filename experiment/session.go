package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"filewise"
)

// MinTurn is the shortest turn of a layout in a session: below it, coming to rest
// and starting again is most of what a turn does.
const MinTurn = 200 * time.Millisecond

// leadShare of a turn goes before it unmeasured, so that new connections and
// the state after coming to rest are no part of it.
const leadShare = 10

// Turn is the measured time of one layout's turn in a session; 0: the plan has none.
func (p Plan) Turn() time.Duration {
	if p.Cells == 0 {
		return 0
	}
	return p.Window / time.Duration(p.Cells)
}

// lead is what goes before each turn, in whole slices.
func (p Plan) lead(warmUp time.Duration) time.Duration {
	d := min(warmUp, p.Turn()/leadShare)
	if p.SliceLength > 0 {
		d -= d % p.SliceLength
	}
	return d
}

// CheckCells says why a plan with sessions cannot be measured that way. The error
// has code usage; nil: it can, or has no sessions.
func (p Plan) CheckCells() error {
	refuse := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "sessions of %d rounds (--cells): "+format, append([]any{p.Cells}, args...)...)
	}
	const without = "leave --cells out"
	switch {
	case p.Cells == 0:
		return nil
	case p.Cells < 2:
		return refuse("give 2 or more, or leave it out", "layouts take turns only where there are at least 2 rounds")
	case p.AsPublished != nil:
		return refuse(without, "the article's design has one layout after the other")
	case p.Measure == MeasureLifecycle:
		return refuse(without, "a life cycle stops and kills the server, and cannot be cut into turns")
	case len(p.Phases) > 0:
		return refuse(without, "the phases of %s come one after the other, each on what the one before has left, and cannot be cut into turns", p.Scenario)
	case p.Window == 0:
		return refuse("leave --cells out, or give a --window in place of --work", "turns are measured for a time, and the work of a trial is fixed here (%d bytes)", p.Work)
	case p.Calibrate:
		return refuse("leave --calibrate out: layouts that take turns meet the same machine", "a calibration before each trial would say nothing about its turns")
	case p.Turn() < MinTurn:
		return refuse(fmt.Sprintf("give a --window of %v or more, or fewer rounds", MinTurn*time.Duration(p.Cells)),
			"a turn of %v is too short; the shortest is %v", p.Turn().Round(time.Millisecond), MinTurn)
	}
	return nil
}

// turnsTime is what a layout's trial in a session takes beyond one in one go: it
// comes to rest, and has a lead, once a round.
func (p Plan) turnsTime(warmUp, drain time.Duration) time.Duration {
	if p.Cells == 0 {
		return 0
	}
	return time.Duration(p.Cells)*p.lead(warmUp) + time.Duration(p.Cells)*drain
}

// session are the trials to be measured together: those of the next one's block
// that are open and have been tried as often.
func (s standing) session() []filewise.Cell {
	next := s.next
	if s.plan.Cells == 0 || next.Pilot {
		return []filewise.Cell{next}
	}
	var cells []filewise.Cell
	for pos, i := range order(s.plan.Seed, next.Block, s.live(s.results, next.Block)) {
		name := s.plan.Layouts[i].Name
		if s.open(next.Block, i) && s.tries[cellKey{next.Block, name}].n == next.Attempt-1 {
			cells = append(cells, filewise.Cell{Block: next.Block, Position: pos, Layout: name, Attempt: next.Attempt})
		}
	}
	return cells
}

// turnOrder is the random order of n layouts in a round of a session, which follows
// from the seed, the block, the attempt and the round.
func turnOrder(seed uint64, c filewise.Cell, round, n int) []int {
	const perBlock, perAttempt = 1 << 40, 1 << 32
	return rand.New(rand.NewPCG(seed, uint64(c.Block)*perBlock+uint64(c.Attempt)*perAttempt+uint64(round)+1)).Perm(n)
}

// session is the trials of a block whose layouts are live at once and take turns.
type session struct {
	runner  *Runner
	ctx     context.Context // of the run
	members []*member
}

// session measures the cells together and returns their trials, done or failed, in
// the order of the cells. The error is of what ends the run; nothing is left then.
func (r *Runner) session(ctx context.Context, cells []filewise.Cell, sched Schedule) (_ []filewise.Trial, err error) {
	if err := r.Plan.CheckCells(); err != nil {
		return nil, err
	}
	s := &session{runner: r, ctx: ctx}
	for _, c := range cells {
		s.members = append(s.members, newMember(r, c, sched))
	}
	guarded, stop := r.guard(ctx)
	defer stop()
	if err := s.run(guarded); err != nil {
		return nil, s.end(err)
	}
	if r.Ended != nil {
		if err := r.Ended(ctx); err != nil {
			return nil, err
		}
	}
	trials := make([]filewise.Trial, len(s.members))
	for i, m := range s.members {
		trials[i] = m.finished()
	}
	return trials, nil
}

func (s *session) run(ctx context.Context) error {
	for _, m := range s.members {
		if err := s.do(ctx, m, m.prepare); err != nil {
			return err
		}
	}
	if err := s.round(ctx, 0, (*member).warm); err != nil {
		return err
	}
	for r := range s.runner.Plan.Cells {
		if err := s.round(ctx, r+1, (*member).turn); err != nil {
			return err
		}
	}
	for _, m := range s.members {
		if err := s.do(ctx, m, m.conclude); err != nil {
			return err
		}
	}
	return nil
}

// round gives every layout one turn, in fresh random order.
func (s *session) round(ctx context.Context, n int, turn func(*member, context.Context) error) error {
	for _, i := range turnOrder(s.runner.Plan.Seed, s.members[0].life.trial.Cell, n, len(s.members)) {
		m := s.members[i]
		if s.runner.Guard != nil {
			if err := s.runner.Guard(); err != nil {
				return err
			}
		}
		if err := s.do(ctx, m, func(ctx context.Context) error { return turn(m, ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// do does a step of one layout. What fails there fails its trial alone, whose build
// goes at once; the error is of what ends the run.
func (s *session) do(ctx context.Context, m *member, step func(context.Context) error) error {
	if m.failed != "" {
		return nil
	}
	err := ctx.Err()
	if err == nil {
		err = step(ctx)
	}
	if err == nil {
		return nil
	}
	fatal := s.runner.fatal(s.ctx, ctx, m.life, err)
	if fatal == nil {
		m.fail(ctx, err)
	}
	return fatal
}

// end gives back all builds of a session that is not recorded.
func (s *session) end(cause error) error {
	for _, m := range s.members {
		if err := m.life.release(s.ctx, cause); err != nil {
			cause = joined(cause, err)
		}
	}
	return cause
}

// stageTime is what a trial spent in the stages of one name.
func stageTime(t filewise.Trial, name string) time.Duration {
	var d time.Duration
	for _, s := range t.Stages {
		if s.Name == name {
			d += s.Took
		}
	}
	return d
}
