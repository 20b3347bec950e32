package postgres

import (
	"context"
	"encoding/json"

	"filewise"
)

// versionIO is the release that brought pg_stat_io.
const versionIO = 160000

// ioRow is a row of pg_stat_io: I/O by kind of process, object and context. What is
// not done there is null. Times are in ms.
type ioRow struct {
	Backend string `json:"backend_type"`
	Object  string `json:"object"`

	OpBytes     *float64 `json:"op_bytes"` // of one read, write or extension; gone in PostgreSQL 18
	Reads       *float64 `json:"reads"`
	ReadBytes   *float64 `json:"read_bytes"`
	ReadTime    *float64 `json:"read_time"`
	Writes      *float64 `json:"writes"`
	WriteBytes  *float64 `json:"write_bytes"`
	WriteTime   *float64 `json:"write_time"`
	Extends     *float64 `json:"extends"`
	ExtendBytes *float64 `json:"extend_bytes"`
	ExtendTime  *float64 `json:"extend_time"`
	Syncs       *float64 `json:"fsyncs"`
	SyncTime    *float64 `json:"fsync_time"`
}

// ioTable is pg_stat_io as a whole.
type ioTable struct {
	Rows  []ioRow `json:"rows"`
	Timed bool    `json:"timed"` // track_io_timing
	// WALTimed is track_wal_io_timing.
	WALTimed bool `json:"wal_timed"`
}

const readIOTable = `
SELECT json_build_object('timed', current_setting('track_io_timing')::boolean, 'wal_timed', current_setting('track_wal_io_timing')::boolean,
       'rows', (SELECT json_agg(v) FROM pg_catalog.pg_stat_io v))::text`

func readIO(ctx context.Context, l *link) (t ioTable, err error) {
	var line string
	if err := l.scan(ctx, readIOTable, nil, &line); err != nil {
		return t, err
	}
	return t, json.Unmarshal([]byte(line), &t)
}

// sum adds up a counter; it is absent where no row has it.
type sum struct {
	value float64
	known bool
}

func (s *sum) add(x *float64, factor float64) {
	if x != nil {
		s.value, s.known = s.value+*x*factor, true
	}
}

// of adds up the rows that are wanted, under the names of the counters of files.
// Extending a file is writing.
func (t ioTable) of(want func(ioRow) bool) []filewise.Counter {
	sums := map[string]*sum{}
	for _, name := range ioNames {
		sums[name.Name] = &sum{}
	}
	for _, r := range t.Rows {
		if !want(r) {
			continue
		}
		sums[filewise.FileReads].add(r.Reads, 1)
		sums[filewise.FileWrites].add(r.Writes, 1)
		sums[filewise.FileWrites].add(r.Extends, 1)
		sums[filewise.FileSyncs].add(r.Syncs, 1)
		if r.OpBytes != nil {
			sums[filewise.FileBytesRead].add(r.Reads, *r.OpBytes)
			sums[filewise.FileBytes].add(r.Writes, *r.OpBytes)
			sums[filewise.FileBytes].add(r.Extends, *r.OpBytes)
		}
		sums[filewise.FileBytesRead].add(r.ReadBytes, 1)
		sums[filewise.FileBytes].add(r.WriteBytes, 1)
		sums[filewise.FileBytes].add(r.ExtendBytes, 1)
		if r.Object == "wal" && t.WALTimed || r.Object != "wal" && t.Timed {
			sums[filewise.FileReadTime].add(r.ReadTime, 1e-3)
			sums[filewise.FileWriteTime].add(r.WriteTime, 1e-3)
			sums[filewise.FileWriteTime].add(r.ExtendTime, 1e-3)
			sums[filewise.FileSyncTime].add(r.SyncTime, 1e-3)
		}
	}
	var all []filewise.Counter
	for _, c := range ioNames {
		if s := sums[c.Name]; s.known {
			c.Value = s.value
			all = append(all, c)
		}
	}
	return all
}

var ioNames = []filewise.Counter{
	{Name: filewise.FileReads, Unit: "requests"}, {Name: filewise.FileBytesRead, Unit: "B"}, {Name: filewise.FileReadTime, Unit: "s"},
	{Name: filewise.FileWrites, Unit: "requests"}, {Name: filewise.FileBytes, Unit: "B"}, {Name: filewise.FileWriteTime, Unit: "s"},
	{Name: filewise.FileSyncs, Unit: "requests"}, {Name: filewise.FileSyncTime, Unit: "s"},
}

// ioProbe reads pg_stat_io: who reads and writes data files, and how much goes to
// temporary ones.
type ioProbe struct{ link *link }

// Name is the probe's name in the report.
func (ioProbe) Name() string { return "postgres io" }

// Read returns what sessions, the checkpointer and all others do to data files, and
// what is done to temporary tables.
func (p ioProbe) Read(ctx context.Context) ([]filewise.Counter, error) {
	t, err := readIO(ctx, p.link)
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, g := range []struct {
		prefix string
		want   func(ioRow) bool
	}{
		{"sessions: ", func(r ioRow) bool { return r.Object == "relation" && isSession(r.Backend) }},
		{"checkpointer: ", func(r ioRow) bool { return r.Object == "relation" && r.Backend == "checkpointer" }},
		{"others: ", func(r ioRow) bool {
			return r.Object == "relation" && !isSession(r.Backend) && r.Backend != "checkpointer"
		}},
		{"temporary tables: ", func(r ioRow) bool { return r.Object == "temp relation" }},
	} {
		for _, c := range t.of(g.want) {
			c.Name = g.prefix + c.Name
			all = append(all, c)
		}
	}
	return all, nil
}

// isSession tells whether a kind of process works for a client.
func isSession(backend string) bool {
	return backend == "client backend" || backend == "parallel worker"
}
