package store

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"filewise"
)

// Both formats have a row for every counter, in order; what is absent is null, or
// empty.
func TestExportCounters(t *testing.T) {
	trial := sampleTrial(1)
	trial.Measures = trial.Measures[:1]
	trial.Measures[0].Deltas = []filewise.Delta{
		{Probe: filewise.ProbeWaits, Name: "row, \"locks\"", Unit: "s", Class: filewise.WaitLock, Value: 0.125},
		{Probe: filewise.ProbeFiles, Name: filewise.FileBytes, Unit: "B", File: "/v/a.db", Value: 1e9},
		{Probe: filewise.ProbeWritten, Name: filewise.WrittenLog, Unit: filewise.UnitPerByte, Value: math.NaN()},
	}
	run, trials := sampleRun(), []filewise.Trial{trial, {State: filewise.Failed}}
	var out bytes.Buffer
	must(t, ExportParquetCounters(&out, run, trials))
	rows, err := parquet.Read[CounterRow](bytes.NewReader(out.Bytes()), int64(out.Len()))
	must(t, err)
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	if r := rows[0]; r.Run != run.ID || r.Operation != trial.Measures[0].Operation || r.Probe != "waits" || r.Class == nil ||
		*r.Class != "lock" || r.File != nil || *r.Value != 0.125 {
		t.Errorf("%+v", r)
	}
	if r := rows[1]; r.Class != nil || r.File == nil || *r.File != "/v/a.db" || *r.Value != 1e9 {
		t.Errorf("%+v", r)
	}
	if rows[2].Value != nil {
		t.Errorf("no number is %v", *rows[2].Value)
	}

	out.Reset()
	must(t, ExportCSVCounters(&out, run, trials))
	lines, err := csv.NewReader(&out).ReadAll()
	must(t, err)
	if len(lines) != 4 || strings.Join(lines[1][7:], "|") != "waits|row, \"locks\"|s|lock||0.125" ||
		strings.Join(lines[2][7:], "|") != "files|bytes written|B||/v/a.db|1000000000" || lines[3][12] != "" {
		t.Errorf("%q", lines)
	}
}
