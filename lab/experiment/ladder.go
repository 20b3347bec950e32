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

// Ladder lists the permitted changes of a design if its pilots find a condition of meaning broken: nothing that the
// user has given.
type Ladder struct {
	CommitEvery int  `json:"commit_every,omitempty"` // rows of a transaction, if there are fewer. 0 means stays
	Connections bool `json:"connections,omitempty"`  // may be twice the cores
	// Memory is the least that the managed server works in, in bytes, with eight connections, and PerConnection what
	// each further one takes. 0 means memory is not limited.
	Memory        int64 `json:"memory,omitempty"`
	PerConnection int64 `json:"per_connection,omitempty"`
	// Data is the option that sets the amount of data: "rows" or "warehouses". Empty means it stays.
	Data string `json:"data,omitempty"`
	// Size: files have room in proportion to the data (--size).
	Size bool `json:"size,omitempty"`
	// MostBytes bounds the data that a run may write, in bytes, over all builds.
	MostBytes int64 `json:"most_bytes,omitempty"`
}

// Rung is a design that a run has left for another one.
type Rung struct {
	Left Design `json:"left"`
	// Conditions are the broken conditions that its pilots found.
	Conditions []filewise.Condition `json:"conditions,omitempty"`
	// Options are the next design's options that differ, as on the command line. None means it is the one before
	// this, for the reason Why.
	Options []string `json:"options,omitempty"`
	Why     string   `json:"why,omitempty"`
}

// Design is the part of a plan that a ladder changes.
type Design struct {
	Params  workload.Params `json:"params"`
	Memory  int64           `json:"memory_bytes,omitempty"` // of a managed server. 0 means not limited
	Sizes   []int64         `json:"sizes_bytes"`            // of the layouts' data files
	Command []string        `json:"command"`
}

func (p Plan) design() Design {
	d := Design{Params: p.Params, Memory: p.Target.Memory, Command: p.Command}
	for _, l := range p.Layouts {
		d.Sizes = append(d.Sizes, l.Data.Bytes)
	}
	return d
}

// with is the plan with another design.
func (p Plan) with(d Design) Plan {
	p.Params, p.Target.Memory, p.Command, p.Layouts = d.Params, d.Memory, d.Command, slices.Clone(p.Layouts)
	for i, size := range d.Sizes {
		p.Layouts[i].Data.Bytes = size
	}
	return p
}

// FreeShare is the part of a volume's free space, 1/FreeShare, that another design needs at most.
const FreeShare = 10

// The limits of a climb.
const (
	mostRungs   = 3
	rungsShare  = 12  // builds of a rung take this part of the budget at most
	climbShare  = 3   // and all pilots that, before the run reports that no design holds
	mostGrowth  = 64  // times as much data on a rung
	leastGrowth = 1.5 // from which it is worth a rung
	dataWritten = 8   // times that a run writes the data of each layout
	spare       = 1.2 // of what is computed to be enough
	fewSessions = 8   // connections that Ladder.Memory is for
)

// rungOf is the rung whose pilot a cell is, from 0. Pilots of later rungs have later positions.
func (p Plan) rungOf(c filewise.Cell) int {
	if !c.Pilot || len(p.Layouts) == 0 {
		return len(p.Rungs)
	}
	return c.Position / len(p.Layouts)
}

// position is the place in the order of a block. A pilot's place is behind the pilots of the rungs before.
func (p Plan) position(block, at int) int {
	if block == 0 {
		return len(p.Rungs)*len(p.Layouts) + at
	}
	return at
}

// Climb returns the design to go on with after the pilots, if a condition that they find broken can be mended. False
// means the plan stays as it is. It follows from plan and trials alone, and is chosen by conditions, never by which
// layout is faster.
func (p Plan) Climb(done []filewise.Trial) (Plan, bool) { return p.standing(done).climb() }

