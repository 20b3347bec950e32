package experiment

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"filewise"
)

// TakesTurns reports whether the blocks of the plan are interleaved.
func (p Plan) TakesTurns() bool { return p.Interleaved || p.Rounds > 0 }

// CannotTakeTurns returns why a plan's layouts cannot take turns, as the end of a sentence about them. It returns "" if
// they can.
func (p Plan) CannotTakeTurns(program filewise.Program) (why, remedy string) {
	const without = "leave --rounds out"
	switch {
	case p.AsPublished != nil:
		return "the article's design has one layout after the other", without
	case p.Measure == MeasureLifecycle:
		return "a life cycle stops and kills the server, and cannot be cut into turns", without
	case !program.Repeats():
		return "the phases of " + p.Scenario + " come one after the other, each on what the one before has left, and cannot be cut into turns",
			without
	case p.Calibrate:
		return "a calibration before each trial would say nothing about its turns",
			"leave --calibrate out: layouts that take turns meet the same machine"
	}
	return "", ""
}

// CheckRounds returns an error with code usage if the plan sets a number of rounds but cannot be measured in rounds.
func (p Plan) CheckRounds(program filewise.Program) error {
	refuse := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "blocks of %d rounds (--rounds): "+format, append([]any{p.Rounds}, args...)...)
	}
	why, remedy := p.CannotTakeTurns(program)
	switch {
	case p.Rounds == 0:
		return nil
	case p.Rounds < 2:
		return refuse("give 2 or more, or leave it out", "layouts take turns only with at least 2 rounds")
	case why != "":
		return refuse(remedy, "%s", why)
	case p.Window > 0 && p.Window/time.Duration(p.Rounds) < MinTurn:
		return refuse("give a --window of "+(MinTurn*time.Duration(p.Rounds)).String()+" or more, or fewer rounds",
			"a turn of %v is too short; the shortest is %v", (p.Window / time.Duration(p.Rounds)).Round(time.Millisecond), MinTurn)
	}
	return nil
}

// together returns the cells to measure together with the next one: the open cells of its block that have had as many
// tries.
func (s standing) together() []filewise.Cell {
	next := s.next
	if !s.plan.TakesTurns() || next.Pilot && (!s.plan.Interleaved || s.schedule.TrialTime == 0) {
		return []filewise.Cell{next} // the first pilot alone shows whether more are worthwhile
	}
	var cells []filewise.Cell
	for pos, i := range s.plan.order(next.Block, s.live(s.plan.judged(s.results), next.Block)) {
		name := s.plan.Layouts[i].Name
		if s.open(next.Block, i) && s.tries[cellKey{next.Block, name}].n == next.Attempt-1 {
			cells = append(cells, filewise.Cell{Pilot: next.Pilot, Block: next.Block, Position: s.plan.position(next.Block, pos),
				Layout: name, Attempt: next.Attempt})
		}
	}
	return cells
}

// interleaved is a block whose layouts are all live at once and take turns.
type interleaved struct {
	runner   *Runner
	ctx      context.Context // the run's context
	schedule Schedule
	members  []*member
}

// interleave measures the cells together and returns their trials, done or failed, in the order of the cells. An error
// means that the run ends; all builds are then released.
func (r *Runner) interleave(ctx context.Context, cells []filewise.Cell, sched Schedule) (_ []filewise.Trial, err error) {
	if err := r.Plan.CheckRounds(r.Workload.Program()); err != nil {
		return nil, err
	}
	s := &interleaved{runner: r, ctx: ctx, schedule: sched}
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
			return nil, s.end(err)
		}
	}
	trials := make([]filewise.Trial, len(s.members))
	for i, m := range s.members {
		m.keep()
		trials[i] = m.finished()
	}
	return trials, nil
}

func (s *interleaved) run(ctx context.Context) error {
	if err := s.together(ctx, (*member).prepare); err != nil {
		return err
	}
	rounds := s.schedule.Rounds
	if s.members[0].pilot() {
		rounds = 1
	} else if err := s.round(ctx, 0, (*member).warm); err != nil {
		return err
	}
	for r := range rounds {
		if err := s.round(ctx, r+1, (*member).turn); err != nil {
			return err
		}
	}
	return s.together(ctx, (*member).conclude)
}

// together runs one step for all layouts, as many at a time as the runner allows, while nothing is measured. If steps
// overlap, each layout is charged its share of the total time.
func (s *interleaved) together(ctx context.Context, step func(*member, context.Context) error) error {
	clock := s.runner.Clock
	start, before := clock.Now(), make([]int, len(s.members))
	var eg errgroup.Group
	eg.SetLimit(max(s.runner.Parallel, 1))
	for i, m := range s.members {
		before[i] = len(m.life.trial.Stages)
		eg.Go(func() error { return s.do(ctx, m, func(ctx context.Context) error { return step(m, ctx) }) })
	}
	err := eg.Wait()
	took, sum := clock.Now().Sub(start), time.Duration(0)
	var stages []*filewise.Stage
	for i, m := range s.members {
		for k := before[i]; k < len(m.life.trial.Stages); k++ {
			stages = append(stages, &m.life.trial.Stages[k])
			sum += m.life.trial.Stages[k].Took
		}
	}
	for _, stage := range stages {
		if sum > took { // they overlapped
			stage.Took = time.Duration(float64(stage.Took) * float64(took) / float64(sum))
		}
	}
	return err
}

// round gives every layout one turn, in the order of turnOrder.
func (s *interleaved) round(ctx context.Context, n int, turn func(*member, context.Context) error) error {
	for _, i := range s.runner.Plan.turnOrder(s.members[0].life.trial.Cell, n, len(s.members)) {
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

// do runs a step of one layout. If the step fails, only that layout's trial fails, and its build is released at once.
// An error means that the run ends.
func (s *interleaved) do(ctx context.Context, m *member, step func(context.Context) error) error {
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

// end releases all builds of an interleaved block that is not recorded. It waits for all at the same time, because
// servers that do not answer take seconds to quit.
func (s *interleaved) end(cause error) error {
	errs := make([]error, len(s.members))
	var wg sync.WaitGroup
	for i, m := range s.members {
		wg.Go(func() { errs[i] = m.life.release(s.ctx, cause) })
	}
	wg.Wait()
	return joined(cause, errors.Join(errs...))
}

func stageTime(t filewise.Trial, name string) time.Duration {
	var d time.Duration
	for _, s := range t.Stages {
		if s.Name == name {
			d += s.Took
		}
	}
	return d
}
