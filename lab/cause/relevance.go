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
	SpentData    = "data files" // reading, writing, extending them; until a checkpoint, a free page, or space in them is to be had
	SpentTemp    = "temporary files"
	SpentLog     = "log"
	SpentLocks   = "locks" // of rows and tables, and latches
	SpentCPU     = "processors"
	SpentNetwork = "network"
	SpentOther   = "other waits"
	SpentUnknown = "not measured"
)

// spentOn are the kinds by class of wait.
var spentOn = map[filewise.WaitClass]string{
	filewise.WaitDataRead: SpentData, filewise.WaitDataWrite: SpentData, filewise.WaitAllocation: SpentData,
	filewise.WaitCheckpoint: SpentData, filewise.WaitMemory: SpentData,
	filewise.WaitTemp: SpentTemp, filewise.WaitLog: SpentLog, filewise.WaitLock: SpentLocks, filewise.WaitLatch: SpentLocks,
	filewise.WaitNetwork: SpentNetwork, filewise.WaitOther: SpentOther,
}

// Relevance is the split of the connections' time, and so the share of the measurement that is about files.
type Relevance struct {
	Shares []Spent `json:"shares"` // largest first; together 1
	// Files is the part that the layouts' files can change.
	Files float64 `json:"files"`
	// Sentence has the shares, what follows from them, and what would measure more.
	Sentence string `json:"sentence"`
}

// Spent is a part of the connections' time.
type Spent struct {
	On   string  `json:"on"`
	Part float64 `json:"part"` // 1 is all
}

// If the files' part is below the first, a run is hardly about them; from the other on, it is about them.
const (
	leastTold = 0.1
	wellTold  = dominates
)

// Where adds up the time of the trials' connections over all families. Time without a wait is the processors' as far
// as computing explains it, with the wait for a processor; if the kernel does not count that, it is as at a server of
// utilisation u that is shared, 1/(1−u) of computing (M/G/1, processor sharing). The rest was not measured. The parts
// of what is divided, such as "data files", are the parts that layouts can change. ok is false if neither a wait nor
// the processors were read.
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

// spend adds a measure's time, and returns it. 0 means nothing was read.
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
	if m.Paced || m.Connections == 0 { // they also rest, or were not counted
		time = waited + computed
	}
	rest := max(time-waited, 0)
	here := min(rest, onProcessors(m, computed))
	spent[SpentCPU] += here
	spent[SpentUnknown] += rest - here
	return waited + rest + drained(spent, m)
}

// drained adds the time of a drain that is part of the observation, during which all connections wait, and returns
// it. It is the data files' as far as these were written in it.
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

// onProcessors returns the time of computing, with the wait for a processor.
func onProcessors(m filewise.Measure, computed float64) float64 {
	if waited, ok := queued(m); ok {
		return computed + waited
	}
	busy, _ := probe.Find(m.Deltas, "cpu", probe.BusyShare)
	return computed / max(1-busy/100, 0.01)
}

// Most returns the part that took most of the time.
func (r Relevance) Most() string {
	if len(r.Shares) == 0 {
		return SpentUnknown
	}
	return r.Shares[0].On
}

// Tells reports whether the run has a result about files.
func (r Relevance) Tells() bool { return r.Files >= leastTold }

// LeastSaid is the part of the time below which what it went on is not named.
const LeastSaid = 0.005

// NameOf returns a part of the connections' time as people read it.
func NameOf(on string) string {
	switch on {
	case SpentCPU:
		return "CPU"
	case SpentUnknown:
		return "unexplained"
	}
	return on
}

// Words are the sentence: about names the layouts' difference, such as "data files"; why are further reasons for
// which the run shows little of it, and remedy is the option that would make it show more (both may be empty).
func (r Relevance) Words(about string, why []string, remedy string) string {
	var parts []string
	for _, s := range r.Shares {
		if s.Part >= LeastSaid || s.On == about {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", NameOf(s.On), 100*s.Part))
		}
	}
	out := "Connection time: " + strings.Join(parts, ", ")
	switch {
	case r.Files >= wellTold:
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
