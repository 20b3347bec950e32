package experiment

import (
	"testing"

	"filewise"
)

// Over the turns of an interleaved block counters add up, shares are means, a wait that is
// absent in a turn is zero there, and any other counter is absent.
func TestAddedUp(t *testing.T) {
	d := func(probe, name, unit string, v float64, class filewise.WaitClass) filewise.Delta {
		return filewise.Delta{Probe: probe, Name: name, Unit: unit, Value: v, Class: class}
	}
	got := map[string]float64{}
	for _, x := range addedUp([]filewise.Measure{
		{Deltas: []filewise.Delta{d("cpu", "busy share", "%", 40, ""), d("memory", "dirty", "B", 10, ""), d("disk", "writes", "requests", 5, ""),
			d("waits", "row", "s", 1, filewise.WaitLock), d("disk", "gone", "B", 1, "")}},
		{Deltas: []filewise.Delta{d("cpu", "busy share", "%", 60, ""), d("memory", "dirty", "B", 30, ""),
			d("disk", "writes", "requests", 7, "")}},
	}) {
		got[x.Name] = x.Value
	}
	if len(got) != 4 || got["busy share"] != 50 || got["dirty"] != 20 || got["writes"] != 12 || got["row"] != 1 {
		t.Errorf("%v", got)
	}
}
