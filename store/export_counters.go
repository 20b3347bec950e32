package store

import (
	"io"

	"filewise"
)

// CounterRow is a row of ExportParquetCounters and ExportCSVCounters: one for each
// counter of each trial and family, over its measured window.
type CounterRow struct {
	Run     int64    `parquet:"run"`
	Block   int32    `parquet:"block"`
	Layout  string   `parquet:"layout,dict"`
	Attempt int32    `parquet:"attempt"`
	Pilot   bool     `parquet:"pilot"`
	State   string   `parquet:"state,dict"`
	Family  string   `parquet:"family,dict"`
	Probe   string   `parquet:"probe,dict"`
	Name    string   `parquet:"name,dict"`
	Unit    string   `parquet:"unit,dict"`
	Class   *string  `parquet:"class,dict,optional"` // of a wait
	File    *string  `parquet:"file,dict,optional"`  // of one file
	Value   *float64 `parquet:"value,optional"`
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
			row.Family = m.Family
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

// some is a text that is absent when it is empty.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
