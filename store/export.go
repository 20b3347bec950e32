package store

import (
	"encoding/json"
	"io"
	"math"

	"filewise"
)

// ExportFormat and ExportSchema head every JSON export. The schema's number
// grows when a field changes its meaning or goes; new fields may come without.
// EXPORT.md describes every field.
const (
	ExportFormat = "filewise-run"
	ExportSchema = 1
)

// exported is the whole of a run. Durations are integers in nanoseconds, with
// names ending in _ns; histograms are base64.
type exported struct {
	Format string          `json:"format"`
	Schema int             `json:"schema"`
	Run    Run             `json:"run"`
	Trials []exportedTrial `json:"trials"`
}

// The exported types differ from the stored ones in that a number that is none
// is null: JSON has no NaN.
type exportedTrial struct {
	filewise.Trial
	Measures []exportedMeasure `json:"measures"`
}

type exportedMeasure struct {
	filewise.Measure
	Work       *float64        `json:"work"`
	Bytes      *float64        `json:"bytes"`
	Throughput *float64        `json:"throughput_per_s"`
	Deltas     []exportedDelta `json:"deltas,omitempty"`
}

type exportedDelta struct {
	filewise.Delta
	Value *float64 `json:"value"`
}

// ExportJSON writes a run and its trials with all slices, as EXPORT.md says.
func ExportJSON(w io.Writer, run Run, trials []filewise.Trial) error {
	e := exported{Format: ExportFormat, Schema: ExportSchema, Run: run, Trials: make([]exportedTrial, len(trials))}
	for i, t := range trials {
		e.Trials[i] = exportTrial(t)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(e)
}

func exportTrial(t filewise.Trial) exportedTrial {
	out := exportedTrial{Trial: t, Measures: make([]exportedMeasure, len(t.Measures))}
	for i, m := range t.Measures {
		e := exportedMeasure{Measure: m, Work: finite(m.Work), Bytes: finite(m.Bytes)}
		if x, ok := throughput(t, m); ok {
			e.Throughput = finite(x)
		}
		for _, d := range m.Deltas {
			e.Deltas = append(e.Deltas, exportedDelta{d, finite(d.Value)})
		}
		out.Measures[i] = e
	}
	return out
}

// throughput is absent for a trial that failed or measured nothing.
func throughput(t filewise.Trial, m filewise.Measure) (float64, bool) {
	x := m.Throughput()
	return x, t.State == filewise.Done && x > 0
}

func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