func (s standing) climb() (Plan, bool) {
	p := s.plan
	_, open := s.nextPilot()
	if p.Ladder == nil || s.lastBlock() > 0 {
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

// unfit reports why a design of the ladder cannot be measured. Empty means it can.
func (s standing) unfit() string {
	for _, t := range s.trials {
		if t.State == filewise.Failed && void(t) == "" {
			return "a pilot failed: " + t.Reason
		}
	}
	return s.hopeless()
}

// mended is the plan with what mends its broken conditions, and the options that do it.
func (a asked) mended(conditions []filewise.Condition) (p Plan, options []string) {
	p = a.plan
	broken := func(name filewise.ConditionName) bool {
		return slices.ContainsFunc(conditions, func(c filewise.Condition) bool { return c.Name == name && c.Broken() })
	}
	add := func(name string, value any) { options = append(options, "--"+name, fmt.Sprint(value)) }
	if broken(filewise.CondHeadroom) && a.logs() >= mostLog && p.Ladder.CommitEvery > p.Params.CommitEvery {
		p.Params.CommitEvery = p.Ladder.CommitEvery
		add("commit-every", p.Params.CommitEvery)
	}
	if n := timesCores * a.cores(); broken(filewise.CondContention) && p.Ladder.Connections && n > p.Params.Connections {
		p.Params.Connections = n
		add("connections", n)
	}
	want := a.growth(conditions)
	if broken(filewise.CondReads) && p.Ladder.Memory > 0 && p.Target.Memory == 0 {
		p.Target.Memory = p.Ladder.Memory + p.Ladder.PerConnection*int64(max(p.Params.Connections-fewSessions, 0))
		add("memory", fmt.Sprintf("%dMiB", p.Target.Memory>>20))
	}
	if broken(filewise.CondReads) && p.Target.Memory > 0 {
		want = max(want, timesCache*float64(p.Target.Memory)/max(a.data(), 1)*spare)
	}
	if f := min(want, a.mostGrowth()); p.Ladder.Data != "" && f >= leastGrowth {
		p = p.withData(f, add)
	}
	return p, options
}

// growth returns the factor of data that broken conditions need, memory left out. 1 means no more.
func (a asked) growth(conditions []filewise.Condition) float64 {
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
			if a.plan.Target.Memory == 0 && a.plan.Ladder.Memory == 0 && a.cache() > 0 {
				want = max(want, timesCache*a.cache()/max(a.data(), 1)*spare)
			}
		}
	}
	return want
}

// mostGrowth returns the greatest factor of data for a rung, by the pilots' time to build and load theirs, and by the
// bytes that a run may write.
func (a asked) mostGrowth() float64 {
	p, most := a.plan, float64(mostGrowth)
	var loading time.Duration
	for _, t := range a.trials {
		loading += stageTime(t, filewise.StageBuild) + stageTime(t, filewise.StageLoad) + stageTime(t, filewise.StageExtend)
	}
	if loading > 0 && p.Budget > 0 {
		most = min(most, (p.Budget/rungsShare).Seconds()/loading.Seconds())
	}
	if data := a.data(); data > 0 && p.Ladder.MostBytes > 0 {
		most = min(most, float64(p.Ladder.MostBytes)/(dataWritten*data*float64(len(p.Layouts))))
	}
	return most
}

// withData is the plan with so many times as much data.
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

// Climbed reports why a run goes on with another design, and with which.
func (r Rung) Climbed() string {
	if len(r.Options) == 0 {
		return "Back to the design before: " + r.Why + "."
	}
	return fmt.Sprintf("Another design: %s (%s).", strings.Join(r.Options, " "), brokenOf(r.Conditions))
}

// Words describe the changes that pilots may cause in a run, for a plan.
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
		may = append(may, fmt.Sprintf("more --%s (%s written in all at most)", l.Data, say.Size(l.MostBytes)))
	}
	if len(may) == 0 {
		return ""
	}
	return fmt.Sprintf("If pilots find a condition broken, up to %d other designs are tried: %s.", mostRungs, say.Enumerate(may))
}

// brokenOf lists broken conditions with what was measured.
func brokenOf(all []filewise.Condition) string {
	var out []string
	for _, c := range all {
		if c.Broken() {
			out = append(out, fmt.Sprintf("%s ✘: %s", c.Name, c.Measured))
		}
	}
	return strings.Join(out, ", ")
}

// noRungWarning reports that no design of the ladder meets all conditions, and what it would take.
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
		remedy = "It would take " + say.Enumerate(mend) + "; read the verdict as one about this workload."
	}
	tried := "this design"
	if n := len(s.plan.Rungs); n > 0 {
		tried = say.Count(n+1, "design") + " tried"
	}
	return []filewise.Warning{{Code: "conditions", Remedy: remedy,
		Message: fmt.Sprintf("With %s the run is not wholly about files: %s.", tried, brokenOf(conditions))}}
}
