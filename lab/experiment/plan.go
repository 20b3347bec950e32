// Package experiment plans trials, decides which trial comes next, runs trials through their life cycle, and judges
// them. The next trial is a pure function of the plan and the trials done: resuming, judging and simulating all use
// that function.
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

// Plan is an experiment: target × layouts × workload, with a seed. It is stored with the run and never changes.
type Plan struct {
	// Name and Tags are set by the user to find runs again. Both may be empty.
	Name     string            `json:"name,omitempty"`
	Tags     []string          `json:"tags,omitempty"` // KEY=VALUE
	Scenario string            `json:"scenario"`
	Target   filewise.Target   `json:"target"` // its Volumes are the user's directories
	Layouts  []filewise.Layout `json:"layouts"`
	Params   workload.Params   `json:"params"`
	Seed     uint64            `json:"seed"`
	Baseline string            `json:"baseline"` // a layout's name

	// Interleaved makes blocks interleaved: all layouts are live at once and take turns, whose length and number the pilots
	// fix (Schedule). If false, trials come one after the other.
	Interleaved bool `json:"sessions,omitempty"`
	// Rounds is the number of rounds of an interleaved block, with turns of Window/Rounds. If 0, pilots decide. In plans
	// of earlier versions, a Rounds other than 0 means that blocks are interleaved.
	Rounds int `json:"cells,omitempty"`
	// WindowByPilots lets pilots lengthen the measured time of a trial in an interleaved block, so that most of the block is
	// measured. Window is then the minimum.
	WindowByPilots bool `json:"window_by_pilots,omitempty"`
	// OneByOne holds the reason why trials come one after the other, unless the user refused to interleave them.
	OneByOne string `json:"one_by_one,omitempty"`
	// AA names the twin of the baseline: the same layout under another name. Any difference claimed for the twin comes
	// from the machine. Empty means there is none.
	AA string `json:"aa,omitempty"`
	// Calibrate runs a short fixed probe before each trial; throughput is adjusted for its result.
	Calibrate bool `json:"calibrate,omitempty"`

	// OnePilot runs the baseline's pilot only, which forecasts the time, because pilots have nothing to fix.
	OnePilot bool `json:"one_pilot,omitempty"`

	// Phases lists the operations that the workload measures one after the other. If empty, Operations returns the one that it
	// measures. Overall adds the geometric mean over all as an operation.
	Phases  []string `json:"phases,omitempty"`
	Overall bool     `json:"overall,omitempty"`
	// Estimated lists the operations that the pilots found too short to judge. They are shown as estimates only and have no
	// share of the error, which the other operations divide. It is fixed before block 1.
	Estimated []string `json:"estimated,omitempty"`

	// AsPublished is the design of the scenario's article, which replaces blocks in random order. Nil means blocks.
	AsPublished *AsPublished `json:"as_published,omitempty"`

	// Measure is the subject of a trial: the workload, or the life cycle of a database that the workload has filled.
	Measure string `json:"measure,omitempty"`
	// Preload is the size of the data that a build holds before its first trial, in payload bytes. Loaded builds are reset
	// for every trial. If 0, each trial has a new build.
	Preload int64 `json:"preload_bytes,omitempty"`
	// LeftOut holds why layouts of the scenario are not compared: the engine cannot have them, or the server's cores are
	// not known.
	LeftOut []string `json:"left_out,omitempty"`
	// Ladder lists the permitted changes if pilots find a condition of meaning broken. Nil means none.
	Ladder *Ladder `json:"ladder,omitempty"`
	// Rungs lists the designs that the run has abandoned before the plan's own, oldest first.
	Rungs []Rung `json:"rungs,omitempty"`
	// Builds is the number of loaded builds of each layout, which the blocks use in turn. If 0, a layout has one such
	// build if it can be reset, or none if the workload alters nothing.
	Builds int `json:"instances,omitempty"`
	// CopiedBuilds fills only the first build of each layout from a dump, if the engine can copy files. The other builds
	// are copies of its files.
	CopiedBuilds bool `json:"copied_builds,omitempty"`

	// Conditional limits the verdict by the run's conditions of meaning. It is false in plans stored before there were
	// any.
	Conditional bool `json:"conditional,omitempty"`

	// Observe is ObserveRest if work that writes is judged from rest to rest. If empty, it is judged by the rate within
	// the window, as in plans stored before there was a choice.
	Observe string `json:"observe,omitempty"`

	Window      time.Duration `json:"window_ns"`  // measured time of a trial. 0 means fixed work
	Work        int64         `json:"work_bytes"` // fixed work of a trial, split over the connections. 0 means a time window
	WarmUp      time.Duration `json:"warm_up_ns"` // negative means fixed by the pilots
	PilotWindow time.Duration `json:"pilot_window_ns"`
	PilotWork   int64         `json:"pilot_work_bytes,omitempty"` // fixed work of a pilot. 0 means as much as a trial's
	SliceLength time.Duration `json:"slice_length_ns"`

	Margin     float64 `json:"margin_percent"`
	Confidence float64 `json:"confidence"` // 0.95
	// Rules is the version of package verdict's rules that judge. 0 means version 1, as in runs stored before there were
	// others.
	Rules     int          `json:"rules,omitempty"`
	Goal      verdict.Goal `json:"goal"`
	MaxBlocks int          `json:"max_blocks"`
	// Bounds is the half width of intervals to aim at if a verdict is out of reach, in percent. The run then spends its
	// budget on narrower intervals. If 0, such a run ends.
	Bounds float64       `json:"bounds_percent,omitempty"`
	Budget time.Duration `json:"budget_ns"`
	// BudgetMost bounds a default budget, which grows if pilots show that an interval needs longer. If 0, the budget is
	// fixed.
	BudgetMost time.Duration `json:"budget_most_ns,omitempty"`
	// Extended lists the budget and blocks before each extension of the run, oldest first.
	Extended []Extension `json:"extended,omitempty"`
	// Boundaries holds the precomputed boundaries of the run's design if it has so many blocks that computing takes long,
	// and of its designs before extensions. Shorter runs have none.
	Boundaries []verdict.Design `json:"boundaries,omitempty"`
	// P99Limit is the highest 99th percentile of latency that a recommended layout may have. It applies to every type of
	// operation, over all trials. 0 means no limit.
	P99Limit time.Duration `json:"p99_limit_ns,omitempty"`
	Attempts int           `json:"attempts"` // tries per trial, the first included

	// SkipFailing leaves out types of custom transactions that cannot be executed.
	SkipFailing bool `json:"skip_failing,omitempty"`

	// AbortIf holds the limits on what others do on the server, and Maintenance the hours in which trials may run. Both
	// are as given; nil means no limit.
	AbortIf     []string `json:"abort_if,omitempty"`
	Maintenance []string `json:"maintenance_windows,omitempty"`

	// Drivers lists the hosts that put the load on the server, in this order. If empty, this host does.
	Drivers []string `json:"drivers,omitempty"`

	// Notify lists the receivers of the run's notifications, without secrets. NotifyOn lists the events, as given. If
	// empty, there are no receivers, or all events count.
	Notify   []string `json:"notify,omitempty"`
	NotifyOn string   `json:"notify_on,omitempty"`

	// StorageLimit is "auto" or empty to measure the storage's own limit, or "off".
	StorageLimit string `json:"storage_limit,omitempty"`

	Command []string `json:"command"` // repeats the experiment, including its seed
}

