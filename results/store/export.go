package store

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/lab/experiment"
)

// ExportFormat and ExportSchema head every JSON export. The schema's number grows if a field changes its meaning or is
// removed. New fields do not change it. EXPORT.md describes every field.
const (
	ExportFormat = "filewise-run"
	ExportSchema = 1
)

// exported is the JSON form of a whole run. Durations are integers in nanoseconds, with names that end in _ns.
// Histograms are base64.
type exported struct {
	Format string          `json:"format"`
	Schema int             `json:"schema"`
	Run    Run             `json:"run"`
	Trials []exportedTrial `json:"trials"`
}

// exportedTrial differs from filewise.Trial, like the other exported types from theirs, only in that NaN is null, since
// JSON has no NaN.
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

// ExportJSON writes a run and its trials with all slices, in the format of EXPORT.md.
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

// throughput returns a measure's throughput. It reports false if the trial failed or measured nothing.
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

// ExportCSV writes a TrialRow for each trial and operation, by RFC 4180 (lines end in CRLF).
func ExportCSV(w io.Writer, run Run, trials []filewise.Trial) error {
	return writeCSV(w, func(add func(TrialRow) error) error { return trialRows(run, trials, add) })
}

// ExportCSVCounters writes the counters of all trials in the format of ExportCSV.
func ExportCSVCounters(w io.Writer, run Run, trials []filewise.Trial) error {
	return writeCSV(w, func(add func(CounterRow) error) error { return counterRows(run, trials, add) })
}

// writeCSV writes rows below the column names that Parquet files use. Moments are RFC 3339 in UTC. An empty field means
// an absent value, never zero.
func writeCSV[T any](w io.Writer, rows func(add func(T) error) error) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	columns := slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[T]()), func(f reflect.StructField) bool { return f.Anonymous })
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i], _, _ = strings.Cut(c.Tag.Get("parquet"), ",")
	}
	err := out.Write(line)
	if err == nil {
		err = rows(func(row T) error {
			for i, c := range columns {
				line[i] = csvText(reflect.ValueOf(row).FieldByIndex(c.Index))
			}
			return out.Write(line)
		})
	}
	out.Flush()
	return errors.Join(err, out.Error())
}

func csvText(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case float64:
		return number(x)
	case time.Time:
		return x.Format(time.RFC3339Nano)
	}
	if v.Kind() == reflect.String {
		return unformulated(v.String())
	}
	return fmt.Sprint(v)
}

// unformulated returns a text that no spreadsheet takes for a formula. If the text could begin one, an apostrophe comes
// first; judge removes it again.
func unformulated(text string) string {
	if bare := strings.TrimLeft(text, "'"); bare != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(bare)[0]) {
		return "'" + text
	}
	return text
}

