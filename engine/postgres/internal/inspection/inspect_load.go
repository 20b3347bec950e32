package inspection

import (
	"context"
	"fmt"
	"path"
	"time"

	"filewise"
	"filewise/engine/internal/sampling"
	"filewise/engine/postgres/internal/probes"
)

func (i *inspection) activity(ctx context.Context) error {
	var requests, misses, files, bytes, age, read, write, sessions *float64
	if err := i.link.Scan(ctx, queries.Text("cache"), nil, &requests, &misses, &files, &bytes, &age, &read, &write, &sessions); err != nil {
		return err
	}
	i.figures(map[string]*float64{filewise.FigureRequests: requests, filewise.FigureMisses: misses, filewise.FigureTempFiles: files,
		filewise.FigureTempBytes: bytes, filewise.FigureSessions: sessions})
	if age != nil {
		i.Since = time.Duration(*age * float64(time.Second))
	}
	if i.Settings["track_io_timing"] == "off" {
		i.Lack("reading and writing times", "track_io_timing is off, so that the server measures none",
			"ask its owner for track_io_timing = on (pg_test_timing says what it costs)")
		return nil
	}
	if read != nil && misses != nil { // of backends; pg_stat_io's is finer
		i.Figures[filewise.FigureReadTime], i.Figures[filewise.FigureWriteTime] = *read/1000, *write/1000
	}
	return nil
}

func (i *inspection) figures(all map[string]*float64) {
	for name, x := range all {
		if x != nil {
			i.Figures[name] = *x
		}
	}
}

// checkpoints reads the views, of which none has a table below.
func (i *inspection) checkpoints(ctx context.Context) error {
	view, timed, requested := "pg_stat_bgwriter", "checkpoints_timed", "checkpoints_req"
	if i.about.version >= 170000 {
		view, timed, requested = "pg_stat_checkpointer", "num_timed", "num_requested"
	}
	values, err := probes.ReadView(ctx, i.link, view, "")
	if err != nil {
		return err
	}
	i.number(filewise.FigureTimed, values[timed])
	i.number(filewise.FigureRequested, values[requested])
	if i.about.version < 140000 {
		return nil
	}
	values, err = probes.ReadView(ctx, i.link, "pg_stat_wal", "")
	i.number(filewise.FigureLogBytes, values["wal_bytes"])
	return err
}

func (i *inspection) number(figure string, value any) {
	if x, ok := value.(float64); ok {
		i.Figures[figure] = x
	}
}

func (i *inspection) io(ctx context.Context) error {
	if i.about.version < 160000 || i.Settings["track_io_timing"] != "on" {
		if read := i.Figures[filewise.FigureReadTime]; read > 0 {
			i.all(map[string]float64{filewise.FileReads: i.Figures[filewise.FigureMisses], filewise.FileReadTime: read})
		}
		return nil
	}
	var reads, read, writes, write, extends *float64
	if err := i.link.Scan(ctx, queries.Text("times"), nil, &reads, &read, &writes, &write, &extends); err != nil {
		return err
	}
	i.figures(map[string]*float64{filewise.FigureExtends: extends})
	if reads == nil || read == nil || writes == nil || write == nil {
		return nil
	}
	i.all(map[string]float64{filewise.FileReads: *reads, filewise.FileReadTime: *read / 1000, filewise.FileWrites: *writes,
		filewise.FileWriteTime: *write / 1000})
	return nil
}

// all is the I/O of all relations of the server, which PostgreSQL does not report
// apart by file: a group of its own.
func (i *inspection) all(io map[string]float64) {
	i.Groups = append(i.Groups, filewise.FileGroup{Name: "all relations of the server", Use: filewise.UseData,
		Files: []filewise.FileInspect{{Path: "relations", IO: io}}})
}

func (i *inspection) wal(ctx context.Context) error {
	var files, bytes int64
	if err := i.link.Scan(ctx, "SELECT count(*), coalesce(sum(size), 0)::bigint FROM pg_ls_waldir()", nil, &files, &bytes); err != nil {
		return err
	}
	f := filewise.FileInspect{Path: fmt.Sprintf("pg_wal of %d segments", files), Bytes: bytes}
	if i.about.dataDir != "" {
		f.Dir = path.Join(i.about.dataDir, "pg_wal")
	}
	i.Groups = append(i.Groups, filewise.FileGroup{Name: "write-ahead log", Use: filewise.UseLog, Files: []filewise.FileInspect{f}})
	return nil
}

// Looks sets how often it is looked at what is waited for, with so long between.
const Looks, between = 10, 100 * time.Millisecond

// waits looks a few times at what sessions wait for: PostgreSQL adds waits up
// nowhere. The server's own processes keep no session waiting.
func (i *inspection) waits(ctx context.Context) error {
	sum := map[sampling.Event]int{}
	for range Looks {
		rows, err := i.link.Rows(ctx, queries.Text("waits"))
		if err != nil {
			return err
		}
		for event, n := range probes.SeenIn(rows) {
			sum[event] += n
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for event, n := range sum {
		if !event.Background {
			i.Waits = append(i.Waits, filewise.Counter{Name: event.Name, Unit: "sessions", Value: float64(n), Class: event.Class})
		}
	}
	return nil
}
