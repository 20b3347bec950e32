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

// key tells the counters of a probe apart. An event of a wait has a time and a number.
type key struct{ name, file, wait string }

func keyOf(c filewise.Counter) key {
	k := key{name: c.Name, file: c.File}
	if c.Class != "" {
		k.wait = c.Unit
	}
	return k
}

// Deltas pairs two readings of one probe by the names of counters, in the order
// of the later reading. What is only in one of them, or went backwards because it
// was reset or wrapped, is absent, with the reason.
func Deltas(probe string, before, after []filewise.Counter) ([]filewise.Delta, []Absence) {
	earlier := make(map[key]filewise.Counter, len(before))
	for _, c := range before {
		earlier[keyOf(c)] = c
	}
	var deltas []filewise.Delta
	var absent []Absence
	seen := make(map[key]bool, len(after))
	for _, c := range after {
		k := keyOf(c)
		if seen[k] {
			continue
		}
		seen[k] = true
		b, ok := earlier[k]
		if !ok && c.Class != "" && filewise.OfWaits(probe) {
			b, ok = filewise.Counter{Unit: c.Unit}, true
		}
		if reason := unusable(b, c, ok); reason != "" {
			absent = append(absent, Absence{probe, label(c), reason})
			continue
		}
		deltas = append(deltas, filewise.Delta{Probe: probe, Name: c.Name, Unit: c.Unit, Value: c.Value - b.Value, Class: c.Class, File: c.File})
	}
	for _, c := range before {
		if k := keyOf(c); !seen[k] {
			seen[k] = true
			absent = append(absent, Absence{probe, label(c), "not in the reading at the window's end"})
		}
	}
	return deltas, absent
}

// label names a counter, with its file.
func label(c filewise.Counter) string {
	if c.File != "" {
		return c.File + " " + c.Name
	}
	return c.Name
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
