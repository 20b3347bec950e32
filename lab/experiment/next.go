package experiment

import (
	"fmt"
	"slices"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/verdict"
)

// Next decides what is measured next. It is a pure function and reads no clock: elapsed time is in the trials. The
// order of block b follows from the seed, b, and the layouts still open.
func (p Plan) Next(done []filewise.Trial) (filewise.Cell, Decision) {
	s := p.standing(done)
	return s.next, s.decision
}

// standing is the state of an experiment after some trials.
type standing struct {
	history
	schedule Schedule
	results  []verdict.Result // of the complete blocks, by operation
	err      error            // of the judgement
	next     filewise.Cell
	decision Decision
}

func (p Plan) standing(done []filewise.Trial) standing { return p.standingBy(done, nil) }

// standingBy returns the standing, reusing the results of complete blocks that the memo holds.
func (p Plan) standingBy(done []filewise.Trial, m *memo) standing {
	s := standing{history: p.read(done)}
	if p.AsPublished != nil {
		s.schedule = s.publishedSchedule()
		return s.publishedStanding(m)
	}
	s.schedule = s.history.schedule()
	var open *filewise.Cell
	s.results, open, s.err = s.replay(s.schedule, m)
	pilot, more := s.nextPilot()
	switch why := s.broken(); {
	case why != "" && len(done) > 0:
		s.decision = Decision{Ending: Broken, Why: why}
	case more && p.Budget > 0 && s.elapsed > p.mostBudget():
		s.decision = s.spentByPilots()
	case more && s.hopeless() != "":
		s.decision = Decision{Ending: Spent, Why: s.hopeless()}
	case more:
		s.next = pilot
	case s.err != nil:
		s.decision = Decision{Ending: Broken, Why: s.err.Error()}
	case open != nil:
		s.next = *open
	default:
		block := s.last + 1
		next := p.order(block, s.live(s.plan.judged(s.results), block))
		if s.decision = s.ending(len(next)); s.decision.Ending == GoesOn {
			var left bool
			if s.next, left = s.cell(block, next); !left {
				s.decision = Decision{Ending: Broken, Why: "no layout is left to measure"}
			}
		}
	}
	return s
}

// spentByPilots returns the end of a run whose pilots used up the budget. If every trial failed, failures ended the
// run, not the budget.
func (h history) spentByPilots() Decision {
	why := fmt.Sprintf("the budget of %s is spent by the pilots, which took %s", say.Human(h.plan.Budget),
		say.Human(h.elapsed.Round(time.Second)))
	all := slices.Concat(h.left, h.trials) // void ones, too
	if slices.ContainsFunc(all, func(t filewise.Trial) bool { return t.State == filewise.Done }) {
		return Decision{Ending: Spent, Why: why}
	}
	return Decision{Ending: Broken, Why: why + " and all failed: " + all[len(all)-1].Reason}
}

// ending returns why the run ends after the complete blocks: every operation is judged, or the budget is spent. Live is
// the number of layouts in the next block. If the run goes on, Ending is GoesOn.
func (s standing) ending(live int) Decision {
	if d := s.settled(); d.Ending != GoesOn {
		return d
	}
	return s.spent(live)
}

// settled returns the end that the verdicts of all operations have reached. If one operation is open, Ending is GoesOn.
func (s standing) settled() Decision {
	d := Decision{Ending: Decided}
	for _, r := range s.plan.judged(s.results) {
		switch one := s.ended(r); {
		case one.Ending == GoesOn:
			return one
		case d.Why == "" || one.Ending != Decided:
			d = one
		}
	}
	return d
}

// ended returns the end of one operation's verdict. If the operation is open, it returns the zero Decision.
func (s standing) ended(r verdict.Result) Decision {
	analysis, ok := r.Last()
	if !ok {
		return Decision{}
	}
	switch analysis.Stop {
	case verdict.ReasonKeepBaseline, verdict.ReasonRecommend:
		return Decision{Ending: Decided, Why: fmt.Sprintf("decided after %d blocks", analysis.Block)}
	case verdict.ReasonAllResolved:
		return Decision{Ending: Decided, Why: fmt.Sprintf("every layout is resolved after %d blocks", analysis.Block)}
	case verdict.ReasonFutile:
		if s.plan.narrows(r, analysis) {
			break
		}
		return Decision{Ending: Futile,
			Why: fmt.Sprintf("stopped after %d of %d blocks: the rest could not have decided it", analysis.Block, s.schedule.MaxBlocks)}
	case verdict.ReasonMaxBlocks:
		return Decision{Ending: Spent, Why: s.schedule.allBlocks()}
	}
	return Decision{}
}

