package cause

import (
	"slices"

	"filewise"
)

// Input holds the trials in which a cause is looked for.
type Input struct {
	Trials []filewise.Trial // trials of complete blocks; others are left out
	Family string           // empty means the one there is
	// Connections work on the family at the same time.
	Connections int
	// Loop is false when connections also rest, or are held to a rate: their time is
	// not all work then, and nothing has a share of the gain.
	Loop bool
	// Baseline and Layout name two layouts that differ; with an empty Layout the cause limits all of them.
	Baseline, Layout string
	Layouts          []string // all that are compared
	// Effect is ln(throughput of Layout / throughput of Baseline).
	Effect float64
}

// Cause holds the changes together with a difference, or what the layouts share.
type Cause struct {
	Layout  string `json:"layout,omitempty"` // empty: it is about all layouts
	Against string `json:"against,omitempty"`
	// Changes are large enough to explain something, largest share of the gain first.
	Changes []Change `json:"changes,omitempty"`
	// Explained is the largest change's share of the gain. 0 means nothing explains it.
	Explained float64 `json:"explained,omitempty"`
	// Near are the resources by how near they were to their limits, nearest first.
	Near      []Use    `json:"near,omitempty"`
	Sentences []string `json:"sentences"`
}

// What a change or a use is of.
const (
	KindWait          = "wait"
	KindCPU           = "cpu"
	KindProcessorWait = "processor wait"
	KindOwnCPU        = "own cpu" // of Filewise and its server, in percent of all processors
	KindIO            = "io"
	KindSwitches      = "context switches"
	KindStorage       = "storage"
	KindDevice        = "device"
)

// Change is the change of a quantity per unit of work from the baseline to a layout.
type Change struct {
	Kind  string             `json:"kind"`
	Class filewise.WaitClass `json:"class,omitempty"` // of a wait
	Event string             `json:"event"`           // the event with most of it, or what it is
	Unit  string             `json:"unit"`            // "s", "B" or "requests", per unit of work
	From  float64            `json:"from"`            // medians over the blocks
	To    float64            `json:"to"`
	// Fall is the mean of From − To within blocks, each weighed by how fast its block
	// was; Low and High are its 95 % interval.
	Fall float64 `json:"fall"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Share of the difference in time per unit of work. 0 means unknown, or none.
	Share float64 `json:"share"`
}

// sure reports whether the interval excludes no change.
func (c Change) sure() bool { return c.Low > 0 || c.High < 0 }

// Use is the use of a resource, in percent of its limit.
type Use struct {
	Kind    string  `json:"kind"`
	Name    string  `json:"name"`
	Percent float64 `json:"percent"` // median over the trials
}

// The shares from which something is worth saying.
const (
	tells      = 0.2  // of the gain: a cause
	explains   = 0.5  // of the gain: enough to call it explained
	changedIO  = 0.1  // of I/O per unit of work: it changed
	dominates  = 0.25 // of the connections' time: a wait that layouts share
	leastPairs = 3    // blocks, for an interval
)

// NearLimit is the share of what storage can give, in percent, from which it counts as the limit.
const NearLimit = 80

// Explain looks for the cause; ok is false when there is too little to look at.
func Explain(in Input) (Cause, bool) {
	if in.Layout == "" {
		return shared(in)
	}
	pairs := in.pairs()
	if len(pairs) < leastPairs || len(pairs[0].from.Deltas) == 0 {
		return Cause{}, false
	}
	c := Cause{Layout: in.Layout, Against: in.Baseline, Near: uses(in.measures(in.Layout))}
	c.Changes = changes(in, pairs)
	for _, x := range c.Changes {
		if x.Unit == "s" {
			c.Explained = max(c.Explained, x.Share)
		}
	}
	if c.Explained < tells {
		c.Explained = 0
	}
	c.Sentences = in.words(c, pairs)
	return c, true
}

// pair is a block's measures of the two layouts.
type pair struct{ from, to filewise.Measure }

func (in Input) pairs() []pair {
	var out []pair
	for _, base := range in.trials(in.Baseline) {
		for _, other := range in.trials(in.Layout) {
			if base.Cell.Block != other.Cell.Block {
				continue
			}
			from, ok := measure(base, in.Family)
			to, also := measure(other, in.Family)
			if ok && also {
				out = append(out, pair{from, to})
			}
		}
	}
	return out
}

func (in Input) trials(layout string) []filewise.Trial {
	return slices.DeleteFunc(slices.Clone(in.Trials), func(t filewise.Trial) bool {
		return t.Cell.Pilot || t.State != filewise.Done || t.Cell.Layout != layout
	})
}

func (in Input) measures(layout string) []filewise.Measure {
	var out []filewise.Measure
	for _, t := range in.trials(layout) {
		if m, ok := measure(t, in.Family); ok {
			out = append(out, m)
		}
	}
	return out
}

// measure finds a family's measure in which something was done.
func measure(t filewise.Trial, family string) (filewise.Measure, bool) {
	for _, m := range t.Measures {
		if (family == "" || m.Family == family) && m.Work > 0 && m.Window[1] > m.Window[0] {
			return m, true
		}
	}
	return filewise.Measure{}, false
}

// time is the time of all connections per unit of work, in s; from rest to rest if that is judged.
func (in Input) time(m filewise.Measure) float64 {
	if rested(m) {
		return float64(max(in.Connections, 1)) * m.Rest.Time.Seconds() / m.Rest.Work
	}
	return float64(max(in.Connections, 1)) * (m.Window[1] - m.Window[0]).Seconds() / m.Work
}
