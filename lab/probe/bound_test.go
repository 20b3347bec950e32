package probe

import (
	"strings"
	"testing"

	"filewise"
)

// A machine that is busy with something else is not one on which the work is CPU-bound; if it is not known whose work
// it was, it counts as ours.
func TestWhoseProcessorsWereBusy(t *testing.T) {
	cpu := func(user, idle float64) []filewise.Delta {
		var all []filewise.Delta
		for _, name := range cpuTimes {
			v := map[string]float64{"user": user, "idle": idle}[name]
			all = append(all, filewise.Delta{Probe: "cpu", Name: name, Unit: "s", Value: v})
		}
		return all
	}
	of := func(probe string, seconds float64) []filewise.Delta {
		return []filewise.Delta{{Probe: probe, Name: "user", Unit: "s", Value: seconds}, {Probe: probe, Name: "system", Unit: "s"}}
	}
	for name, x := range map[string]struct {
		deltas   [][]filewise.Delta
		embedded bool
		want     string // codes
	}{
		"idle":                  {[][]filewise.Delta{cpu(20, 80), of("process", 20)}, true, ""},
		"own":                   {[][]filewise.Delta{cpu(95, 5), of("process", 90)}, true, ""},
		"server":                {[][]filewise.Delta{cpu(95, 5), of("process", 10), of(filewise.ProbeServer, 75)}, false, ""},
		"others":                {[][]filewise.Delta{cpu(95, 5), of("process", 10), of(filewise.ProbeServer, 5)}, false, WarnOthers},
		"server that is hidden": {[][]filewise.Delta{cpu(95, 5), of("process", 10)}, false, ""},
		"both":                  {[][]filewise.Delta{cpu(95, 5), of("process", 60)}, true, WarnOthers},
	} {
		var deltas []filewise.Delta
		for _, d := range x.deltas {
			deltas = append(deltas, d...)
		}
		deltas = derive(deltas, 0)
		deltas = append(deltas, own(deltas, x.embedded)...)
		var codes []string
		for _, w := range Warnings(deltas) {
			codes = append(codes, w.Code)
		}
		if got := strings.Join(codes, " "); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
