package store

import (
	"io"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"filewise"
	"filewise/lab/experiment"
)

// TrialRow is a row of ExportParquet and ExportCSV. There is one for each trial and operation, and one for the mean of all
// operations if the run has it. A trial that measured nothing has one row. From the last columns, judge computes the
// stored verdict again. Throughput is in units per second, window_s is the length of the measured window, and times are
// in seconds. Absent values are null.
type TrialRow struct {
	Run        int64     `parquet:"run"`
	Block      int32     `parquet:"block"`
	Position   int32     `parquet:"position"`
	Layout     string    `parquet:"layout,dict"`
	Attempt    int32     `parquet:"attempt"`
	Pilot      bool      `parquet:"pilot"`
	State      string    `parquet:"state,dict"`
	Reason     string    `parquet:"reason"`
	Operation  *string   `parquet:"family,dict,optional"`
	Throughput *float64  `parquet:"throughput,optional"`
	Unit       *string   `parquet:"unit,dict,optional"`
	Work       *float64  `parquet:"work,optional"`
	Window     *float64  `parquet:"window_s,optional"`
	Tail       *float64  `parquet:"tail_s,optional"`
	Sync       *float64  `parquet:"sync_s,optional"`
	Elapsed    float64   `parquet:"elapsed_s"`
	Build      string    `parquet:"instance,dict"`
	Started    time.Time `parquet:"started,timestamp(microsecond)"`
	Operations *int64    `parquet:"operations,optional"`
	P50        *float64  `parquet:"p50_s,optional"`
	P99        *float64  `parquet:"p99_s,optional"`
	P999       *float64  `parquet:"p999_s,optional"`
	JudgedBy
	RestWork *float64 `parquet:"rest_work,optional"`
	RestTime *float64 `parquet:"rest_s,optional"`
}

// SliceRow is a row of ExportParquetSlices: one for each slice of each trial and
// operation.
type SliceRow struct {
	Run       int64  `parquet:"run"`
	Block     int32  `parquet:"block"`
	Layout    string `parquet:"layout,dict"`
	Attempt   int32  `parquet:"attempt"`
	Pilot     bool   `parquet:"pilot"`
	State     string `parquet:"state,dict"`
	Operation string `parquet:"family,dict"`
	Unit      string `parquet:"unit,dict"`
	// Slice counts from 0. Start is the slice's beginning, from the start of the warm-up, and Length its length, both in
	// seconds.
	Slice    int32   `parquet:"slice"`
	Start    float64 `parquet:"start_s"`
	Length   float64 `parquet:"length_s"`
	InWindow bool    `parquet:"in_window"` // the whole slice lies in the window
	Work     int64   `parquet:"work"`
}

// ExportParquet writes the trials as one Parquet file.
func ExportParquet(w io.Writer, run Run, trials []filewise.Trial) error {
	return writeParquet(w, run, func(add func(TrialRow) error) error { return trialRows(run, trials, add) })
}

func trialRows(run Run, trials []filewise.Trial, add func(TrialRow) error) error {
	samples := samplesOf(run, trials)
	for _, t := range trials {
		row := TrialRow{Run: run.ID, Block: int32(t.Cell.Block), Position: int32(t.Cell.Position), Layout: t.Cell.Layout,
			Attempt: int32(t.Cell.Attempt), Pilot: t.Cell.Pilot, State: string(t.State), Reason: t.Reason,
			Elapsed: t.Elapsed.Seconds(), Build: t.Build, Started: t.Started.UTC()}
		if len(t.Measures) == 0 {
			row.JudgedBy = judgedBy(samples, run.Plan, t, "")
			if err := add(row); err != nil {
				return err
			}
		}
		for _, m := range t.Measures {
			row.JudgedBy = judgedBy(samples, run.Plan, t, m.Operation)
			if err := add(withMeasure(row, t, m)); err != nil {
				return err
			}
		}
		if m, ok := run.Plan.OverallMeasure(t); ok {
			row.JudgedBy = judgedBy(samples, run.Plan, t, m.Operation)
			row := withMeasure(row, t, m)
			row.Work, row.Window, row.Tail, row.Sync = nil, nil, nil, nil // the mean of several measures has none of these
			if err := add(row); err != nil {
				return err
			}
		}
	}
	return nil
}

func withMeasure(row TrialRow, t filewise.Trial, m filewise.Measure) TrialRow {
	row.Operation, row.Unit, row.Work = &m.Operation, &m.Unit, finite(m.Work)
	if x, ok := throughput(t, m); ok {
		row.Throughput = finite(x)
	}
	window, tail, sync := (m.Window[1] - m.Window[0]).Seconds(), m.Tail.Seconds(), m.Sync.Seconds()
	row.Window, row.Tail, row.Sync = &window, &tail, &sync
	if m.Rest != nil {
		took := m.Rest.Time.Seconds()
		row.RestWork, row.RestTime = finite(m.Rest.Work), &took
	}
	if l, err := experiment.LatencyOf(m); err == nil && l.Count > 0 {
		p50, p99, p999 := l.P50.Seconds(), l.P99.Seconds(), l.P999.Seconds()
		row.Operations, row.P50, row.P99, row.P999 = &l.Count, &p50, &p99, &p999
	}
	return row
}

// ExportParquetSlices writes the slices of all trials as one Parquet file.
func ExportParquetSlices(w io.Writer, run Run, trials []filewise.Trial) error {
	return writeParquet(w, run, func(add func(SliceRow) error) error {
		for _, t := range trials {
			for _, m := range t.Measures {
				for i, work := range m.Slices {
					from := time.Duration(i) * m.SliceLength
					err := add(SliceRow{Run: run.ID, Block: int32(t.Cell.Block), Layout: t.Cell.Layout, Attempt: int32(t.Cell.Attempt),
						Pilot: t.Cell.Pilot, State: string(t.State), Operation: m.Operation, Unit: m.Unit,
						Slice: int32(i), Start: from.Seconds(), Length: m.SliceLength.Seconds(),
						InWindow: from >= m.Window[0] && from+m.SliceLength <= m.Window[1], Work: work})
					if err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// rowsAtOnce is the number of rows that the writer gets at a time.
const rowsAtOnce = 1024

// writeParquet writes rows, compressed with Snappy, which every reader supports. The file's metadata name the contents.
func writeParquet[T any](w io.Writer, run Run, rows func(add func(T) error) error) error {
	out := parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Snappy),
		parquet.KeyValueMetadata("filewise.format", ExportFormat), parquet.KeyValueMetadata("filewise.schema", strconv.Itoa(ExportSchema)),
		parquet.KeyValueMetadata("filewise.version", run.Version), parquet.KeyValueMetadata("filewise.scenario", run.Plan.Scenario),
		parquet.KeyValueMetadata("filewise.engine", run.Plan.Target.Engine))
	batch := make([]T, 0, rowsAtOnce)
	flush := func() error {
		_, err := out.Write(batch)
		batch = batch[:0]
		return err
	}
	err := rows(func(row T) error {
		if batch = append(batch, row); len(batch) < rowsAtOnce {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	return out.Close()
}
