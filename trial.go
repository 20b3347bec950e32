package filewise

import (
	"math"
	"time"
)

// Cell is one place in an experiment: which layout is measured when.
type Cell struct {
	Pilot    bool   `json:"pilot,omitempty"` // a pilot fixes the warm-up and is no part of the verdict
	Block    int    `json:"block"`           // from 1; 0 for pilots
	Position int    `json:"position"`        // place within the block, from 0
	Layout   string `json:"layout"`
	Attempt  int    `json:"attempt"` // from 1
}

// State is a trial's end.
type State string

// The states of a trial. A running trial is not stored.
const (
	Done   State = "done"
	Failed State = "failed"
)

// Trial is one measured run of the workload on one layout: one sample.
type Trial struct {
	Cell     Cell          `json:"cell"`
	Instance string        `json:"instance,omitempty"` // empty means built again for this trial
	State    State         `json:"state"`
	Reason   string        `json:"reason,omitempty"` // why it failed
	Remedy   string        `json:"-"`                // what to do about it, shown right after the trial
	Started  time.Time     `json:"started"`
	Elapsed  time.Duration `json:"elapsed_ns"` // wall time from build to drop; in a session its part of that
	Measures []Measure     `json:"measures"`
	Stages   []Stage       `json:"stages"`
	Files    []File        `json:"files"` // as observed after building
	Final    []File        `json:"final"` // as observed after the work
	Warnings []Warning     `json:"warnings,omitempty"`
}

// Measure holds the results of one family of operations in one trial. Durations count from the start of the warm-up.
type Measure struct {
	Family string `json:"family"`
	Unit   string `json:"unit"` // of Work: "rows"
	// Connections worked on it at the same time. 0 means not known, of trials stored by an older Filewise.
	Connections int `json:"connections,omitempty"`
	// Paced connections also rested, or were held to a rate.
	Paced  bool             `json:"paced,omitempty"`
	Window [2]time.Duration `json:"window_ns"` // the measured part
	Work   float64          `json:"work"`      // done within the window
	Bytes  float64          `json:"bytes"`     // payload bytes of that work
	Tail   time.Duration    `json:"tail_ns"`   // from the window's end to the slowest connection's last commit
	Sync   time.Duration    `json:"sync_ns"`   // from then until everything was durable on the storage
	// SliceLength and Slices hold the work of every slice from the start of the
	// warm-up, the slices after the window included.
	SliceLength time.Duration `json:"slice_length_ns"`
	Slices      []int64       `json:"slices"`
	// Hist is the HDR histogram (V2 compressed) of the latencies of calls, in µs.
	Hist []byte `json:"hist,omitempty"`
	// Errors counts the failures of operations by class, including the ones tried again. Absent means none.
	Errors map[Class]int64 `json:"errors,omitempty"`
	// Types are the parts of the operations' types, by name, if there are several. Absent means there is one.
	Types  map[string]TypeMeasure `json:"types,omitempty"`
	Deltas []Delta                `json:"deltas,omitempty"`
	// Turns are the turns of a session in which layouts took turns, which make up the window: the work of each, or,
	// if they differ in length, scaled to their mean length. Absent means it was measured in one go.
	Turns []float64 `json:"turns,omitempty"`
	// Rest is the observation if the measure writes: all work by all time, from rest to
	// rest. If nil, the observation is the work per second of the window.
	Rest *Rest `json:"rest,omitempty"`
}

// Rest describes the connections' work between two moments with nothing left to write; in a session the sum over its
// turns.
type Rest struct {
	// Work is all that was committed, before and after the window too, in the measure's unit.
	Work float64 `json:"work"`
	// Time lasts from the common start of the connections until everything was durable, less
	// what a drain takes with nothing to write.
	Time time.Duration `json:"time_ns"`
	// Empty is the time taken off for that.
	Empty time.Duration `json:"empty_ns"`
	// Written holds the bytes that were written from the window's end until everything was
	// durable, by the counters of ProbeWritten. If nil, nothing was counted then.
	Written map[string]float64 `json:"written,omitempty"`
	// Others is the part of what was changed on the server in that time that others changed, in a session the most of
	// a turn. 0 means no others did, or it is not known.
	Others float64 `json:"others,omitempty"`
	// Storage is the disks' work in that time, as probe "disk" counts it. Nil means not counted.
	Storage []Delta `json:"storage,omitempty"`
}

// DataPart returns the part of what was written behind the window that went to data and index
// files, 0 to 1; ok is false if nothing was counted.
func (r *Rest) DataPart() (part float64, ok bool) {
	sum := 0.0
	for _, name := range []string{WrittenData, WrittenIndex, WrittenLog, WrittenTemp, WrittenRest} {
		sum += r.Written[name]
	}
	if sum <= 0 {
		return 0, false
	}
	return (r.Written[WrittenData] + r.Written[WrittenIndex]) / sum, true
}

