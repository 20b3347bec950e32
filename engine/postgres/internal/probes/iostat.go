package probes

import (
	"context"
	"encoding/json"

	"filewise"
	"filewise/engine/postgres/client"
)

// versionIO is the first release with pg_stat_io.
const versionIO = 160000

// ioRow is a row of pg_stat_io, by column. Rows divide I/O by kind of process, object and context. Operations that a
// row cannot have are null. Times are in ms.
type ioRow map[string]any

func (r ioRow) is(column, value string) bool { return r[column] == value }
func (r ioRow) session() bool                { return isSession(client.Text(r["backend_type"])) }

// operations maps each column of bytes to the column that counts its operations. PostgreSQL before 18 has only the
// count, and op_bytes is the size of each operation.
var operations = map[string]string{"read_bytes": "reads", "write_bytes": "writes", "extend_bytes": "extends"}

func (r ioRow) value(column string) (x float64, known bool) {
	x, known = r[column].(float64)
	if of, bytes := operations[column]; bytes && !known {
		n, counted := r[of].(float64)
		size, sized := r["op_bytes"].(float64)
		return n * size, counted && sized
	}
	return x, known
}

// ioTable holds all of pg_stat_io.
type ioTable struct {
	Rows  []ioRow `json:"rows"`
	Timed bool    `json:"timed"` // track_io_timing
	// WALTimed is the setting track_wal_io_timing.
	WALTimed bool `json:"wal_timed"`
}

func readIO(ctx context.Context, l *client.Link) (t ioTable, err error) {
	var line string
	if err := l.Scan(ctx, queries.Text("io"), nil, &line); err != nil {
		return t, err
	}
	return t, json.Unmarshal([]byte(line), &t)
}

// ioCounters lists the counters of files with the columns that each adds up. Extending a file counts as writing.
var ioCounters = []struct {
	name, unit string
	columns    []string
}{
	{filewise.FileReads, "requests", []string{"reads"}},
	{filewise.FileBytesRead, "B", []string{"read_bytes"}},
	{filewise.FileReadTime, "s", []string{"read_time"}},
	{filewise.FileWrites, "requests", []string{"writes", "extends"}},
	{filewise.FileBytes, "B", []string{"write_bytes", "extend_bytes"}},
	{filewise.FileWriteTime, "s", []string{"write_time", "extend_time"}},
	{filewise.FileSyncs, "requests", []string{"fsyncs"}},
	{filewise.FileSyncTime, "s", []string{"fsync_time"}},
}

// of sums the rows for which want is true. A counter is absent if no row has it.
func (t ioTable) of(want func(ioRow) bool) []filewise.Counter {
	var all []filewise.Counter
	for _, c := range ioCounters {
		sum, known := 0.0, false
		for _, r := range t.Rows {
			timed := t.Timed
			if r.is("object", "wal") {
				timed = t.WALTimed
			}
			if !want(r) || c.unit == "s" && !timed {
				continue
			}
			for _, column := range c.columns {
				x, ok := r.value(column)
				sum, known = sum+x, known || ok
			}
		}
		if c.unit == "s" {
			sum /= 1000
		}
		if known {
			all = append(all, filewise.Counter{Name: c.name, Unit: c.unit, Value: sum})
		}
	}
	return all
}

// io returns the I/O in pg_stat_io of sessions, of the checkpointer and of all others on data files, and the I/O on
// temporary tables.
func (s Server) io(ctx context.Context) ([]filewise.Counter, error) {
	t, err := readIO(ctx, s.Link)
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, g := range []struct {
		prefix string
		want   func(ioRow) bool
	}{
		{"sessions: ", func(r ioRow) bool { return r.is("object", "relation") && r.session() }},
		{"checkpointer: ", func(r ioRow) bool { return r.is("object", "relation") && r.is("backend_type", "checkpointer") }},
		{"others: ", func(r ioRow) bool {
			return r.is("object", "relation") && !r.session() && !r.is("backend_type", "checkpointer")
		}},
		{"temporary tables: ", func(r ioRow) bool { return r.is("object", "temp relation") }},
	} {
		for _, c := range t.of(g.want) {
			c.Name = g.prefix + c.Name
			all = append(all, c)
		}
	}
	return all, nil
}

// isSession reports whether a kind of process works for a client.
func isSession(backend string) bool {
	return backend == "client backend" || backend == "parallel worker"
}
