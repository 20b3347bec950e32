package store

import (
	"encoding/csv"
	"io"
	"strconv"

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

// ExportCSVCounters writes the counters of all trials as ExportCSV does trials.
func ExportCSVCounters(w io.Writer, run Run, trials []filewise.Trial) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write([]string{"run", "block", "layout", "attempt", "pilot", "state", "family", "probe", "name", "unit", "class", "file", "value"}); err != nil {
		return err
	}
	err := counterRows(run, trials, func(r CounterRow) error {
		value := ""
		if r.Value != nil {
			value = number(*r.Value)
		}
		return out.Write([]string{strconv.FormatInt(r.Run, 10), strconv.Itoa(int(r.Block)), r.Layout, strconv.Itoa(int(r.Attempt)), strconv.FormatBool(r.Pilot),
			r.State, r.Family, r.Probe, r.Name, r.Unit, orEmpty(r.Class), orEmpty(r.File), value})
	})
	if err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

func counterRows(run Run, trials []filewise.Trial, add func(CounterRow) error) error {
	for _, t := range trials {
		row := CounterRow{Run: run.ID, Block: int32(t.Cell.Block), Layout: t.Cell.Layout, Attempt: int32(t.Cell.Attempt), Pilot: t.Cell.Pilot, State: string(t.State)}
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

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
