package probes

import (
	"encoding/json"
	"testing"

	"filewise"
)

// Bytes are counted before PostgreSQL 18 as after it, times only if they are measured,
// and what no row has is no counter.
func TestIOTable(t *testing.T) {
	for release, text := range map[string]string{
		"16": `{"timed": true, "rows": [
			{"backend_type": "client backend", "object": "relation", "op_bytes": 8192, "reads": 2, "read_time": 500, "writes": 1, "extends": 3,
			 "fsyncs": null},
			{"backend_type": "checkpointer", "object": "relation", "op_bytes": 8192, "reads": null, "writes": 4}]}`,
		"18": `{"timed": true, "rows": [
			{"backend_type": "client backend", "object": "relation", "reads": 2, "read_bytes": 16384, "read_time": 500, "writes": 1,
			 "write_bytes": 8192, "extends": 3, "extend_bytes": 24576, "fsyncs": null},
			{"backend_type": "checkpointer", "object": "relation", "reads": null, "writes": 4, "write_bytes": 32768},
			{"backend_type": "client backend", "object": "wal", "writes": 100, "write_bytes": 100, "write_time": 7}]}`,
	} {
		var table ioTable
		if err := json.Unmarshal([]byte(text), &table); err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, c := range table.of(func(r ioRow) bool { return r.is("object", "relation") }) {
			got[c.Name] = c.Value
		}
		want := map[string]float64{filewise.FileReads: 2, filewise.FileBytesRead: 16384, filewise.FileReadTime: 0.5, filewise.FileWrites: 8,
			filewise.FileBytes: 65536}
		for name, x := range want {
			if got[name] != x {
				t.Errorf("PostgreSQL %s: %s is %v, want %v", release, name, got[name], x)
			}
		}
		if len(got) != len(want) {
			t.Errorf("PostgreSQL %s: %v", release, got)
		}
		for _, c := range table.of(func(r ioRow) bool { return r.is("object", "wal") }) {
			if c.Unit == "s" {
				t.Errorf("PostgreSQL %s: the log's times are not measured: %+v", release, c)
			}
		}
	}
}
