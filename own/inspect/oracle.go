package inspect

import (
	"context"
	"path"
	"strings"
	"time"

	"filewise"
	"filewise/internal/marker"
)

// ofOracle inspects an Oracle server. It sends nothing but SELECT, and reads no view of the Diagnostics Pack.
type ofOracle struct {
	*asker
	files map[int64]place // by number
}

func lookOracle(ctx context.Context, all *asker) {
	i := &ofOracle{all, map[int64]place{}}
	i.Server = i.in.About().Server
	i.Places = []filewise.Place{{Volume: filewise.Volume{Name: "default"}}}
	i.ask(ctx, "age of the counters", i.age)
	i.ask(ctx, "cores and memory", i.cores)
	i.ask(ctx, "datafiles", i.datafiles)
	i.ask(ctx, "space within the files", i.free)
	i.ask(ctx, "I/O per file", i.io)
	i.ask(ctx, "temporary files", i.temp)
	i.ask(ctx, "redo log files", i.log)
	i.ask(ctx, "log switches", i.switches)
	i.ask(ctx, "cache", i.cache)
	i.ask(ctx, "waits", i.sums)
}

func (i *ofOracle) age(ctx context.Context) error {
	found, err := i.rows(ctx, "inspect-instance")
	if s, ok := only(found).Real(0); ok {
		i.Since = time.Duration(s * float64(time.Second))
	}
	return err
}

func (i *ofOracle) cores(ctx context.Context) error {
	found, err := i.rows(ctx, "inspect-cores")
	for _, r := range found {
		x, ok := r.Real(1)
		switch {
		case ok && r.Text(0) == "NUM_CPUS":
			i.Cores = int(x)
		case ok:
			i.Figures[filewise.FigureMemory] = x
		}
	}
	return err
}

// ofOracleItself lists the server's own tablespaces.
var ofOracleItself = map[string]bool{"SYSTEM": true, "SYSAUX": true}

func (i *ofOracle) datafiles(ctx context.Context) error {
	found, err := i.rows(ctx, "inspect-files")
	for _, r := range found {
		name := r.Text(0)
		g := filewise.FileGroup{Name: "tablespace " + name, Database: name, Use: filewise.UseData, Fill: filewise.FillTurns,
			System: ofOracleItself[name], Own: marker.IsName(strings.ToLower(name))}
		if r.Text(1) == "UNDO" {
			g.Use = filewise.UseUndo
		}
		if r.Text(2) == "YES" {
			g.Fill = filewise.FillOwn
		}
		id, _ := r.Number(3)
		i.files[id] = i.addFile(g, oracleFile(r[4:]))
	}
	return err
}

// oracleFile returns a file from a row: its name, its bytes, and whether and by how much it extends itself.
func oracleFile(r filewise.Row) filewise.FileInspect {
	f := filewise.FileInspect{Path: r.Text(0), Bytes: r.Int(1), Growth: &filewise.Growth{}, Volume: volumeOf(r.Text(0))}
	if r.Text(2) == "YES" {
		f.Growth.Bytes = r.Int(3)
	}
	return f
}

// volumeOf returns the disk group, or else the directory, of a file.
func volumeOf(name string) string {
	if strings.HasPrefix(name, "+") {
		group, _, _ := strings.Cut(name, "/")
		return "disk group " + group
	}
	return path.Dir(strings.ReplaceAll(name, `\`, "/"))
}

func (i *ofOracle) free(ctx context.Context) error {
	found, err := i.rows(ctx, "inspect-free")
	if err != nil {
		return err
	}
	for _, at := range i.files {
		i.file(at).Free = new(int64) // a full file has no row
	}
	for _, r := range found {
		id, _ := r.Number(0)
		if at, ok := i.files[id]; ok {
			*i.file(at).Free, _ = r.Number(1)
		}
	}
	return nil
}

func (i *ofOracle) io(ctx context.Context) error {
	found, err := i.rows(ctx, "inspect-io")
	for _, r := range found {
		id, _ := r.Number(0)
		at, ok := i.files[id]
		if !ok {
			continue
		}
		f := i.file(at)
		f.IO = map[string]float64{}
		for column, x := range []struct {
			name string
			unit float64
		}{{filewise.FileReads, 1}, {filewise.FileWrites, 1}, {filewise.FileReadTime, 0.01}, {filewise.FileWriteTime, 0.01}} {
			if v, ok := r.Real(column + 1); ok {
				f.IO[x.name] = v * x.unit
			}
		}
	}
	return err
}

func (i *ofOracle) temp(ctx context.Context) error {
	found, err := i.rows(ctx, "inspect-temp")
	for _, r := range found {
		i.addFile(filewise.FileGroup{Name: "temporary tablespace " + r.Text(0), Use: filewise.UseTemp, Fill: filewise.FillTurns, System: true},
			oracleFile(r[2:]))
	}
	return err
}

func (i *ofOracle) log(ctx context.Context) error {
	found, err := i.rows(ctx, "inspect-log")
	for _, r := range found {
		f := filewise.FileInspect{Path: r.Text(0), Volume: volumeOf(r.Text(0))}
		f.Bytes, _ = r.Number(1)
		i.addFile(filewise.FileGroup{Name: "redo log", Use: filewise.UseLog, Fill: filewise.FillOrder}, f)
	}
	return err
}

func (i *ofOracle) switches(ctx context.Context) error {
	found, err := i.rows(ctx, "inspect-switches")
	if n, ok := only(found).Real(0); ok {
		i.Figures[filewise.FigureSwitches] = n
	}
	return err
}

func (i *ofOracle) cache(ctx context.Context) error {
	found, err := i.rows(ctx, "inspect-cache")
	gets := 0.0
	for _, r := range found {
		x, ok := r.Real(1)
		switch {
		case !ok:
		case r.Text(0) == "physical reads cache":
			i.Figures[filewise.FigureMisses] = x
		default:
			gets += x
		}
	}
	if gets > 0 {
		i.Figures[filewise.FigureRequests] = gets
	}
	return err
}

// only returns the row if there is just one.
func only(rows []filewise.Row) filewise.Row {
	if len(rows) == 1 {
		return rows[0]
	}
	return nil
}
