package filewise

import (
	"math"
	"time"
)

// Cell identifies one trial's place in an experiment: the layout, and when it is measured.
type Cell struct {
	Pilot    bool   `json:"pilot,omitempty"` // a pilot fixes the warm-up and is no part of the verdict
	Block    int    `json:"block"`           // from 1; 0 for pilots
	Position int    `json:"position"`        // place within the block, from 0
	Layout   string `json:"layout"`
	Attempt  int    `json:"attempt"` // from 1
}

// State is the way in which a trial ended.
type State string

// The states of a trial. A running trial is not stored.
const (
	Done   State = "done"
	Failed State = "failed"
)

// Trial is one measured run of the workload on one layout, which is one sample.
type Trial struct {
	Cell     Cell          `json:"cell"`
	Build    string        `json:"instance,omitempty"` // empty means built again for this trial
	State    State         `json:"state"`
	Reason   string        `json:"reason,omitempty"` // why it failed
	Remedy   string        `json:"-"`                // what to do about it, shown right after the trial
	Started  time.Time     `json:"started"`
	Elapsed  time.Duration `json:"elapsed_ns"` // wall time from build to drop; in an interleaved block, the trial's part of it
	Measures []Measure     `json:"measures"`
	Stages   []Stage       `json:"stages"`
	Files    []File        `json:"files"` // as observed after building
	Final    []File        `json:"final"` // as observed after the work
	Warnings []Warning     `json:"warnings,omitempty"`
}

// Measure holds the results of one operation in a trial. Durations count from the start of the warm-up.
type Measure struct {
	Operation string `json:"family"`
	Unit      string `json:"unit"` // unit of Work: "rows"
	// Connections is the number of connections that worked at the same time. It is 0 if not known, for trials stored by an
	// older Filewise.
	Connections int `json:"connections,omitempty"`
	// Paced is set if connections also rested, or were held to a rate.
	Paced  bool             `json:"paced,omitempty"`
	Window [2]time.Duration `json:"window_ns"` // the measured part
	Work   float64          `json:"work"`      // work done within the window
	Bytes  float64          `json:"bytes"`     // payload bytes of that work
	Tail   time.Duration    `json:"tail_ns"`   // from the window's end to the slowest connection's last commit
	Sync   time.Duration    `json:"sync_ns"`   // from then until everything was durable on the storage
	// SliceLength and Slices hold the work of each slice from the start of the warm-up, slices after the window included.
	SliceLength time.Duration `json:"slice_length_ns"`
	Slices      []int64       `json:"slices"`
	// Hist is the HDR histogram (V2 compressed) of the latencies of calls, in µs.
	Hist []byte `json:"hist,omitempty"`
	// Errors counts failed operations by class, including operations that were tried again. It is absent if there are
	// none.
	Errors map[Class]int64 `json:"errors,omitempty"`
	// Types holds the results per operation type, by name. It is absent if there is one type.
	Types  map[string]TypeMeasure `json:"types,omitempty"`
	Deltas []Delta                `json:"deltas,omitempty"`
	// Turns holds the work of each turn if the layouts took turns. The turns make up the window. If they differ in length,
	// the work is scaled to their mean length. Turns is absent if the trial was measured in one go.
	Turns []float64 `json:"turns,omitempty"`
	// Rest holds the observation of a measure that writes: all work by all time, from rest to rest. If nil, the
	// observation is the work per second of the window.
	Rest *Rest `json:"rest,omitempty"`
}

// Rest describes the connections' work between two moments at which nothing was left to write. In an interleaved block
// it is the sum over the trial's turns.
type Rest struct {
	// Work is everything that was committed, also before and after the window, in the measure's unit.
	Work float64 `json:"work"`
	// Time lasts from the connections' common start until everything was durable, minus what a drain takes with nothing to
	// write.
	Time time.Duration `json:"time_ns"`
	// Empty is the time that was subtracted for such a drain.
	Empty time.Duration `json:"empty_ns"`
	// Written holds the bytes written from the window's end until everything was durable, by the counters of ProbeWritten.
	// It is nil if nothing was counted.
	Written map[string]float64 `json:"written,omitempty"`
	// Others is the share of others in what was changed on the server during that time. With turns, it is the greatest
	// share of a turn. It is 0 if others changed nothing, or it is not known.
	Others float64 `json:"others,omitempty"`
	// Storage holds the disks' work in that time, as probe "disk" counts it. It is nil if it was not counted.
	Storage []Delta `json:"storage,omitempty"`
}

