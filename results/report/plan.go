package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/verdict"
)

// planFacts returns all parameters of the experiment, by name.
func (v view) planFacts() []filewise.Fact {
	p := v.Plan
	facts := []filewise.Fact{
		{Name: "scenario", Value: p.Scenario},
		{Name: "engine", Value: say.Joined(", ", p.Target.Engine, string(p.Target.Mode))},
		{Name: "durability", Value: durabilityWords(p.Target.Durability)},
		{Name: "memory of the server", Value: memoryWords(p.Target.Memory)},
		{Name: "processors of the server", Value: positive(p.Target.Cores)},
		{Name: "baseline", Value: p.Baseline},
		{Name: "connections", Value: positive(p.Params.Connections)},
		{Name: "row size", Value: suffixed(positive(p.Params.RowBytes), " bytes")},
		{Name: "rows per commit", Value: positive(p.Params.CommitEvery)},
		{Name: "table", Value: p.Params.Table},
		{Name: "key", Value: p.Params.Key},
		{Name: "work of a trial", Value: v.workText()},
		{Name: "warm-up", Value: v.warmUpText()},
		{Name: "design", Value: v.designText()},
		{Name: "margin", Value: "±" + v.margin()},
		{Name: "confidence", Value: v.confidence()},
		{Name: "rules", Value: strconv.Itoa(p.JudgedBy())},
		{Name: "goal", Value: goalWords(p.Goal)},
		{Name: "blocks at most", Value: v.blocksText()},
		{Name: "budget", Value: durationOr(p.Budget, "none")},
		{Name: "attempts at a trial", Value: positive(p.Attempts)},
		{Name: "seed", Value: strconv.FormatUint(p.Seed, 10)},
	}
	for _, vol := range p.Target.Volumes {
		facts = append(facts, filewise.Fact{Name: "volume " + vol.Name, Value: vol.Dir})
	}
	for _, k := range slices.Sorted(maps.Keys(p.Target.Settings)) {
		facts = append(facts, filewise.Fact{Name: "setting " + k, Value: p.Target.Settings[k]})
	}
	return slices.DeleteFunc(facts, func(f filewise.Fact) bool { return f.Value == "" })
}

func (v view) designText() string {
	a := v.Plan.AsPublished
	switch {
	case a == nil && v.Plan.TakesTurns() && v.rounds() == 0:
		return "blocks are interleaved: all layouts are open at once and take turns"
	case a == nil && v.Plan.TakesTurns():
		return fmt.Sprintf("blocks are interleaved in %s: all layouts are open at once", say.Count(v.rounds(), "round"))
	case a == nil && v.Plan.OneByOne != "":
		return "one trial after the other: " + v.Plan.OneByOne
	case a == nil:
		return ""
	}
	return fmt.Sprintf("as published, at scale %g: %s of each layout, one layout after the other", a.Scale, say.Count(a.Repeats, "run"))
}

// rounds returns the number of rounds of an interleaved block. 0 means not known yet.
func (v view) rounds() int { return max(v.Plan.Rounds, v.Judgement.Schedule.Rounds) }

func (v view) workText() string {
	if v.Plan.Window > 0 {
		return say.Human(v.measuredFor()) + " measured"
	}
	if v.Plan.Work > 0 {
		return say.Size(v.Plan.Work) + ", fixed"
	}
	return ""
}

func (v view) warmUpText() string {
	switch {
	case v.Plan.Window == 0: // all of the fixed work is measured
		return ""
	case v.Plan.WarmUp >= 0:
		return say.Human(v.Plan.WarmUp)
	case v.Judgement.Schedule.WarmUp > 0:
		return say.Human(v.Judgement.Schedule.WarmUp) + ", fixed by the pilots"
	}
	return "to be fixed by the pilots"
}

func (v view) blocksText() string {
	n := v.Judgement.Schedule.MaxBlocks
	if n > 0 && n != v.Plan.MaxBlocks {
		return fmt.Sprintf("%d (%d asked for; the budget allows %d)", n, v.Plan.MaxBlocks, n)
	}
	return positive(v.Plan.MaxBlocks)
}

// positive writes a count, or nothing if the count is zero.
func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return say.Grouped(strconv.Itoa(n))
}

func suffixed(s, suffix string) string {
	if s == "" {
		return ""
	}
	return s + suffix
}

func durationOr(d time.Duration, none string) string {
	if d <= 0 {
		return none
	}
	return say.Human(d)
}

// memoryWords returns the memory limit with its scope, or nothing if memory is not limited.
func memoryWords(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return say.Size(bytes) + ", the system's cache of its files included"
}

func durabilityWords(d filewise.Durability) string {
	switch d {
	case filewise.DurabilityFull:
		return "full: every commit is synced to the storage"
	case filewise.DurabilityNormal:
		return "normal: synced at checkpoints; a power cut may lose the last commits"
	case filewise.DurabilityOff:
		return "off: never synced while measuring"
	}
	return string(d)
}

func goalWords(g verdict.Goal) string {
	switch g {
	case verdict.GoalRecommend:
		return "recommend: until a layout can be recommended"
	case verdict.GoalBest:
		return "best: until a layout can be recommended that no other is more than the margin faster than"
	case verdict.GoalVerdicts:
		return "verdicts: until every layout is resolved"
	}
	return string(g)
}
