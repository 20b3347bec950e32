package probes

import (
	"context"

	"filewise"
)

// written returns what the server has written in total, as far as this release counts it. Except for temporary files,
// it covers the whole server. For the log it counts the inserted bytes: WAL pages that are written again as they fill
// are not counted twice.
func (s Server) written(ctx context.Context) ([]filewise.Counter, error) {
	var all []filewise.Counter
	add := func(name string, bytes float64, ok bool) {
		if ok {
			all = append(all, filewise.Counter{Name: name, Unit: "B", Value: bytes})
		}
	}
	data, ok, err := s.dataWritten(ctx)
	if err != nil {
		return nil, err
	}
	add(filewise.WrittenData, data, ok)
	if s.Version >= versionWAL {
		wal, err := ReadView(ctx, s.Link, "pg_stat_wal", "")
		if err != nil {
			return nil, err
		}
		bytes, ok := wal["wal_bytes"].(float64)
		add(filewise.WrittenLog, bytes, ok)
	}
	database, err := ReadView(ctx, s.Link, "pg_stat_database", " WHERE datname = current_database()")
	if err != nil {
		return nil, err
	}
	temp, ok := database["temp_bytes"].(float64)
	add(filewise.WrittenTemp, temp, ok)
	return all, nil
}

// versionWAL is the first release with pg_stat_wal, and versionCheckpointer the first with pg_stat_checkpointer.
const (
	versionWAL          = 140000
	versionCheckpointer = 170000
)

// dataWritten returns the bytes written to tables and indexes. Since PostgreSQL 16 they include extensions of files;
// before, pages are counted.
func (s Server) dataWritten(ctx context.Context) (bytes float64, ok bool, err error) {
	if s.Version >= versionIO {
		t, err := readIO(ctx, s.Link)
		if err != nil {
			return 0, false, err
		}
		for _, c := range t.of(func(r ioRow) bool { return r.is("object", "relation") }) {
			if c.Name == filewise.FileBytes {
				return c.Value, true, nil
			}
		}
		return 0, false, nil
	}
	writer, err := ReadView(ctx, s.Link, "pg_stat_bgwriter", "")
	if err != nil {
		return 0, false, err
	}
	var block float64
	if err := s.Link.Scan(ctx, "SELECT current_setting('block_size')::float8", nil, &block); err != nil {
		return 0, false, err
	}
	for _, column := range []string{"buffers_checkpoint", "buffers_clean", "buffers_backend"} {
		pages, known := writer[column].(float64)
		if !known {
			return 0, false, nil
		}
		bytes += pages * block
	}
	return bytes, true, nil
}

// checkpoints returns the number of the server's checkpoints. Before PostgreSQL 18 it includes scheduled checkpoints
// that found nothing to do.
func (s Server) checkpoints(ctx context.Context) ([]filewise.Counter, error) {
	view := "pg_stat_bgwriter"
	if s.Version >= versionCheckpointer {
		view = "pg_stat_checkpointer"
	}
	values, err := ReadView(ctx, s.Link, view, "")
	if err != nil {
		return nil, err
	}
	n, ok := checkpointsIn(values)
	if !ok {
		return nil, nil
	}
	return []filewise.Counter{{Name: filewise.CheckpointCycles, Unit: "cycles", Value: n}}, nil
}

// checkpointsIn sums the columns that the release has.
func checkpointsIn(values map[string]any) (n float64, ok bool) {
	for _, columns := range [][]string{{"num_done"}, {"num_timed", "num_requested"}, {"checkpoints_timed", "checkpoints_req"}} {
		n, ok = 0, true
		for _, c := range columns {
			x, known := values[c].(float64)
			n, ok = n+x, ok && known
		}
		if ok {
			return n, true
		}
	}
	return 0, false
}
