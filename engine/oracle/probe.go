package oracle

import (
	"context"

	"filewise"
)

// waits returns the waits in v$system_event since the start. They are of all sessions of the instance or the pluggable
// database, others' sessions included.
func (b *build) waits(ctx context.Context) ([]filewise.Counter, error) {
	return b.systemEvents(ctx, false)
}

// background returns the waits of the server's own processes. A pluggable database does not show them.
func (b *build) background(ctx context.Context) ([]filewise.Counter, error) {
	return b.systemEvents(ctx, true)
}

// systemEvents returns the number and the time of waits, by event (Oracle Database Reference, V$SYSTEM_EVENT: the
// columns _FG are of foreground sessions).
func (b *build) systemEvents(ctx context.Context, background bool) ([]filewise.Counter, error) {
	found, err := rows(ctx, b.conn, 6, "waits", nil)
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, r := range found {
		n, ok := number(r[4])
		micro, ok2 := number(r[5])
		if background {
			all, known := number(r[2])
			time, known2 := number(r[3])
			n, micro, ok, ok2 = all-n, time-micro, ok && known, ok2 && known2
		}
		class := classOfEvent(text(r[0]), text(r[1]))
		if !ok || !ok2 || class == "" || n == 0 {
			continue
		}
		all = append(all, filewise.Counter{Name: text(r[0]), Unit: "waits", Value: float64(n), Class: class},
			filewise.Counter{Name: text(r[0]), Unit: "s", Value: float64(micro) / 1e6, Class: class})
	}
	return all, nil
}

// fileIO returns requests, bytes and times by file from v$filestat, for the data and index tablespaces. Files have the
// paths of Observe.
func (b *build) fileIO(ctx context.Context) ([]filewise.Counter, error) {
	var all []filewise.Counter
	for _, name := range b.design.tablespaces() {
		files, err := rows(ctx, b.conn, 2, "files", nil, name)
		if err != nil {
			return nil, err
		}
		paths := map[int64]string{}
		for _, r := range files {
			if id, ok := number(r[1]); ok {
				paths[id] = text(r[0])
			}
		}
		found, err := rows(ctx, b.conn, 7, "file-io", nil, name)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			id, _ := number(r[0])
			all = append(all, b.fileCounters(paths[id], r[1:])...)
		}
	}
	return all, nil
}

// fileCounters returns the counters of one file. Times are in hundredths of a second, and zero while timed_statistics
// is off.
func (b *build) fileCounters(path string, values []any) []filewise.Counter {
	block := float64(b.server.about.block)
	var all []filewise.Counter
	for i, c := range []struct {
		name, unit string
		factor     float64
	}{
		{filewise.FileReads, "requests", 1}, {filewise.FileWrites, "requests", 1},
		{filewise.FileBytesRead, "B", block}, {filewise.FileBytes, "B", block},
		{filewise.FileReadTime, "s", 0.01}, {filewise.FileWriteTime, "s", 0.01},
	} {
		if n, ok := number(values[i]); ok && path != "" {
			all = append(all, filewise.Counter{Name: c.name, Unit: c.unit, Value: float64(n) * c.factor, File: path})
		}
	}
	return all
}