// Values of Plan.Observe and --observe.
const (
	ObserveRest   = "rest"
	ObserveWindow = "window"
)

// Values of Plan.Measure.
const (
	MeasureWorkload  = "workload"
	MeasureLifecycle = "lifecycle"
)

// Ending is the reason why no further trial is measured.
type Ending string

// Endings of an experiment. Empty means it goes on.
const (
	GoesOn  Ending = ""
	Decided Ending = "decided" // a layout is proven, or every layout is resolved
	Futile  Ending = "futile"  // the remaining blocks cannot prove anything
	Spent   Ending = "spent"   // the budget or the blocks are used up
	Broken  Ending = "broken"  // too few layouts could be measured
)

// Decision is Next's decision whether the experiment goes on.
type Decision struct {
	Ending Ending `json:"ending"`
	Why    string `json:"why,omitempty"` // a sentence, if Ending is not empty
}

// Schedule holds what the pilots fix before the first block.
type Schedule struct {
	WarmUp    time.Duration `json:"warm_up_ns"`
	TrialTime time.Duration `json:"trial_time_ns"` // expected wall time per trial
	MaxBlocks int           `json:"max_blocks"`    // N_max of the verdict
	ByBudget  bool          `json:"by_budget"`     // the budget allows fewer blocks than the plan
	Steady    bool          `json:"steady"`        // every pilot's throughput had settled by its middle
	// Turn is the measured time of one turn in an interleaved block, for each phase that lasts a window. Rounds is the
	// number of turns per layout. If 0, trials are measured in one go.
	Turn   time.Duration `json:"turn_ns,omitempty"`
	Rounds int           `json:"rounds,omitempty"`
	// OthersWrite is the share of the server's changes that others made during the pilots, if it is so large that only
	// windows are judged. Otherwise it is 0.
	OthersWrite float64 `json:"others_write,omitempty"`
}

