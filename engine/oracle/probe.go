package oracle

import (
	"context"

	"filewise"
)

// waitProbe reads v$system_event: waits of the whole instance, those of others
// among them, since it was started.
type waitProbe struct {
	build      *build
	background bool
}

// Name is the probe's name.
func (p waitProbe) Name() string {
	if p.background {
		return filewise.ProbeBackground
	}
	return filewise.ProbeWaits
}

// Read returns the number of waits and their time, by event. Those of Oracle's class
// System I/O are the server's own processes' (Oracle Database Reference, “Classes of
// Wait Events”).
func (p waitProbe) Read(ctx context.Context) ([]filewise.Counter, error) {
	found, err := rows(ctx, p.build.conn, 4, "waits", nil)
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, r := range found {
		n, ok := number(r[2])
		micro, ok2 := number(r[3])
		class := classOfEvent(text(r[0]), text(r[1]))
		if !ok || !ok2 || class == "" || p.background != (text(r[1]) == "System I/O") {
			continue
		}
		all = append(all, filewise.Counter{Name: text(r[0]), Unit: "waits", Value: float64(n), Class: class},
			filewise.Counter{Name: text(r[0]), Unit: "s", Value: float64(micro) / 1e6, Class: class})
	}
	return all, nil
}

// fileProbe reads v$filestat for the build's files.
type fileProbe struct{ build *build }

// Name is the probe's name.
func (fileProbe) Name() string { return filewise.ProbeFiles }

// Read returns requests, bytes and times by file, of the data and index tablespaces,
// under the paths of Observe.
func (p fileProbe) Read(ctx context.Context) ([]filewise.Counter, error) {
	var all []filewise.Counter
	for _, name := range p.build.design.tablespaces() {
		files, err := rows(ctx, p.build.conn, 2, "files", nil, name)
		if err != nil {
			return nil, err
		}
		paths := map[int64]string{}
		for _, r := range files {
			if id, ok := number(r[1]); ok {
				paths[id] = text(r[0])
			}
		}
		found, err := rows(ctx, p.build.conn, 7, "file-io", nil, name)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			id, _ := number(r[0])
			all = append(all, p.ofFile(paths[id], r[1:])...)
		}
	}
	return all, nil
}

// ofFile are the counters of one file. The times are in hundredths of a second, and
// zero while timed_statistics is off.
func (p fileProbe) ofFile(path string, values []any) []filewise.Counter {
	block := float64(p.build.server.about.block)
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
