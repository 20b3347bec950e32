package experiment

import (
	"testing"
	"time"

	"filewise"
)

// What a server wrote to its files is counted in the window and in the drain; devices and calls are not. Blocks that
// measure longer than pilots write as much more.
func TestWrittenBy(t *testing.T) {
	pilot := filewise.Trial{Cell: filewise.Cell{Pilot: true}, State: filewise.Done, Measures: []filewise.Measure{{
		Window: [2]time.Duration{time.Second, 3 * time.Second},
		Deltas: []filewise.Delta{{Probe: filewise.ProbeWritten, Name: filewise.WrittenData, Value: 5},
			{Probe: filewise.ProbeWritten, Name: filewise.WrittenDevices, Value: 100}, {Probe: "disk", Name: filewise.WrittenData, Value: 100},
			{Probe: filewise.ProbeWritten, Name: filewise.WrittenCalls, Value: 100},
			{Probe: filewise.ProbeWritten, Name: filewise.WrittenLog, Value: 2}},
		Rest: &filewise.Rest{Written: map[string]float64{filewise.WrittenData: 3, filewise.WrittenDevices: 100}},
	}}}
	s := standing{history: history{trials: []filewise.Trial{pilot}}}
	s.schedule = Schedule{Turn: time.Second, Rounds: 6, MaxBlocks: 4}
	if sum, ahead := writtenBy(s.trials), s.writtenAhead(); sum != 10 || ahead != 10*3*4 {
		t.Errorf("wrote %v, ahead %v; want 10 and 120", sum, ahead)
	}
}