// Judgement holds the verdicts on a plan's trials, with everything that reports show.
type Judgement struct {
	Schedule  Schedule           `json:"schedule"`
	Decision  Decision           `json:"decision"`
	Warnings  []filewise.Warning `json:"warnings"`
	Elapsed   time.Duration      `json:"elapsed_ns"`   // wall time of all trials
	Measuring time.Duration      `json:"measuring_ns"` // part of Elapsed within measured windows
	Stages    []filewise.Stage   `json:"stages"`       // Elapsed, split by stage
	// Written counts the bytes that the server wrote in the measured parts of all trials. 0 means not known.
	Written float64 `json:"written_bytes,omitempty"`
	// WrittenAhead counts the bytes that all planned blocks write if they write like the pilots. 0 means not known.
	WrittenAhead float64 `json:"written_ahead_bytes,omitempty"`
	// Forecast is the resolution within the budget. It is nil if not known yet, or if the plan has no interleaved blocks.
	Forecast *Forecast `json:"forecast,omitempty"`
	// Relevance is the share of the measured time that is about files. It comes from the pilots until a block is complete.
	// It is nil if nothing was read that shows it.
	Relevance *cause.Relevance `json:"relevance,omitempty"`
	// Conditions holds the conditions of meaning, read from the same trials as Relevance.
	Conditions []filewise.Condition `json:"conditions,omitempty"`
	// Operations holds the verdicts of all operations. There is at least one, unless nothing was judged.
	Operations []Operation `json:"families"`
	// Latencies is set if operations have several types, or if latency is limited.
	Latencies []Latency `json:"latencies,omitempty"`
	// Sweep is the curve over load levels. It is nil if there is only one level.
	Sweep *Sweep `json:"sweep,omitempty"`
}

// Operation is the verdict on one operation.
type Operation struct {
	Name      string         `json:"name"`
	Result    verdict.Result `json:"verdict"`
	Estimated bool           `json:"estimated,omitempty"` // too short to judge: Result claims nothing
	Sentences []string       `json:"sentences"`           // the verdict in words
	// Cause holds what changed together with the difference, or what limits all layouts. It is nil if too little was
	// measured to find it.
	Cause *cause.Cause `json:"cause,omitempty"`
	// Latency holds the latency of the operation's executions by layout. It is empty if they have none, or too few.
	Latency []LayoutLatency `json:"latency,omitempty"`
	// LatencyLoss reports that the layout to use loses in latency. It is empty if that layout does not.
	LatencyLoss string `json:"latency_loss,omitempty"`
}

// Limit returns the words that limit a verdict that is hardly about files: "for this workload, which hardly uses data
// files". It returns "" if the verdict is about files, if nothing was read that shows it, or if the plan predates
// conditions.
func (j Judgement) Limit(p Plan) string {
	if !p.Conditional || j.Relevance == nil || j.Relevance.Tells() {
		return ""
	}
	about, _ := p.differsIn()
	about, _, _ = strings.Cut(about, ",")
	return "for this workload, which hardly uses " + about
}

// First returns the verdict on the first operation, or an empty one if nothing was judged.
func (j Judgement) First() Operation {
	if len(j.Operations) == 0 {
		return Operation{}
	}
	return j.Operations[0]
}

// Sentences returns the first operation's verdict in words, followed by the sentences on the curve over load levels, if
// there is one.
func (j Judgement) Sentences() []string {
	if j.Sweep == nil {
		return j.First().Sentences
	}
	return append(slices.Clone(j.First().Sentences), j.Sweep.Sentences...)
}

// Origin returns the database whose dump fills the builds, or nil if there is no dump.
func (p Plan) Origin() *filewise.Address {
	if p.Params.Custom == nil {
		return nil
	}
	return p.Params.Custom.Origin
}

// Trials returns all possible trials in order: the pilots and MaxBlocks blocks, if every layout stays live and none
// fails.
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

// Duration returns bounds of the run's duration. Least is the measured time of the fewest blocks that allow a verdict;
// it is 0, not known, for fixed work. Most is the largest possible budget, or the measured time of all blocks if there
// is no budget.
func (p Plan) Duration() (least, most time.Duration) {
	block := time.Duration(len(p.Layouts)) * p.Window
	pilots := time.Duration(len(p.Layouts)) * p.PilotWindow
	least, most = pilots+time.Duration(min(verdict.FirstAnalysis, p.MaxBlocks))*block, p.mostBudget()
	if p.Window == 0 {
		least = 0
	}
	if most == 0 {
		most = pilots + time.Duration(p.MaxBlocks)*block
	}
	return least, most
}

// LimitWarnings names the layouts of the scenario that are not compared.
func (p Plan) LimitWarnings() (out []filewise.Warning) {
	for _, why := range p.LeftOut {
		out = append(out, filewise.Warning{Code: "layout-left-out", Message: "Left out: " + why + ".",
			Remedy: "Set the numbers by --files."})
	}
	return out
}
