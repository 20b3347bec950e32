package cause

import (
	"slices"

	"filewise"
)

// Input holds the trials in which to find a cause, and the layouts that differ.
type Input struct {
	Trials    []filewise.Trial // others than trials of complete blocks are left out
	Operation string           // empty means the only one
	// Connections is the number of connections that work on the operation at the same time.
	Connections int
	// Loop is false if connections also pause, or are held to a rate. Then not all of their time is work, and no change
	// has a share of the gain.
	Loop bool
	// Baseline and Layout name two layouts that differ. If Layout is empty, Explain looks for what limits all layouts.
	Baseline, Layout string
	Layouts          []string // all layouts compared
	// Effect is ln(throughput of Layout / throughput of Baseline).
	Effect float64
}

// Cause holds what changed together with a difference, or what limits all layouts.
type Cause struct {
	Layout  string `json:"layout,omitempty"` // empty means it is about all layouts
	Against string `json:"against,omitempty"`
	// Changes lists the changes that are large enough to explain something, largest share of the gain first.
	Changes []Change `json:"changes,omitempty"`
	// Explained is the largest share of the gain that one change has. 0 means nothing explains it.
	Explained float64 `json:"explained,omitempty"`
	// Near lists the resources by how near they were to their limits, nearest first.
	Near      []Use    `json:"near,omitempty"`
	Sentences []string `json:"sentences"`
}

// Values of Kind in Change and Use.
const (
	KindWait          = "wait"
	KindCPU           = "cpu"
	KindProcessorWait = "processor wait"
	KindOwnCPU        = "own cpu" // of Filewise and its server, in percent of all cores
	KindIO            = "io"
	KindSwitches      = "context switches"
	KindStorage       = "storage"
	KindDevice        = "device"
)

// Change is the change of a quantity per unit of work from the baseline to a layout.
type Change struct {
	Kind  string             `json:"kind"`
	Class filewise.WaitClass `json:"class,omitempty"` // of a wait
	Event string             `json:"event"`           // the event with most of the wait, or the quantity
	Unit  string             `json:"unit"`            // "s", "B" or "requests", per unit of work
	From  float64            `json:"from"`            // medians over the blocks
	To    float64            `json:"to"`
	// Fall is the mean of From − To within blocks. Each block is weighted by how fast it was. Low and High are the 95 %
	// interval of Fall.
	Fall float64 `json:"fall"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Share is the share of the difference in time per unit of work. 0 means unknown, or none.
	Share float64 `json:"share"`
}

// sure reports whether the interval excludes zero change.
func (c Change) sure() bool { return c.Low > 0 || c.High < 0 }

// Use is the use of a resource, in percent of its limit.
type Use struct {
	Kind    string  `json:"kind"`
	Name    string  `json:"name"`
	Percent float64 `json:"percent"` // median over the trials
}

// Shares, from 0 to 1, from which something is reported. leastPairs counts blocks.
const (
	tells      = 0.2  // of the gain: it is a cause
	explains   = 0.5  // of the gain: the gain is explained
	changedIO  = 0.1  // of I/O per unit of work: it has changed
	dominates  = 0.25 // of the connections' time: a wait that all layouts share
	leastPairs = 3    // fewest blocks for an interval
)

// NearLimit is the use of storage, in percent of its limit, from which the storage is the limit.
const NearLimit = 80

// Explain finds the cause of a difference. It returns false if there is too little data.
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

// pair holds the measures of the two layouts in one block.
type pair struct{ from, to filewise.Measure }

func (in Input) pairs() []pair {
	var out []pair
	for _, base := range in.trials(in.Baseline) {
		for _, other := range in.trials(in.Layout) {
			if base.Cell.Block != other.Cell.Block {
				continue
			}
			from, ok := measure(base, in.Operation)
			to, also := measure(other, in.Operation)
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
		if m, ok := measure(t, in.Operation); ok {
			out = append(out, m)
		}
	}
	return out
}

// measure returns an operation's measure. It returns false if nothing was done in it.
func measure(t filewise.Trial, operation string) (filewise.Measure, bool) {
	for _, m := range t.Measures {
		if (operation == "" || m.Operation == operation) && m.Work > 0 && m.Window[1] > m.Window[0] {
			return m, true
		}
	}
	return filewise.Measure{}, false
}

// time returns the time of all connections per unit of work, in seconds: from rest to rest if that is judged.
func (in Input) time(m filewise.Measure) float64 {
	if rested(m) {
		return float64(max(in.Connections, 1)) * m.Rest.Time.Seconds() / m.Rest.Work
	}
	return float64(max(in.Connections, 1)) * (m.Window[1] - m.Window[0]).Seconds() / m.Work
}