// TypeMeasure holds the results of the operations of one type in one measure.
type TypeMeasure struct {
	Work   float64         `json:"work"`             // done within the window
	Hist   []byte          `json:"hist,omitempty"`   // of their latencies, like Measure.Hist
	Errors map[Class]int64 `json:"errors,omitempty"` // of their failures, like Measure.Errors
}

// Throughput returns the judged value: the work per second from rest to rest if the measure has it, else the
// window's. It is 0 if nothing was done.
func (m Measure) Throughput() float64 {
	if m.Rest == nil {
		return m.WindowRate()
	}
	if m.Rest.Time <= 0 {
		return 0
	}
	return m.Rest.Work / m.Rest.Time.Seconds()
}

// WindowRate returns the work per second of the window, in a session the geometric mean
// over its turns. It is 0 if nothing was done.
func (m Measure) WindowRate() float64 {
	d := m.Window[1] - m.Window[0]
	if d <= 0 {
		return 0
	}
	if n := float64(len(m.Turns)); n > 0 {
		logs := 0.0
		for _, work := range m.Turns {
			logs += math.Log(work) // −∞ if nothing was done: so is the mean, and the result 0
		}
		return math.Exp(logs/n) * n / d.Seconds()
	}
	return m.Work / d.Seconds()
}

// Throughput is the throughput of the named family; ok is false when the trial
// did not measure it.
func (t Trial) Throughput(family string) (x float64, ok bool) {
	for _, m := range t.Measures {
		if m.Family == family {
			return m.Throughput(), t.State == Done && m.Throughput() > 0
		}
	}
	return 0, false
}

// Stage is one step of a trial's life and how long it took.
type Stage struct {
	Name string        `json:"name"`
	Took time.Duration `json:"took_ns"`
}

// The stages of a trial, in order.
const (
	StageCreate   = "create" // what only a layout's first build has: see Database.First and Copier
	StageBuild    = "build"
	StageLoad     = "load"
	StageRehearse = "rehearse"  // of custom SQL, once: each type of transactions is executed and rolled back
	StageExtend   = "add files" // the files of Layout.AddedLater
	StageReset    = "reset"
	StageObserve  = "observe"
	StageSettle   = "settle"
	StageWarmUp   = "warm-up"
	StageWork     = "work" // that is not measured
	StageMeasure  = "measure"
	StageDrain    = "drain"
	StageCheck    = "check"
	StageStop     = "stop"
	StageDrop     = "drop"
)

// Stages are the names of all stages, in order.
var Stages = []string{StageCreate, StageBuild, StageLoad, StageRehearse, StageExtend, StageReset, StageObserve, StageSettle, StageWarmUp,
	StageWork, StageMeasure, StageDrain, StageCheck, StageStop, StageDrop}

// Warning informs a reader about a limit of a result, with what to do.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// ConditionName names a condition of meaning.
type ConditionName string

// The conditions of meaning, in the order in which they are reported.
const (
	CondReach      ConditionName = "reach"      // every file of every layout takes part in the work
	CondWrites     ConditionName = "writes"     // data pages are written within the observation
	CondReads      ConditionName = "reads"      // data do not come from memory
	CondDuration   ConditionName = "duration"   // what is timed lasts long enough to be about files
	CondGrowth     ConditionName = "growth"     // growing files grow often in a trial
	CondContention ConditionName = "contention" // more connections than cores ask for space
	CondHeadroom   ConditionName = "headroom"   // neither the processors nor the log limit the work
)

// Condition is one of the conditions under which a run answers a question about files.
type Condition struct {
	Name ConditionName `json:"name"`
	// Measured is the finding, in words; empty if Unknown.
	Measured string `json:"measured,omitempty"`
	// Threshold is from when the condition holds, in words.
	Threshold string `json:"threshold"`
	OK        bool   `json:"ok"`
	// Unknown conditions were not measured, or not yet; OK is false then.
	Unknown bool `json:"unknown,omitempty"`
	// Mend holds the options that would have a broken condition hold; empty if none would.
	Mend string `json:"mend,omitempty"`
}

// Broken reports whether the condition was measured and does not hold.
func (c Condition) Broken() bool { return !c.OK && !c.Unknown }

// Sign is ✔, ✘, or ? if the condition is unknown.
func (c Condition) Sign() string {
	switch {
	case c.OK:
		return "✔"
	case c.Unknown:
		return "?"
	}
	return "✘"
}
