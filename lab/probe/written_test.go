package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"filewise"
)

// What was written is split by the role of files, the engine's own counts go before, and per byte of the work's data
// it is an amplification.
func TestWritten(t *testing.T) {
	file := func(path string, bytes float64) filewise.Delta {
		return filewise.Delta{Probe: filewise.ProbeFiles, Name: filewise.FileBytes, Unit: "B", File: path, Value: bytes}
	}
	written := func(name string, v float64) filewise.Delta {
		return filewise.Delta{Probe: filewise.ProbeWritten, Name: name, Unit: "B", Value: v}
	}
	calls := filewise.Delta{Probe: filewise.ProbeServer, Name: callsWritten, Unit: "B", Value: 900}
	files := []filewise.File{{Role: filewise.RoleData, Path: "/v/a"}, {Role: filewise.RoleData, Path: "/v/b"},
		{Role: filewise.RoleLog, Path: "/log/1"}}
	m := filewise.Measure{Bytes: 100, Deltas: []filewise.Delta{
		written(filewise.WrittenDevices, 1000), file("/v/a", 200), file("/v/b", 100), file("/log/1", 40), file("/log/2", 60), file("/v/undo",
			10), calls,
		{Probe: filewise.ProbeFiles, Name: filewise.FileBytesRead, Unit: "B", File: "/v/a", Value: 7},
	}}
	got := map[string]float64{}
	for _, d := range Written(m, files, false) {
		if d.Probe != filewise.ProbeWritten {
			t.Errorf("%+v", d)
		}
		got[d.Name+", "+d.Unit] = d.Value
	}
	want := map[string]float64{
		"data files, B": 300, "log, B": 100, "other files, B": 10, "write calls, B": 900,
		"devices, B per B of data": 10, "data files, B per B of data": 3, "log, B per B of data": 1, "other files, B per B of data": 0.1,
		"write calls, B per B of data": 9,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(−want +got):\n%s", d)
	}

	m.Deltas = append(m.Deltas, written(filewise.WrittenLog, 77))
	m.Bytes = 0
	for _, d := range Written(m, files, true) {
		if d.Name == filewise.WrittenLog || d.Name == filewise.WrittenCalls || d.Unit != "B" {
			t.Errorf("what the engine has said, or nobody knows: %+v", d)
		}
	}
}