// allBlocks returns why there are no more blocks: the budget or the plan limits them.
func (s Schedule) allBlocks() string {
	if s.ByBudget {
		return fmt.Sprintf("the budget allowed %d blocks", s.MaxBlocks)
	}
	return fmt.Sprintf("all %d planned blocks are measured", s.MaxBlocks)
}

// spent returns the end of the run if the budget allows no further block, or not the blocks that a first analysis needs.
func (s standing) spent(live int) Decision {
	p, blocks := s.plan, s.last
	if most := p.MostTrials(); most > 0 && s.inBlocks()+live > most {
		return Decision{Ending: Spent, Why: fmt.Sprintf("%d of the full grid's %d trials are measured, as many as a race takes", s.inBlocks(),
			len(p.Layouts)*p.MaxBlocks)}
	}
	needed := max(1, verdict.FirstAnalysis-blocks)
	next := time.Duration(needed*live) * s.schedule.TrialTime
	limit := p.Budget
	if blocks < s.firstClaim() && len(p.Extended) == 0 { // blocks took longer than the pilots promised
		limit = p.mostBudget()
	}
	if p.Budget == 0 || s.elapsed+next <= limit+limit/10 {
		return Decision{}
	}
	if blocks >= verdict.FirstAnalysis {
		why := fmt.Sprintf("the %s budget ran out after %d blocks", say.Human(p.Budget), blocks)
		if missing := s.firstClaim() - blocks; missing > 0 { // without intervals there is no verdict
			why += fmt.Sprintf("; intervals take %d, about %s in all", blocks+missing,
				about(s.elapsed+time.Duration(missing*live)*s.schedule.TrialTime))
		}
		return Decision{Ending: Spent, Why: why}
	}
	first := s.firstClaim()
	takes := s.elapsed + time.Duration((first-blocks)*live)*s.schedule.TrialTime
	return Decision{Ending: Spent, Why: fmt.Sprintf("the %s budget is too short: %d blocks, as many as an interval needs, take about "+
		"%s.%sset %s", say.Human(p.Budget), first, about(takes), verdict.ToDo, moreBudget(takes))}
}

// moreBudget returns the option to set for a run that takes that long. It rounds up to whole minutes, because the
// duration is an estimate.
func moreBudget(takes time.Duration) string {
	return fmt.Sprintf("--budget %dm or more", (takes+time.Minute-1)/time.Minute)
}

// firstClaim returns the first block after which every operation has intervals.
func (s standing) firstClaim() int {
	first := 0
	for _, r := range s.plan.judged(s.results) {
		first = max(first, r.FirstClaim())
	}
	return first
}

// MostTrials returns how many trials in blocks the race of a user's backups may take. It is a third of the full grid,
// or what the last two layouts need for all of theirs, if that is more. 0 means there is no such limit. Intervals hold
// whenever a race stops.
func (p Plan) MostTrials() int {
	if p.Goal != verdict.GoalBest || p.Target.Database == "" {
		return 0
	}
	return max(len(p.Layouts)*p.MaxBlocks/3, 2*p.MaxBlocks, verdict.FirstAnalysis*len(p.Layouts))
}

// JudgedBy returns the version of the rules that judge the plan's trials.
func (p Plan) JudgedBy() int { return max(p.Rules, 1) }

// FirstClaim returns the first block after which the plan's layouts have intervals.
func (p Plan) FirstClaim() int {
	return verdict.Config{Rules: p.JudgedBy(), MaxBlocks: p.MaxBlocks}.FirstClaim(len(p.Layouts))
}

// judgeTable judges complete blocks of one operation by the plan's rules.
func (p Plan) judgeTable(s Schedule, table verdict.Table, confidence float64) (verdict.Result, error) {
	cfg, arms := p.judging(s, table, confidence)
	return verdict.Judge(cfg, arms, table)
}

// judging returns the configuration and the layouts that an operation's table is judged with.
func (p Plan) judging(s Schedule, table verdict.Table, confidence float64) (verdict.Config, []verdict.Arm) {
	cfg := verdict.DefaultConfig()
	cfg.Rules = p.JudgedBy()
	cfg.Margin = marginLog(p.Margin)
	cfg.Confidence = confidence
	cfg.Goal, cfg.Known = p.Goal, p.Boundaries
	cfg.MaxBlocks, cfg.Extended = max(s.MaxBlocks, len(table)), p.earlier()
	arms := make([]verdict.Arm, len(p.Layouts))
	for i, l := range p.Layouts {
		arms[i] = verdict.Arm{Name: l.Name, Rank: l.Rank}
		if l.Name == p.AA {
			arms[i].Twin = p.twinOf(l)
		}
		if l.Name == p.Baseline {
			cfg.Baseline = i
		}
	}
	return cfg, arms
}
