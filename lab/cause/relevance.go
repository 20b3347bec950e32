package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/lab/probe"
)

// What connections spend their time on.
const (
	SpentData    = "data files" // read, write or extend them; wait for a checkpoint, a free page, or space in them
	SpentTemp    = "temporary files"
	SpentLog     = "log"
	SpentLocks   = "locks" // of rows and tables, including latches
	SpentCPU     = "processors"
	SpentNetwork = "network"
	SpentOther   = "other waits"
	SpentUnknown = "not measured"
)

// spentOn maps classes of waits to what the time is spent on.
var spentOn = map[filewise.WaitClass]string{
	filewise.WaitDataRead: SpentData, filewise.WaitDataWrite: SpentData, filewise.WaitAllocation: SpentData,
	filewise.WaitCheckpoint: SpentData, filewise.WaitMemory: SpentData,
	filewise.WaitTemp: SpentTemp, filewise.WaitLog: SpentLog, filewise.WaitLock: SpentLocks, filewise.WaitLatch: SpentLocks,
	filewise.WaitNetwork: SpentNetwork, filewise.WaitOther: SpentOther,
}

// Relevance is the split of the connections' time. It shows how much of the measurement is about files.
type Relevance struct {
	Shares []Spent `json:"shares"` // largest first; the sum is 1
	// Files is the share that the layouts' files can change.
	Files float64 `json:"files"`
	// Sentence states the shares, what follows from them, and what would measure more of the files.
	Sentence string `json:"sentence"`
}

// Spent is a share of the connections' time.
type Spent struct {
	On   string  `json:"on"`
	Part float64 `json:"part"` // from 0 to 1
}

// If the files' share is below leastTold, a run is hardly about files. From wellTold on it is about files.
const (
	leastTold = 0.1
	wellTold  = dominates
)

// Where adds up the time of the trials' connections over all operations. Time without a wait counts as CPU time as far as
// computing explains it, including the wait for a core. If the kernel does not count that wait, it is estimated: a
// shared server with utilisation u takes 1/(1−u) of computing (M/G/1, processor sharing). The rest is "not measured".
// Layouts can change the shares named in divided, such as "data files". Where returns false if neither waits nor CPU
// time were read.
func Where(trials []filewise.Trial, divided ...string) (r Relevance, ok bool) {
	spent := make(map[string]float64)
	all := 0.0
	for _, t := range trials {
		for _, m := range t.Measures {
			if m.Unit != filewise.UnitTimes {
				all += spend(spent, m)
			}
		}
	}
	if all <= 0 {
		return r, false
	}
	for on, s := range spent {
		r.Shares = append(r.Shares, Spent{on, s / all})
		if slices.Contains(divided, on) {
			r.Files += s / all
		}
	}
	slices.SortFunc(r.Shares, func(a, b Spent) int { return cmp.Or(cmp.Compare(b.Part, a.Part), cmp.Compare(a.On, b.On)) })
	return r, true
}

// spend adds the time of a measure to spent and returns it. It returns 0 if nothing was read.
func spend(spent map[string]float64, m filewise.Measure) float64 {
	waited, read := 0.0, false
	for _, d := range m.Deltas {
		if wait(d) {
			spent[spentOn[d.Class]] += d.Value
			waited, read = waited+d.Value, true
		}
	}
	computed, known := processors(m)
	if !read && !known {
		return 0
	}
	time := float64(m.Connections) * (m.Window[1] - m.Window[0]).Seconds()
	if m.Paced || m.Connections == 0 { // connections also pause, or were not counted
		time = waited + computed
	}
	rest := max(time-waited, 0)
	here := min(rest, onProcessors(m, computed))
	spent[SpentCPU] += here
	spent[SpentUnknown] += rest - here
	return waited + rest + drained(spent, m)
}

// drained adds the time of a drain that is observed, in which all connections wait, and returns it. The time counts for
// data files as far as these were written in it.
func drained(spent map[string]float64, m filewise.Measure) float64 {
	if m.Rest == nil || m.Paced {
		return 0
	}
	time := float64(m.Connections) * (m.Sync - m.Rest.Empty).Seconds()
	part, ok := m.Rest.DataPart()
	if time <= 0 {
		return 0
	}
	if !ok {
		spent[SpentUnknown] += time
		return time
	}
	spent[SpentData] += part * time
	spent[SpentOther] += (1 - part) * time
	return time
}

// onProcessors returns the time of computing, including the wait for a core.
func onProcessors(m filewise.Measure, computed float64) float64 {
	if waited, ok := queued(m); ok {
		return computed + waited
	}
	busy, _ := probe.Find(m.Deltas, "cpu", probe.BusyShare)
	return computed / max(1-busy/100, 0.01)
}

// Most returns what took most of the time.
func (r Relevance) Most() string {
	if len(r.Shares) == 0 {
		return SpentUnknown
	}
	return r.Shares[0].On
}

// Tells reports whether the run has a result about files.
func (r Relevance) Tells() bool { return r.Files >= leastTold }

// LeastSaid is the share of time below which a part is not named.
const LeastSaid = 0.005

// NameOf returns a part of the connections' time in words for readers.
func NameOf(on string) string {
	switch on {
	case SpentCPU:
		return "CPU"
	case SpentUnknown:
		return "unexplained"
	}
	return on
}

// Words returns the sentence on the split of time. About names what the layouts differ in, such as "data files". Why
// gives further reasons why the run shows that only in part, or little of it. Remedy is the option that would make it show more. Both may
// be empty.
func (r Relevance) Words(about string, why []string, remedy string) string {
	var parts []string
	for _, s := range r.Shares {
		if s.Part >= LeastSaid || s.On == about {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", NameOf(s.On), 100*s.Part))
		}
	}
	out := "Connection time: " + strings.Join(parts, ", ")
	switch {
	case r.Files >= wellTold && len(why) == 0:
		out += ". This run tests " + about
	case r.Tells():
		out += ". This run tests " + about + " only in part"
	default:
		out += ". This run says little about " + about
	}
	if len(why) > 0 {
		out += ": " + strings.Join(why, ", ")
	}
	if remedy != "" {
		out += ". Try " + remedy
	}
	return out + "."
}