// number returns the shortest text that reads back as x, or nothing for NaN.
func number(x float64) string {
	if finite(x) == nil {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// JudgedBy holds how the verdict uses a trial, and the rules that judge its operation. The rules are the same in all rows
// of an operation. If a run cannot be judged, all fields are absent.
type JudgedBy struct {
	Judged       *bool    `parquet:"judged,optional"`        // true if the verdict uses it
	Order        *int32   `parquet:"order,optional"`         // place among trials that ran one by one
	LayoutNumber *int32   `parquet:"layout_number,optional"` // place in the plan, from 1
	Rank         *int32   `parquet:"rank,optional"`          // orders "fewest files"
	Twin         *string  `parquet:"twin,dict,optional"`     // the layout that this one repeats for an A/A check
	Baseline     *string  `parquet:"baseline,dict,optional"`
	MaxBlocks    *int32   `parquet:"max_blocks,optional"`
	Margin       *float64 `parquet:"margin_percent,optional"`
	Confidence   *float64 `parquet:"confidence,optional"`
	Goal         *string  `parquet:"goal,dict,optional"`
	Rules        *int32   `parquet:"rules,optional"`
	P99Limit     *float64 `parquet:"p99_limit_s,optional"` // judge can only report it, since the limit goes by all latencies
}

// samplesOf returns the tables that judge the run, or none if it cannot be judged.
func samplesOf(run Run, trials []filewise.Trial) []experiment.OperationSample {
	if len(run.Plan.Layouts) < 2 {
		return nil
	}
	samples, err := run.Plan.Samples(trials)
	if err != nil {
		return nil // the export does not depend on it
	}
	return samples
}

// judgedBy returns how a trial's measure is judged. A trial without measures is judged by the first operation. So is a
// measure of no judged operation, such as the probe before a trial.
func judgedBy(samples []experiment.OperationSample, p experiment.Plan, t filewise.Trial, operation string) (by JudgedBy) {
	if len(samples) == 0 {
		return by
	}
	s, of := samples[0], slices.IndexFunc(samples, func(x experiment.OperationSample) bool { return x.Operation == operation })
	if of >= 0 {
		s = samples[of]
	}
	for i, arm := range s.Arms {
		if arm.Name != t.Cell.Layout {
			continue
		}
		by.LayoutNumber, by.Rank, by.Twin = int32Of(i+1), int32Of(arm.Rank), some(arm.Twin)
		used := false
		if b := t.Cell.Block - 1; !t.Cell.Pilot && b >= 0 && b < len(s.Table) && t.State == filewise.Done {
			used = s.Table[b][i].OK && (of >= 0 || operation == experiment.OperationCalibration)
			if n := s.Table[b][i].Order; n > 0 {
				by.Order = int32Of(n)
			}
		}
		by.Judged = &used
	}
	confidence := s.Config.Confidence
	by.Baseline, by.MaxBlocks, by.Rules = some(s.Arms[s.Config.Baseline].Name), int32Of(s.Config.MaxBlocks), int32Of(s.Config.Rules)
	by.Margin, by.Confidence, by.Goal = &p.Margin, &confidence, some(string(s.Config.Goal))
	if p.P99Limit > 0 {
		limit := p.P99Limit.Seconds()
		by.P99Limit = &limit
	}
	return by
}

func int32Of(n int) *int32 {
	x := int32(n)
	return &x
}

// CounterRow is a row of ExportParquetCounters and ExportCSVCounters. There is one for each counter of each trial and
// operation, over the measured window.
type CounterRow struct {
	Run       int64    `parquet:"run"`
	Block     int32    `parquet:"block"`
	Layout    string   `parquet:"layout,dict"`
	Attempt   int32    `parquet:"attempt"`
	Pilot     bool     `parquet:"pilot"`
	State     string   `parquet:"state,dict"`
	Operation string   `parquet:"family,dict"`
	Probe     string   `parquet:"probe,dict"`
	Name      string   `parquet:"name,dict"`
	Unit      string   `parquet:"unit,dict"`
	Class     *string  `parquet:"class,dict,optional"` // class of a wait
	File      *string  `parquet:"file,dict,optional"`  // file that the counter is about
	Value     *float64 `parquet:"value,optional"`
}

// ExportParquetCounters writes the counters of all trials as one Parquet file.
func ExportParquetCounters(w io.Writer, run Run, trials []filewise.Trial) error {
	return writeParquet(w, run, func(add func(CounterRow) error) error { return counterRows(run, trials, add) })
}

func counterRows(run Run, trials []filewise.Trial, add func(CounterRow) error) error {
	for _, t := range trials {
		row := CounterRow{Run: run.ID, Block: int32(t.Cell.Block), Layout: t.Cell.Layout, Attempt: int32(t.Cell.Attempt), Pilot: t.Cell.Pilot,
			State: string(t.State)}
		for _, m := range t.Measures {
			row.Operation = m.Operation
			for _, d := range m.Deltas {
				row.Probe, row.Name, row.Unit, row.Value = d.Probe, d.Name, d.Unit, finite(d.Value)
				row.Class, row.File = some(string(d.Class)), some(d.File)
				if err := add(row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// some returns a pointer to the text, or nil if the text is empty.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
