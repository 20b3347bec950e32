// Package experiment plans trials, decides which comes next, runs them through
// their life cycle, and judges them. What comes next is a pure function of the
// plan and the trials that are done: resuming, judging and simulating are that
// one call.
package experiment

import (
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/lab/cause"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// Plan is an experiment: target × layouts × workload, with a seed. It is stored
// with the run and never changes.
type Plan struct {
	// Name and Tags are the user's, by which runs are found again. Empty means there are none.
	Name     string            `json:"name,omitempty"`
	Tags     []string          `json:"tags,omitempty"` // KEY=VALUE
	Scenario string            `json:"scenario"`
	Target   filewise.Target   `json:"target"` // Volumes are the user's directories
	Layouts  []filewise.Layout `json:"layouts"`
	Params   workload.Params   `json:"params"`
	Seed     uint64            `json:"seed"`
	Baseline string            `json:"baseline"` // a layout's name

	// Sessions makes a block a session: all layouts are live at once and take turns, whose
	// length and number are fixed by pilots (Schedule). Else trials come one after the other.
	Sessions bool `json:"sessions,omitempty"`
	// Cells is the number of rounds of a session, with turns of Window/Cells. If 0, pilots decide. Plans of earlier
	// versions have sessions if it is not 0.
	Cells int `json:"cells,omitempty"`
	// WindowByPilots: pilots may lengthen the measured time of a trial in a session, of which
	// Window is the least, so that most of the time is measured.
	WindowByPilots bool `json:"window_by_pilots,omitempty"`
	// OneByOne reports why trials come one after the other if sessions were not refused.
	OneByOne string `json:"one_by_one,omitempty"`
	// AA names the layout that is the baseline under another name: a difference that is claimed of it is one of the
	// machine. Empty means there is none.
	AA string `json:"aa,omitempty"`
	// Calibrate has a short fixed probe before each trial, for which throughput is
	// adjusted.
	Calibrate bool `json:"calibrate,omitempty"`

	// OnePilot: nothing is left for pilots to fix, and the baseline's alone forecasts the time.
	OnePilot bool `json:"one_pilot,omitempty"`

	// Phases are the families that the workload measures one after the other; Families if there are none. Overall
	// adds the geometric mean over them as a family.
	Phases  []string `json:"phases,omitempty"`
	Overall bool     `json:"overall,omitempty"`
	// Estimated are the families that the pilots found too short to judge. They are shown as
	// estimates and have no share of the error, which the others divide. Fixed before block 1.
	Estimated []string `json:"estimated,omitempty"`

	// AsPublished has the scenario's article's own design in place of blocks in random order. Nil means it is not
	// repeated.
	AsPublished *AsPublished `json:"as_published,omitempty"`

	// Measure is a trial's subject: the workload, or the life cycle of a database that the workload has filled.
	Measure string `json:"measure,omitempty"`
	// Preload is a build's loaded data, in payload bytes, before its first trial; loaded builds are reset for every
	// trial. 0 means built again for each.
	Preload int64 `json:"preload_bytes,omitempty"`
	// Ladder lists the permitted changes after pilots find a condition of meaning broken. Nil means none.
	Ladder *Ladder `json:"ladder,omitempty"`
	// Rungs are the designs that the run has left for the plan's, oldest first.
	Rungs []Rung `json:"rungs,omitempty"`
	// Instances is the number of loaded builds of each layout, which the blocks use in turn. 0 means one if it can be
	// reset, none if the workload alters nothing.
	Instances int `json:"instances,omitempty"`
	// CopiedBuilds: if a dump fills builds and the engine can, only the first of each layout is filled; the others are
	// copies of its files.
	CopiedBuilds bool `json:"copied_builds,omitempty"`

	// Conditional: a verdict is limited by the run's conditions of meaning. It is false in plans
	// that were stored before there were any.
	Conditional bool `json:"conditional,omitempty"`

	// Observe is ObserveRest if work that writes is judged from rest to rest; empty if by the
	// rate within the window, as in plans that were stored before there was a choice.
	Observe string `json:"observe,omitempty"`

	Window      time.Duration `json:"window_ns"`  // measured time of a trial. 0 means fixed work
	Work        int64         `json:"work_bytes"` // fixed work of a trial, split over the connections. 0 means time window
	WarmUp      time.Duration `json:"warm_up_ns"` // negative: fixed by the pilot
	PilotWindow time.Duration `json:"pilot_window_ns"`
	PilotWork   int64         `json:"pilot_work_bytes,omitempty"` // fixed work of a pilot. 0 means a trial's
	SliceLength time.Duration `json:"slice_length_ns"`

	Margin     float64 `json:"margin_percent"`
	Confidence float64 `json:"confidence"` // 0.95
	// Rules is the version of package verdict's rules that judges. 0 means 1, as in runs that were stored when there
	// were no others.
	Rules     int          `json:"rules,omitempty"`
	Goal      verdict.Goal `json:"goal"`
	MaxBlocks int          `json:"max_blocks"`
	// Bounds is the aimed half width of intervals if no verdict can be had, in percent to either side: time is spent
	// on that, within the budget. 0 means a futile run ends.
	Bounds float64       `json:"bounds_percent,omitempty"`
	Budget time.Duration `json:"budget_ns"`
	// BudgetMost bounds the growth of a default budget if pilots show that the blocks which an interval needs take
	// longer. 0 means the budget stays.
	BudgetMost time.Duration `json:"budget_most_ns,omitempty"`
	// Extended holds the plan before each extension of its run, oldest first.
	Extended []Extension `json:"extended,omitempty"`
	// Boundaries hold the run's design if it has so many blocks that they take long to compute, and the designs
	// before it was extended; none in shorter runs.
	Boundaries []verdict.Design `json:"boundaries,omitempty"`
	// P99Limit bars a layout from being recommended whose 99th percentile of latency, of any type of operations, is
	// above it over all trials. 0 means there is no limit.
	P99Limit time.Duration `json:"p99_limit_ns,omitempty"`
	Attempts int           `json:"attempts"` // of one trial, the first included

	// SkipFailing: types of custom transactions that cannot be executed are left out.
	SkipFailing bool `json:"skip_failing,omitempty"`

	// AbortIf are limits on what others do on the server, and Maintenance the hours in which trials may run, both as
	// given. None means not limited.
	AbortIf     []string `json:"abort_if,omitempty"`
	Maintenance []string `json:"maintenance_windows,omitempty"`

	// Drivers are the hosts that put the load on the server, in this order. None means this one.
	Drivers []string `json:"drivers,omitempty"`

	// Notify lists the receivers of the run's notifications, without secrets, and NotifyOn the events, as given.
	// Empty means no receivers, and all events.
	Notify   []string `json:"notify,omitempty"`
	NotifyOn string   `json:"notify_on,omitempty"`

	// StorageLimit sets whether the storage's own limit is measured: empty or "auto", or "off".
	StorageLimit string `json:"storage_limit,omitempty"`

	Command []string `json:"command"` // repeats the experiment, seed included
}

// The values of Plan.Observe and --observe.
const (
	ObserveRest   = "rest"
	ObserveWindow = "window"
)

// The values of Plan.Measure.
const (
	MeasureWorkload  = "workload"
	MeasureLifecycle = "lifecycle"
)

// Ending reports why no further trial is measured.
type Ending string

// The endings of an experiment; empty while it goes on.
const (
	GoesOn  Ending = ""
	Decided Ending = "decided" // proven, or every layout resolved
	Futile  Ending = "futile"  // the remaining blocks could not prove anything
	Spent   Ending = "spent"   // the budget or the blocks are used up
	Broken  Ending = "broken"  // too few layouts could be measured
)

// Decision is the decision of Next.
type Decision struct {
	Ending Ending `json:"ending"`
	Why    string `json:"why,omitempty"` // in a sentence, for Ending ≠ ""
}

// Schedule holds the values that the pilots fix before the first block.
type Schedule struct {
	WarmUp    time.Duration `json:"warm_up_ns"`
	TrialTime time.Duration `json:"trial_time_ns"` // expected wall time of one trial
	MaxBlocks int           `json:"max_blocks"`    // N_max of the verdict
	ByBudget  bool          `json:"by_budget"`     // the budget allows fewer blocks than the plan
	Steady    bool          `json:"steady"`        // no pilot was still moving at its middle
	// Turn is the measured time of a turn of a session, of each phase that lasts a window, and Rounds counts each
	// layout's turns. 0 means trials are measured in one go.
	Turn   time.Duration `json:"turn_ns,omitempty"`
	Rounds int           `json:"rounds,omitempty"`
	// OthersWrite is the part of what pilots saw changed on the server that others changed, if it
	// is so much that only windows are judged; else 0.
	OthersWrite float64 `json:"others_write,omitempty"`
}

// Judgement holds the judgement of a plan's trials.
type Judgement struct {
	Schedule  Schedule           `json:"schedule"`
	Decision  Decision           `json:"decision"`
	Warnings  []filewise.Warning `json:"warnings"`
	Elapsed   time.Duration      `json:"elapsed_ns"`   // wall time of all trials
	Measuring time.Duration      `json:"measuring_ns"` // of it within measured windows
	Stages    []filewise.Stage   `json:"stages"`       // the split of the time of all trials
	// Forecast is the resolution within the budget. Absent means it is not known yet, or the plan has no sessions.
	Forecast *Forecast `json:"forecast,omitempty"`
	// Relevance is the share of what was measured that is about files, by the pilots until a block is complete.
	// Absent means nothing was read that shows it.
	Relevance *cause.Relevance `json:"relevance,omitempty"`
	// Conditions are the conditions of meaning, by the same trials.
	Conditions []filewise.Condition `json:"conditions,omitempty"`
	// Families are the judgements of all families: at least one, unless nothing was judged.
	Families []Family `json:"families"`
	// Latencies are for operations of several types, or if they are limited.
	Latencies []Latency `json:"latencies,omitempty"`
	// Sweep is the curve over load levels. Absent means there is one level.
	Sweep *Sweep `json:"sweep,omitempty"`
}

// Family is the judgement of one family of operations.
type Family struct {
	Name      string         `json:"name"`
	Result    verdict.Result `json:"verdict"`
	Estimated bool           `json:"estimated,omitempty"` // too short to judge: the result claims nothing
	Sentences []string       `json:"sentences"`           // the verdict in words
	// Cause holds the changes with the difference, or what limits all layouts. Absent means too little was measured to
	// find it.
	Cause *cause.Cause `json:"cause,omitempty"`
	// Latency holds its operations' latency by layout. None means they have none, or too few.
	Latency []LayoutLatency `json:"latency,omitempty"`
	// LatencyLoss reports that the recommended layout loses in latency. Empty means it does not.
	LatencyLoss string `json:"latency_loss,omitempty"`
}

// Limit ends a verdict that is hardly about files: "for this workload, which hardly uses data files". It is empty if
// the verdict is about files, nothing was read that shows it, or the plan is of before there were conditions.
func (j Judgement) Limit(p Plan) string {
	if !p.Conditional || j.Relevance == nil || j.Relevance.Tells() {
		return ""
	}
	about, _ := p.differsIn()
	about, _, _ = strings.Cut(about, ",")
	return "for this workload, which hardly uses " + about
}

// First returns the judgement of the first family; if nothing was judged, an empty one.
func (j Judgement) First() Family {
	if len(j.Families) == 0 {
		return Family{}
	}
	return j.Families[0]
}

// Sentences returns the first family's verdict in words, and what the curve over load levels adds to it.
func (j Judgement) Sentences() []string {
	if j.Sweep == nil {
		return j.First().Sentences
	}
	return append(slices.Clone(j.First().Sentences), j.Sweep.Sentences...)
}

// Origin returns the database whose dump is to fill the builds. Nil means no dump is taken.
func (p Plan) Origin() *filewise.Address {
	if p.Params.Custom == nil {
		return nil
	}
	return p.Params.Custom.Origin
}

// Trials returns all trials that there can be, in order: pilots and MaxBlocks blocks with every layout in question to
// the end and none failing.
func (p Plan) Trials() []filewise.Cell {
	if p.AsPublished != nil {
		return p.publishedTrials()
	}
	var out []filewise.Cell
	for b := range p.MaxBlocks + 1 {
		for pos, i := range p.Order(b, len(p.Layouts)) {
			if b == 0 && p.OnePilot && p.Layouts[i].Name != p.Baseline {
				continue
			}
			out = append(out, filewise.Cell{Pilot: b == 0, Block: b, Position: pos, Layout: p.Layouts[i].Name, Attempt: 1})
		}
	}
	return out
}

// Duration returns the measured time of the fewest blocks that allow a verdict, and the most that the whole may take:
// the budget (at its most), or the measured time of all blocks if there is none. With fixed work the first is 0: not
// known.
func (p Plan) Duration() (least, most time.Duration) {
	block := time.Duration(len(p.Layouts)) * p.Window
	pilots := time.Duration(len(p.Layouts)) * p.PilotWindow
	least, most = pilots+time.Duration(min(verdict.FirstLook, p.MaxBlocks))*block, p.mostBudget()
	if p.Window == 0 {
		least = 0
	}
	if most == 0 {
		most = pilots + time.Duration(p.MaxBlocks)*block
	}
	return least, most
}
