package probe

import (
	"fmt"
	"math"

	"filewise"
)

// Absence is a counter for which no delta can be given, and why.
type Absence struct {
	Probe  string `json:"probe"`
	Name   string `json:"name"` // empty: the whole probe
	Reason string `json:"reason"`
}

// Deltas pairs two readings of one probe by the names of counters, in the order
// of the later reading. What is only in one of them, or went backwards because it
// was reset or wrapped, is absent, with the reason.
func Deltas(probe string, before, after []filewise.Counter) ([]filewise.Delta, []Absence) {
	earlier := make(map[string]filewise.Counter, len(before))
	for _, c := range before {
		earlier[c.Name] = c
	}
	var deltas []filewise.Delta
	var absent []Absence
	seen := make(map[string]bool, len(after))
	for _, c := range after {
		if seen[c.Name] {
			continue
		}
		seen[c.Name] = true
		b, ok := earlier[c.Name]
		if reason := unusable(b, c, ok); reason != "" {
			absent = append(absent, Absence{probe, c.Name, reason})
			continue
		}
		deltas = append(deltas, filewise.Delta{Probe: probe, Name: c.Name, Unit: c.Unit, Value: c.Value - b.Value})
	}
	for _, c := range before {
		if !seen[c.Name] {
			seen[c.Name] = true
			absent = append(absent, Absence{probe, c.Name, "not in the reading at the window's end"})
		}
	}
	return deltas, absent
}

func unusable(before, after filewise.Counter, paired bool) string {
	switch d := after.Value - before.Value; {
	case !paired:
		return "not in the reading at the window's start"
	case before.Unit != after.Unit:
		return fmt.Sprintf("its unit changed from %q to %q", before.Unit, after.Unit)
	case math.IsNaN(d) || math.IsInf(d, 0):
		return "not a number"
	case d < 0:
		return fmt.Sprintf("it went backwards, from %.0f to %.0f: reset or wrapped", before.Value, after.Value)
	}
	return ""
}
