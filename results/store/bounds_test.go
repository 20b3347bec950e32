package store

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/experiment"
)

// A value that no measurement or option can have given is named.
func TestInBounds(t *testing.T) {
	fine := filewise.Trial{Elapsed: time.Hour, Measures: []filewise.Measure{{Work: math.NaN(), Slices: []int64{mostCount}}}}
	if err := inBounds(reflect.ValueOf([]filewise.Trial{fine}), "trials"); err != nil {
		t.Error(err)
	}
	for field, alter := range map[string]func(*filewise.Trial){
		"elapsed":          func(t *filewise.Trial) { t.Elapsed = math.MaxInt64 },
		"trials":           func(t *filewise.Trial) { t.Elapsed = math.MinInt64 },
		"measures.slices":  func(t *filewise.Trial) { t.Measures[0].Slices = []int64{math.MinInt64} },
		"measures.work":    func(t *filewise.Trial) { t.Measures[0].Work = math.Inf(1) },
		"measures.turns":   func(t *filewise.Trial) { t.Measures[0].Turns = []float64{1, -1e300} },
		"measures.window":  func(t *filewise.Trial) { t.Measures[0].Window[1] = mostTime + 1 },
		"measures.offered": func(t *filewise.Trial) { t.Measures[0].Window[0] = -mostTime - 1 },
	} {
		bad := fine
		bad.Measures = []filewise.Measure{fine.Measures[0]}
		alter(&bad)
		err := inBounds(reflect.ValueOf([]filewise.Trial{bad}), "trials")
		if err == nil || !strings.HasPrefix(err.Error(), "trials.") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A store in which a trial is of a block that no plan has is refused: nothing counts up to it.
func TestBlockOfAStore(t *testing.T) {
	for _, block := range []int64{math.MaxInt64, math.MaxInt64 - 1, mostOf + 1} {
		s := openNew(t)
		id, err := s.CreateRun(t.Context(), Run{Plan: samplePlan()})
		must(t, err)
		must(t, s.Recorder(id).Record(t.Context(), filewise.Trial{Cell: filewise.Cell{Layout: "1 file", Attempt: 1}, State: filewise.Done,
			Started: time.Now()}))
		_, err = s.db.ExecContext(t.Context(), "UPDATE trials SET block = ?", block)
		must(t, err)
		if _, err := s.Trials(t.Context(), id); filewise.CodeOf(err) != filewise.CodeStore {
			t.Errorf("block %d: %v", block, err)
		}
	}
}

// Files of a layout are gone through one by one.
func TestFilesAreBounded(t *testing.T) {
	for files, fits := range map[int]bool{1: true, 32767: true, -1: false, 1 << 40: false} {
		for _, l := range []filewise.Layout{{Data: filewise.Spread{Files: files}}, {Temp: filewise.Spread{Files: files}},
			{Backup: filewise.Spread{Files: files}}} {
			if err := bounded(experiment.Plan{Layouts: []filewise.Layout{l}}); (err == nil) != fits {
				t.Errorf("%+v: %v", l, err)
			}
		}
	}
}
