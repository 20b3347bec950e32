package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"filewise"
)

// Another reader finds in Parquet what was measured; what is absent is null.
func TestExportParquet(t *testing.T) {
	run, trials := sampleRun(), []filewise.Trial{sampleTrial(1), sampleTrial(2),
		{Cell: filewise.Cell{Layout: "4 files", Block: 3}, State: filewise.Failed, Reason: "r"}}
	trials[1].Measures[0].Work = math.NaN()
	var out bytes.Buffer
	must(t, ExportParquet(&out, run, trials))
	rows, err := parquet.Read[TrialRow](bytes.NewReader(out.Bytes()), int64(out.Len()))
	must(t, err)
	if len(rows) != len(trials[0].Measures)+len(trials[1].Measures)+1 {
		t.Fatalf("%d rows", len(rows))
	}
	m, first := trials[0].Measures[0], rows[0]
	if first.Run != run.ID || *first.Operation != m.Operation || *first.Work != m.Work || *first.Throughput != m.Throughput() ||
		!first.Started.Equal(trials[0].Started.Truncate(time.Microsecond)) ||
		*first.Window != (m.Window[1]-m.Window[0]).Seconds() {
		t.Errorf("%+v", first)
	}
	if x := rows[len(trials[0].Measures)]; x.Work != nil || x.Throughput != nil {
		t.Errorf("no number is %v, %v", x.Work, x.Throughput)
	}
	if x := rows[len(rows)-1]; x.Operation != nil || x.Work != nil || x.Throughput != nil || x.Reason != "r" || x.Block != 3 {
		t.Errorf("%+v", x)
	}
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	must(t, err)
	if v, ok := f.Lookup("filewise.format"); !ok || v != ExportFormat {
		t.Errorf("metadata %q", v)
	}
	var names []string
	for _, c := range f.Schema().Columns() {
		names = append(names, c[0])
	}
	// Python's datetime holds no nanoseconds: pyarrow refuses to give them.
	if started, ok := f.Schema().Lookup("started"); !ok || !strings.Contains(started.Node.Type().String(), "MICROS") {
		t.Errorf("started is %v", started.Node)
	}
	if fmt.Sprint(names) != fmt.Sprint(csvHeader) {
		t.Errorf("columns %v, in CSV %v", names, csvHeader)
	}
}

// All slices are there, in order, also more than are written at once.
func TestExportParquetSlices(t *testing.T) {
	trial := sampleTrial(1)
	m := &trial.Measures[0]
	m.Slices = make([]int64, 3*rowsAtOnce+7)
	for i := range m.Slices {
		m.Slices[i] = int64(i * i)
	}
	trial.Measures = trial.Measures[:1]
	var out bytes.Buffer
	must(t, ExportParquetSlices(&out, sampleRun(), []filewise.Trial{trial}))
	rows, err := parquet.Read[SliceRow](bytes.NewReader(out.Bytes()), int64(out.Len()))
	must(t, err)
	if len(rows) != len(m.Slices) {
		t.Fatalf("%d rows of %d slices", len(rows), len(m.Slices))
	}
	inside := 0
	for i, r := range rows {
		if r.Work != m.Slices[i] || r.Slice != int32(i) || r.Length != m.SliceLength.Seconds() {
			t.Fatalf("row %d is %+v", i, r)
		}
		if r.InWindow {
			inside++
		}
	}
	if want := int((m.Window[1] - m.Window[0]) / m.SliceLength); inside > want || inside < want-1 {
		t.Errorf("%d slices in a window of %d", inside, want)
	}
}

// The schema accepts what is exported, and nothing that lacks a field, has another
// one, or one of another type.
func TestExportJSONSchema(t *testing.T) {
	var text bytes.Buffer
	must(t, ExportJSONSchema(&text))
	doc, err := jsonschema.UnmarshalJSON(&text)
	must(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	must(t, compiler.AddResource("export.json", doc))
	schema, err := compiler.Compile("export.json")
	must(t, err)

	odd := sampleTrial(2)
	odd.Measures[0].Work, odd.Measures[0].Slices = math.NaN(), nil
	imported := sampleRun()
	imported.Origin = &Origin{ID: 1}
	running := sampleRun()
	running.State, running.Ended, running.Ending, running.Machine = Running, nil, "", nil
	for _, run := range []Run{sampleRun(), imported, running} {
		must(t, schema.Validate(value(t, run, sampleTrial(1), odd, filewise.Trial{State: filewise.Failed})))
	}
	whole := value(t, sampleRun(), sampleTrial(1))
	n := 0
	damage(whole, "", func(where string) {
		n++
		if schema.Validate(whole) == nil {
			t.Errorf("the schema accepts it with another %s", where)
		}
	})
	if n < 120 {
		t.Errorf("only %d damages were tried", n)
	}
}

func value(t *testing.T, run Run, trials ...filewise.Trial) any {
	t.Helper()
	var out bytes.Buffer
	must(t, ExportJSON(&out, run, trials))
	v, err := jsonschema.UnmarshalJSON(&out)
	must(t, err)
	return v
}

// damage calls try with every field given another type, and every object another
// field, one at a time. Maps whose keys are data take any.
func damage(v any, where string, try func(where string)) {
	switch v := v.(type) {
	case map[string]any:
		_, data := map[string]bool{"settings": true, "errors": true, "types": true, "options": true,
			"secrets": true}[where[max(0, lastDot(where)):]]
		if !data {
			v["novelty"] = "x"
			try(where + ".novelty")
			delete(v, "novelty")
		}
		for name, old := range v {
			switch old.(type) {
			case string, bool, json.Number, []any, nil:
				v[name] = map[string]any{"other": "type"}
				try(where + "." + name)
				v[name] = old
			}
			damage(old, where+"."+name, try)
		}
	case []any:
		for i := range v {
			damage(v[i], fmt.Sprintf("%s.%d", where, i), try)
		}
	}
}

func lastDot(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return i + 1
		}
	}
	return 0
}
