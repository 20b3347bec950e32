package oracle

import (
	"context"
	"path"
	"strings"

	"filewise"
)

// waitProbe reads v$system_event: waits of the whole instance, those of others
// among them, since it was started.
type waitProbe struct{ build *build }

// Name is the probe's name in the report.
func (waitProbe) Name() string { return "oracle waits" }

// waitClasses are those that a layout of files can change (Oracle Database
// Reference, "Classes of Wait Events").
var waitClasses = map[string]bool{"User I/O": true, "System I/O": true, "Commit": true, "Concurrency": true, "Configuration": true, "Application": true}

// Read returns the number of waits and their time, by event.
func (p waitProbe) Read(ctx context.Context) ([]filewise.Counter, error) {
	found, err := rows(ctx, p.build.conn, 4, "waits", nil)
	if err != nil {
		return nil, err
	}
	var all []filewise.Counter
	for _, r := range found {
		n, ok := number(r[2])
		micro, ok2 := number(r[3])
		if !ok || !ok2 || !waitClasses[text(r[1])] {
			continue
		}
		event := text(r[0])
		all = append(all, filewise.Counter{Name: event + ": waits", Unit: "waits", Value: float64(n)},
			filewise.Counter{Name: event, Unit: "ms", Value: float64(micro) / 1000})
	}
	return all, nil
}

// fileProbe reads v$filestat for the build's files.
type fileProbe struct{ build *build }

// Name is the probe's name in the report.
func (fileProbe) Name() string { return "oracle files" }

// Read returns reads, writes and their blocks by file, of the data and index
// tablespaces.
func (p fileProbe) Read(ctx context.Context) ([]filewise.Counter, error) {
	var all []filewise.Counter
	for _, name := range p.build.tablespaces() {
		files, err := rows(ctx, p.build.conn, 2, "files", nil, name)
		if err != nil {
			return nil, err
		}
		paths := map[int64]string{}
		for _, r := range files {
			if id, ok := number(r[1]); ok {
				paths[id] = fileName(text(r[0]))
			}
		}
		found, err := rows(ctx, p.build.conn, 7, "file-io", nil, name)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			id, _ := number(r[0])
			for i, c := range []struct{ name, unit string }{{"reads", "reads"}, {"writes", "writes"}, {"blocks read", "blocks"}, {"blocks written", "blocks"}} {
				if n, ok := number(r[i+1]); ok {
					all = append(all, filewise.Counter{Name: paths[id] + ": " + c.name, Unit: c.unit, Value: float64(n)})
				}
			}
		}
	}
	return all, nil
}

// fileName is the last part of a path of any operating system.
func fileName(p string) string { return path.Base(strings.ReplaceAll(p, `\`, "/")) }
