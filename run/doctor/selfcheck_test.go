package doctor

import (
	"testing"
	"time"

	"filewise"
)

// A trial without any work has tried nothing, whatever its state.
// First contact: fault 6.
func TestNoWorkIsNoSuccess(t *testing.T) {
	for work, want := range map[float64]filewise.Status{0: filewise.StatusFailed, 1: filewise.StatusOK} {
		var got []filewise.Finding
		c := &selfCheck{record: newRecorder(""), report: func(f filewise.Finding) { got = append(got, f) }}
		c.trial("inserts", filewise.Trial{State: filewise.Done, Measures: []filewise.Measure{
			{Operation: "inserts", Unit: "rows", Work: work, Window: [2]time.Duration{0, window}}}})
		if len(got) != 1 || got[0].Status != want {
			t.Errorf("%v rows: %+v, want %s", work, got, want)
		}
	}
}