// DataPart returns the share, from 0 to 1, of data and index files in what was written after the window. ok is false if
// nothing was counted.
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

// TypeMeasure holds the results of one type's operations in a measure.
type TypeMeasure struct {
	Work   float64         `json:"work"`             // done within the window
	Hist   []byte          `json:"hist,omitempty"`   // of their latencies, like Measure.Hist
	Errors map[Class]int64 `json:"errors,omitempty"` // of their failures, like Measure.Errors
}

// Throughput returns the judged value: the work per second from rest to rest if the measure has it, otherwise the work
// per second of the window. It is 0 if nothing was done.
func (m Measure) Throughput() float64 {
	if m.Rest == nil {
		return m.WindowRate()
	}
	if m.Rest.Time <= 0 {
		return 0
	}
	return m.Rest.Work / m.Rest.Time.Seconds()
}

// WindowRate returns the work per second of the window or, if there were turns, the geometric mean over them. It is 0
// if nothing was done.
func (m Measure) WindowRate() float64 {
	d := m.Window[1] - m.Window[0]
	if d <= 0 {
		return 0
	}
	if n := float64(len(m.Turns)); n > 0 {
		logs := 0.0
		for _, work := range m.Turns {
			logs += math.Log(work) // −∞ if nothing was done: the mean is −∞ too, and the result 0
		}
		return math.Exp(logs/n) * n / d.Seconds()
	}
	return m.Work / d.Seconds()
}

// Throughput returns the throughput of the named operation. ok is false if the trial did not measure it.
func (t Trial) Throughput(operation string) (x float64, ok bool) {
	for _, m := range t.Measures {
		if m.Operation == operation {
			return m.Throughput(), t.State == Done && m.Throughput() > 0
		}
	}
	return 0, false
}

// Stage is a step in a trial's life, with the time it took.
type Stage struct {
	Name string        `json:"name"`
	Took time.Duration `json:"took_ns"`
}

// The stages of a trial, in order.
const (
	StageCreate   = "create" // what only a layout's first build does: see Database.First and Database.Keep
	StageBuild    = "build"
	StageLoad     = "load"
	StageRehearse = "rehearse"  // custom SQL alone, once: each type of transaction is executed and rolled back
	StageExtend   = "add files" // adds the files of Layout.AddedLater
	StageReset    = "reset"
	StageObserve  = "observe"
	StageSettle   = "settle"
	StageCool     = "cool" // caches are emptied before a phase
	StageWarmUp   = "warm-up"
	StageWork     = "work" // work that is not measured
	StageMeasure  = "measure"
	StageDrain    = "drain"
	StageCheck    = "check"
	StageStop     = "stop"
	StageDrop     = "drop"
)

// Stages lists the names of all stages, in order.
var Stages = []string{StageCreate, StageBuild, StageLoad, StageRehearse, StageExtend, StageReset, StageObserve, StageSettle, StageCool,
	StageWarmUp,
	StageWork, StageMeasure, StageDrain, StageCheck, StageStop, StageDrop}

// Warning informs a reader about a limit of a result, and what to do.
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

// Condition is a condition under which a run answers a question about files.
type Condition struct {
	Name ConditionName `json:"name"`
	// Measured describes the finding. It is empty if Unknown is set.
	Measured string `json:"measured,omitempty"`
	// Threshold describes the value from which the condition holds.
	Threshold string `json:"threshold"`
	OK        bool   `json:"ok"`
	// Unknown is set if the condition was not measured, or not yet. OK is then false.
	Unknown bool `json:"unknown,omitempty"`
	// Mend holds the options under which a broken condition would hold. It is empty if no option would help.
	Mend string `json:"mend,omitempty"`
}

// Broken reports whether the condition was measured and does not hold.
func (c Condition) Broken() bool { return !c.OK && !c.Unknown }

// Sign returns ✔, ✘, or ? if the condition is unknown.
func (c Condition) Sign() string {
	switch {
	case c.OK:
		return "✔"
	case c.Unknown:
		return "?"
	}
	return "✘"
}
