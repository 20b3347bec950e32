package external

import (
	"context"
	"path"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// Of the files that the server has waited most for.
const readFileTimes = `
SELECT FILE_NAME, COUNT_READ, SUM_NUMBER_OF_BYTES_READ, SUM_TIMER_READ, COUNT_WRITE, SUM_NUMBER_OF_BYTES_WRITE, SUM_TIMER_WRITE
  FROM performance_schema.file_summary_by_instance WHERE EVENT_NAME LIKE 'wait/io/file/innodb/%' ORDER BY SUM_TIMER_WAIT DESC LIMIT 500`

func (i *inspection) ofPerformanceSchema(ctx context.Context) {
	if !i.server.on("performance_schema") {
		i.Lack("I/O per file and waits", "performance_schema is off, which is a start-up option", "ask its owner for performance_schema = ON")
		i.Ask(ctx, "waits", i.statusWaits)
		return
	}
	i.Ask(ctx, "I/O per file", i.fileTimes)
	i.Ask(ctx, "waits", i.events)
}

func (i *inspection) fileTimes(ctx context.Context) error {
	err := dialect.Each(ctx, i.server.db, func(scan dialect.Scan) error {
		var name string
		var reads, read, readTime, writes, written, writeTime float64
		if err := scan(&name, &reads, &read, &readTime, &writes, &written, &writeTime); err != nil {
			return err
		}
		io := map[string]float64{filewise.FileReads: reads, filewise.FileBytesRead: read, filewise.FileWrites: writes,
			filewise.FileBytes: written}
		if readTime > 0 || writeTime > 0 { // else the instrument counts, and times nothing
			io[filewise.FileReadTime], io[filewise.FileWriteTime] = readTime*dialect.Picosecond, writeTime*dialect.Picosecond
		}
		i.times[i.whole(name)] = io
		return nil
	}, readFileTimes)
	return i.server.explain(err)
}

// whole is a path as the server has it, which may begin at the data directory.
func (i *inspection) whole(name string) string {
	if name == "" || path.IsAbs(name) || windowsPath(name) {
		return path.Clean(name)
	}
	return path.Join(i.server.vars["datadir"], name)
}

func (i *inspection) events(ctx context.Context) error {
	all, err := dialect.SessionWaits(ctx, i.server.db)
	if err != nil {
		return i.server.explain(err)
	}
	i.Waits = append(i.Waits, all...)
	return i.statusWaits(ctx)
}

// statusWaits are those that InnoDB adds up itself.
func (i *inspection) statusWaits(ctx context.Context) error {
	all, err := dialect.ReadStatusWaits(ctx, i.server.db)
	for _, w := range all {
		if w.Value > 0 {
			i.Waits = append(i.Waits, w)
		}
	}
	return i.server.explain(err)
}
