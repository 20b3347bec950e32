package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/workload"
)

// Ladder lists how a run may change its design if its pilots find a condition of meaning broken. It holds nothing that
// the user has set.
type Ladder struct {
	CommitEvery int  `json:"commit_every,omitempty"` // rows per transaction, if fewer now. 0 means unchanged
	Connections bool `json:"connections,omitempty"`  // may rise to twice the cores
	// Memory is the smallest limit that the managed server works in with eight connections, in bytes. PerConnection is the
	// memory that each further connection adds. If Memory is 0, memory is not limited.
	Memory        int64 `json:"memory,omitempty"`
	PerConnection int64 `json:"per_connection,omitempty"`
	// Data is the option that sets the amount of data: "rows" or "warehouses". If empty, the amount stays.
	Data string `json:"data,omitempty"`
	// Size reports whether the files grow in proportion to the data (--size).
	Size bool `json:"size,omitempty"`
	// MostBytes bounds the bytes that a run may load. The data of each layout count dataWritten times.
	MostBytes int64 `json:"most_bytes,omitempty"`
}

// Rung is a design that a run has abandoned for another one.
type Rung struct {
	Left Design `json:"left"`
	// Conditions holds the conditions that its pilots found, including the broken ones.
	Conditions []filewise.Condition `json:"conditions,omitempty"`
	// Options lists the options of the next design that differ, as on the command line. If empty, the run goes back to the
	// design before this one, for the reason Why.
	Options []string `json:"options,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// Design is the part of a plan that climbing the ladder can change.
type Design struct {
	Params  workload.Params `json:"params"`
	Memory  int64           `json:"memory_bytes,omitempty"` // of a managed server. 0 means unlimited
	Sizes   []int64         `json:"sizes_bytes"`            // per layout, of its data files
	Command []string        `json:"command"`
}

func (p Plan) design() Design {
	d := Design{Params: p.Params, Memory: p.Target.Memory, Command: p.Command}
	for _, l := range p.Layouts {
		d.Sizes = append(d.Sizes, l.Data.Bytes)
	}
	return d
}

// with returns the plan with another design.
func (p Plan) with(d Design) Plan {
	p.Params, p.Target.Memory, p.Command, p.Layouts = d.Params, d.Memory, d.Command, slices.Clone(p.Layouts)
	for i, size := range d.Sizes {
		p.Layouts[i].Data.Bytes = size
	}
	return p
}

// FreeShare bounds what another design needs: at most 1/FreeShare of a volume's free space.
const FreeShare = 10

// Limits of climbing the ladder, that is, of trying other designs.
const (
	mostRungs   = 3
	rungsShare  = 12  // building a rung takes at most 1/rungsShare of the budget
	climbShare  = 3   // no new rung once 1/climbShare of the budget is spent
	mostGrowth  = 64  // largest growth of the data on one rung, as a factor
	leastGrowth = 1.5 // smallest growth of the data that is worth a rung
	dataWritten = 8   // how often a run loads the data of each layout, at most
	spare       = 1.2 // factor on top of what should be enough
	fewSessions = 8   // connections that Ladder.Memory suffices for
)

// rungOf returns the index of the rung whose pilot a cell is. Pilots of later rungs have later positions.
func (p Plan) rungOf(c filewise.Cell) int {
	if !c.Pilot || len(p.Layouts) == 0 {
		return len(p.Rungs)
	}
	return c.Position / len(p.Layouts)
}

// position returns the position of a cell in its block. A pilot's position follows the pilots of earlier rungs.
func (p Plan) position(block, at int) int {
	if block == 0 {
		return len(p.Rungs)*len(p.Layouts) + at
	}
	return at
}

// climb returns the design to continue with after the pilots, if it can mend a condition that they find broken. It
// returns false if the plan stays as it is. The choice follows from plan and trials alone, and from conditions only:
// never from which layout is faster.
func (s standing) climb() (Plan, bool) {
	p := s.plan
	_, open := s.nextPilot()
	if p.Ladder == nil || s.last > 0 {
		return p, false
	}
	if why := s.unfit(); why != "" && len(p.Rungs) > 0 {
		next := p.with(p.Rungs[len(p.Rungs)-1].Left)
		next.Ladder, next.Rungs = nil, append(slices.Clone(p.Rungs), Rung{Left: p.design(), Why: why})
		return next, true
	}
	late := p.Budget > 0 && s.elapsed > p.Budget/climbShare
	if len(p.Rungs) >= mostRungs || open || s.hopeless() != "" || late || s.broken() != "" {
		return p, false
	}
	a := s.asked(s.relevance())
	conditions := a.conditions()
	next, options := a.mended(conditions)
	if len(options) == 0 {
		return p, false
	}
	next.Rungs = append(slices.Clone(p.Rungs), Rung{Left: p.design(), Conditions: conditions, Options: options})
	next.Command = append(slices.Clone(p.Command), options...)
	return next, true
}

// unfit returns why a design of the ladder cannot be measured, or "" if it can.
func (s standing) unfit() string {
	for _, t := range s.trials {
		if t.State == filewise.Failed && void(t) == "" {
			return "a pilot failed: " + t.Reason
		}
	}
	return s.hopeless()
}

// mended returns the plan with its broken conditions mended, and the options that mend them.
func (a asked) mended(conditions []filewise.Condition) (p Plan, options []string) {
	p = a.plan
	broken := func(name filewise.ConditionName) bool {
		return slices.ContainsFunc(conditions, func(c filewise.Condition) bool { return c.Name == name && c.Broken() })
	}
	add := func(name string, value any) { options = append(options, "--"+name, fmt.Sprint(value)) }
	if log, _ := a.logs(); broken(filewise.CondHeadroom) && log >= mostLog && p.Ladder.CommitEvery > p.Params.CommitEvery {
		p.Params.CommitEvery = p.Ladder.CommitEvery
		add("commit-every", p.Params.CommitEvery)
	}
	if n := timesCores * a.cores(); broken(filewise.CondContention) && p.Ladder.Connections && n > p.Params.Connections {
		p.Params.Connections = n
		add("connections", n)
	}
	if broken(filewise.CondReads) && p.Ladder.Memory > 0 && p.Target.Memory == 0 {
		p.Target.Memory = p.Ladder.Memory + p.Ladder.PerConnection*int64(max(p.Params.Connections-fewSessions, 0))
		add("memory", fmt.Sprintf("%dMiB", p.Target.Memory>>20))
	}
	most, _ := a.mostGrowth()
	if f := min(a.growth(conditions, p.Target.Memory), most); p.Ladder.Data != "" && f >= leastGrowth {
		p = p.withData(f, add)
	}
	return p, options
}

// growth returns the factor by which data must grow to mend the broken conditions, if the server's memory is limited to
// so many bytes. 0 means no limit; a growth of 1 means none.
func (a asked) growth(conditions []filewise.Condition, memory int64) float64 {
	want := 1.0
	for _, c := range conditions {
		if !c.Broken() {
			continue
		}
		switch c.Name {
		case filewise.CondDuration:
			if !a.plan.warm() {
				want = max(want, a.shortfall()*spare)
			}
		case filewise.CondGrowth:
			want = max(want, timesGrown/max(a.steps(), 1)*spare)
		case filewise.CondReach:
			want = max(want, 4)
		case filewise.CondReads:
			cache := float64(memory)
			if cache == 0 && a.plan.Ladder.Memory == 0 {
				cache = a.cache()
			}
			want = max(want, timesCache*cache/max(a.data(), 1)*spare)
		}
	}
	return want
}

// mostGrowth returns the largest factor by which data may grow on a rung, and what limits it. It follows from how long
// the trials took to build and load, and from the bytes that a run may load.
func (a asked) mostGrowth() (most float64, why string) {
	p := a.plan
	var loading time.Duration
	for _, t := range a.trials {
		loading += stageTime(t, filewise.StageBuild) + stageTime(t, filewise.StageLoad) + stageTime(t, filewise.StageExtend)
	}
	most, why = mostGrowth, fmt.Sprintf("data grow %d times at most", mostGrowth)
	if f := (p.Budget / rungsShare).Seconds() / loading.Seconds(); loading > 0 && p.Budget > 0 && f < most {
		most, why = f, fmt.Sprintf("loading took %s, and another design may load for %s, a twelfth of the budget", say.Human(loading),
			say.Human(p.Budget/rungsShare))
	}
	if data := a.data(); data > 0 && p.Ladder.MostBytes > 0 {
		if f := float64(p.Ladder.MostBytes) / (dataWritten * data * float64(len(p.Layouts))); f < most {
			most, why = f, fmt.Sprintf("a run may load %s at most", say.Size(p.Ladder.MostBytes))
		}
	}
	return most, why
}

// withData returns the plan with f times as much data, and adds the options for that.
func (p Plan) withData(f float64, add func(string, any)) Plan {
	switch p.Ladder.Data {
	case "warehouses":
		p.Params.Warehouses = int(math.Ceil(f * float64(p.Params.Warehouses)))
		add("warehouses", p.Params.Warehouses)
	case "rows":
		p.Params.Rows = int64(math.Ceil(f * float64(p.Params.Rows)))
		add("rows", p.Params.Rows)
	}
	if !p.Ladder.Size {
		return p
	}
	p.Layouts = slices.Clone(p.Layouts)
	for i := range p.Layouts {
		mib := int64(math.Ceil(f * float64(p.Layouts[i].Data.Bytes) / (1 << 20)))
		p.Layouts[i].Data.Bytes = mib << 20
		if i == 0 {
			add("size", fmt.Sprintf("%dMiB", mib))
		}
	}
	return p
}

// Climbed returns a sentence on why a run continues with another design, and with which.
func (r Rung) Climbed() string {
	if len(r.Options) == 0 {
		return "Back to the design before: " + r.Why + "."
	}
	return fmt.Sprintf("Another design: %s (%s).", strings.Join(r.Options, " "), brokenOf(r.Conditions))
}

// Words describes the changes of design that pilots may cause, for the report of a plan.
func (l Ladder) Words() string {
	var may []string
	if l.CommitEvery > 0 {
		may = append(may, fmt.Sprintf("%d rows a transaction", l.CommitEvery))
	}
	if l.Connections {
		may = append(may, fmt.Sprintf("%d connections a core", timesCores))
	}
	if l.Memory > 0 {
		may = append(may, "a limit of the server's memory")
	}
	if l.Data != "" {
		may = append(may, fmt.Sprintf("more --%s (loading %s at most)", l.Data, say.Size(l.MostBytes)))
	}
	if len(may) == 0 {
		return ""
	}
	return fmt.Sprintf("If pilots find a condition broken, other designs are tried (%d at most): %s.", mostRungs, say.Enumerate(may))
}

// brokenOf lists the broken conditions with what was measured.
func brokenOf(all []filewise.Condition) string {
	var out []string
	for _, c := range all {
		if c.Broken() {
			out = append(out, fmt.Sprintf("%s ✘: %s", c.Name, c.Measured))
		}
	}
	return strings.Join(out, ", ")
}

// noRungWarning warns if no design of the ladder meets all conditions, and names what would mend them.
func (s standing) noRungWarning(conditions []filewise.Condition) []filewise.Warning {
	if _, open := s.nextPilot(); s.plan.Ladder == nil || open || brokenOf(conditions) == "" {
		return nil
	}
	var mend []string
	for _, c := range conditions {
		if c.Broken() && c.Mend != "" && !slices.Contains(mend, c.Mend) {
			mend = append(mend, c.Mend)
		}
	}
	remedy := "Read the verdict as one about this workload; another one, or slower storage, may be about files."
	if len(mend) > 0 {
		remedy = "It needs " + say.Enumerate(mend) + "; otherwise read the verdict as one about this workload."
	}
	tried := "this design"
	if n := len(s.plan.Rungs); n > 0 {
		tried = say.Count(n+1, "design") + " tried"
	}
	return []filewise.Warning{{Code: "conditions", Remedy: remedy,
		Message: say.Joined(" ", fmt.Sprintf("With %s the run is not wholly about files: %s.", tried, brokenOf(conditions)),
			s.whyNoMoreData(conditions))}}
}

// whyNoMoreData returns a sentence on why more data, which could mend a broken condition, were not tried. It is empty if
// they were, or would not help.
func (s standing) whyNoMoreData(conditions []filewise.Condition) string {
	a := s.asked(nil)
	a.trials = s.donePilots()
	var spent time.Duration
	for _, t := range a.trials {
		spent += t.Elapsed
	}
	most, why := a.mostGrowth()
	switch p := s.plan; {
	case p.Ladder.Data == "" || len(p.Rungs) >= mostRungs || a.growth(conditions, p.Target.Memory) < leastGrowth:
		return ""
	case p.Budget > 0 && spent > p.Budget/climbShare:
		why = "the pilots took more than a third of the budget"
	case most >= leastGrowth:
		return ""
	}
	return fmt.Sprintf("More --%s were not tried: %s.", s.plan.Ladder.Data, why)
}
