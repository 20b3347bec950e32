package postgres

import (
	"context"
	"fmt"
	"path"
	"time"

	"github.com/jackc/pgx/v5"

	"filewise"
	"filewise/engine/internal/sampling"
)

// readCache: what was never reset has counted as long as the background writer's.
const readCache = `
SELECT sum(blks_hit + blks_read)::float8, sum(blks_read)::float8, sum(temp_files)::float8, sum(temp_bytes)::float8,
       extract(epoch FROM now() - coalesce(min(stats_reset), pg_stat_get_bgwriter_stat_reset_time()))::float8,
       sum(blk_read_time)::float8, sum(blk_write_time)::float8, (sum(numbackends) - 1)::float8 FROM pg_stat_database`

func (i *inspection) activity(ctx context.Context) error {
	var requests, misses, files, bytes, age, read, write, sessions *float64
	if err := i.link.scan(ctx, readCache, nil, &requests, &misses, &files, &bytes, &age, &read, &write, &sessions); err != nil {
		return err
	}
	i.figures(map[string]*float64{filewise.FigureRequests: requests, filewise.FigureMisses: misses, filewise.FigureTempFiles: files, filewise.FigureTempBytes: bytes, filewise.FigureSessions: sessions})
	if age != nil {
		i.Since = time.Duration(*age * float64(time.Second))
	}
	if i.Settings["track_io_timing"] == "off" {
		i.Lack("reading and writing times", "track_io_timing is off, so that the server measures none", "ask its owner for track_io_timing = on (pg_test_timing says what it costs)")
		return nil
	}
	if read != nil && misses != nil { // of backends; that of pg_stat_io is finer
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
	values, err := readView(ctx, i.link, view, "")
	if err != nil {
		return err
	}
	i.number(filewise.FigureTimed, values[timed])
	i.number(filewise.FigureRequested, values[requested])
	if i.about.version < 140000 {
		return nil
	}
	values, err = readView(ctx, i.link, "pg_stat_wal", "")
	i.number(filewise.FigureLogBytes, values["wal_bytes"])
	return err
}

func (i *inspection) number(figure string, value any) {
	if x, ok := value.(float64); ok {
		i.Figures[figure] = x
	}
}

// readTimes is PostgreSQL 16's; ms.
const readTimes = `
SELECT sum(reads)::float8, sum(read_time)::float8, sum(writes)::float8, sum(write_time)::float8, sum(extends)::float8
  FROM pg_stat_io WHERE object = 'relation'`

func (i *inspection) io(ctx context.Context) error {
	if i.about.version < 160000 || i.Settings["track_io_timing"] != "on" {
		if read := i.Figures[filewise.FigureReadTime]; read > 0 {
			i.all(map[string]float64{filewise.FileReads: i.Figures[filewise.FigureMisses], filewise.FileReadTime: read})
		}
		return nil
	}
	var reads, read, writes, write, extends *float64
	if err := i.link.scan(ctx, readTimes, nil, &reads, &read, &writes, &write, &extends); err != nil {
		return err
	}
	i.figures(map[string]*float64{filewise.FigureExtends: extends})
	if reads == nil || read == nil || writes == nil || write == nil {
		return nil
	}
	i.all(map[string]float64{filewise.FileReads: *reads, filewise.FileReadTime: *read / 1000, filewise.FileWrites: *writes, filewise.FileWriteTime: *write / 1000})
	return nil
}

// all is the I/O of all relations of the server, which PostgreSQL does not tell
// apart by file: a group of its own.
func (i *inspection) all(io map[string]float64) {
	i.Groups = append(i.Groups, filewise.FileGroup{Name: "all relations of the server", Use: filewise.UseData,
		Files: []filewise.FileInspect{{Path: "relations", IO: io}}})
}

func (i *inspection) wal(ctx context.Context) error {
	var files, bytes int64
	if err := i.link.scan(ctx, "SELECT count(*), coalesce(sum(size), 0)::bigint FROM pg_ls_waldir()", nil, &files, &bytes); err != nil {
		return err
	}
	f := filewise.FileInspect{Path: fmt.Sprintf("pg_wal of %d segments", files), Bytes: bytes}
	if i.about.dataDir != "" {
		f.Dir = path.Join(i.about.dataDir, "pg_wal")
	}
	i.Groups = append(i.Groups, filewise.FileGroup{Name: "write-ahead log", Use: filewise.UseLog, Files: []filewise.FileInspect{f}})
	return nil
}

// readAllWaits are those of the whole server, where the probe asks for one database.
const readAllWaits = `
SELECT coalesce(backend_type, ''), coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*)
  FROM pg_stat_get_activity(NULL) WHERE pid <> pg_backend_pid() AND wait_event IS NOT NULL GROUP BY 1, 2, 3`

const looks, between = 10, 100 * time.Millisecond

// waits looks a few times at what sessions wait for: PostgreSQL adds waits up
// nowhere. The server's own processes keep no session waiting.
func (i *inspection) waits(ctx context.Context) error {
	sum := map[sampling.Event]int{}
	for range looks {
		err := i.link.with(ctx, func(conn *pgx.Conn) error {
			rows, err := conn.Query(ctx, readAllWaits)
			if err != nil {
				return i.link.done(ctx, readAllWaits, err)
			}
			seen, err := seenIn(rows)
			for event, n := range seen {
				sum[event] += n
			}
			return i.link.done(ctx, readAllWaits, err)
		})
		if err != nil {
			return err
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
