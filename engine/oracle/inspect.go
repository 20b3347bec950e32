package oracle

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/engine/internal/inspecting"
)

// CheckOptions refuses what the driver does not read.
func (Engine) CheckOptions(a filewise.Address) error { return options.Check(a) }

// Inspect looks at an existing database. It sends nothing but SELECT, and reads no
// view of the Diagnostics Pack.
func (e Engine) Inspect(ctx context.Context, t filewise.Target) (filewise.Inspection, error) {
	first, cancel := context.WithTimeout(ctx, 5*inspecting.Patience)
	defer cancel()
	opened, err := e.Open(first, t)
	if err != nil {
		return filewise.Inspection{}, err
	}
	defer opened.Close()
	s := opened.(*server)
	return inspectWith(ctx, s.control, s.about), nil
}

func inspectWith(ctx context.Context, c client, about about) filewise.Inspection {
	i := &inspection{client: c, account: about.account, files: map[int64]inspecting.At{}}
	i.Asker = inspecting.New(i.remedy)
	i.Server = "Oracle " + about.version
	i.Places = []filewise.Place{{Volume: filewise.Volume{Name: "default"}}}
	i.Ask(ctx, "age of the counters", i.age)
	i.Ask(ctx, "cores and memory", i.cores)
	i.Ask(ctx, "datafiles", i.datafiles)
	i.Ask(ctx, "space within the files", i.free)
	i.Ask(ctx, "I/O per file", i.io)
	i.Ask(ctx, "temporary files", i.temp)
	i.Ask(ctx, "redo log files", i.log)
	i.Ask(ctx, "log switches", i.switches)
	i.Ask(ctx, "cache", i.cache)
	i.Ask(ctx, "waits", i.waits)
	return *i.Inspection
}

type inspection struct {
	*inspecting.Asker
	client  client
	account string
	views   string                  // that the question reads
	files   map[int64]inspecting.At // by number
}

func (i *inspection) remedy(_ string, err error) string {
	if !unreadable(err) || i.views == "" {
		return ""
	}
	return grants(i.account, filewise.Each(strings.Fields(i.views), func(name string) view { return view{Name: name} }))
}

// rows runs a section of inspect.sql; views need a right.
func (i *inspection) rows(ctx context.Context, columns int, views, section string) ([][]any, error) {
	i.views = views
	return rowsOf(ctx, i.client, inspectSQL, columns, section, nil)
}

// real returns a column's value as a number; ok is false for NULL.
func real(v any) (x float64, ok bool) {
	if n, ok := number(v); ok {
		return float64(n), true
	}
	x, err := strconv.ParseFloat(text(v), 64)
	return x, err == nil
}

func (i *inspection) age(ctx context.Context) error {
	found, err := i.rows(ctx, 1, "V_$INSTANCE", "inspect-instance")
	if s, ok := real(only(found)); ok {
		i.Since = time.Duration(s * float64(time.Second))
	}
	return err
}

func (i *inspection) cores(ctx context.Context) error {
	found, err := i.rows(ctx, 2, "V_$OSSTAT", "inspect-cores")
	for _, r := range found {
		x, ok := real(r[1])
		switch {
		case ok && text(r[0]) == "NUM_CPUS":
			i.Cores = int(x)
		case ok:
			i.Figures[filewise.FigureMemory] = x
		}
	}
	return err
}

// ofServer are the tablespaces of the server itself.
var ofServer = map[string]bool{"SYSTEM": true, "SYSAUX": true}

func (i *inspection) datafiles(ctx context.Context) error {
	found, err := i.rows(ctx, 9, "DBA_DATA_FILES DBA_TABLESPACES", "inspect-files")
	for _, r := range found {
		name := text(r[0])
		g := filewise.FileGroup{Name: "tablespace " + name, Database: name, Use: filewise.UseData, Fill: filewise.FillTurns,
			System: ofServer[name], Own: inspecting.Own(strings.ToLower(name))}
		if text(r[1]) == "UNDO" {
			g.Use = filewise.UseUndo
		}
		if text(r[2]) == "YES" {
			g.Fill = filewise.FillOwn
		}
		id, _ := number(r[3])
		i.files[id] = i.Add(g, fileOf(r[4], r[5], r[6], r[7]))
	}
	return err
}

func fileOf(name, bytes, extensible, step any) filewise.FileInspect {
	f := filewise.FileInspect{Path: text(name), Growth: &filewise.Growth{}, Volume: volumeOf(text(name))}
	f.Bytes, _ = number(bytes)
	if text(extensible) == "YES" {
		f.Growth.Bytes, _ = number(step)
	}
	return f
}

// volumeOf returns the disk group or the directory of a file.
func volumeOf(name string) string {
	if strings.HasPrefix(name, "+") {
		group, _, _ := strings.Cut(name, "/")
		return "disk group " + group
	}
	return path.Dir(strings.ReplaceAll(name, `\`, "/"))
}

func (i *inspection) free(ctx context.Context) error {
	found, err := i.rows(ctx, 2, "DBA_FREE_SPACE DBA_TABLESPACES", "inspect-free")
	if err != nil {
		return err
	}
	for _, at := range i.files {
		i.File(at).Free = new(int64) // what is full has no row
	}
	for _, r := range found {
		id, _ := number(r[0])
		if at, ok := i.files[id]; ok {
			*i.File(at).Free, _ = number(r[1])
		}
	}
	return nil
}

func (i *inspection) io(ctx context.Context) error {
	found, err := i.rows(ctx, 5, "V_$FILESTAT", "inspect-io")
	for _, r := range found {
		id, _ := number(r[0])
		at, ok := i.files[id]
		if !ok {
			continue
		}
		f := i.File(at)
		f.IO = map[string]float64{}
		for column, x := range []struct {
			name string
			unit float64
		}{{filewise.FileReads, 1}, {filewise.FileWrites, 1}, {filewise.FileReadTime, 0.01}, {filewise.FileWriteTime, 0.01}} {
			if v, ok := real(r[column+1]); ok {
				f.IO[x.name] = v * x.unit
			}
		}
	}
	return err
}

func (i *inspection) temp(ctx context.Context) error {
	found, err := i.rows(ctx, 6, "DBA_TEMP_FILES DBA_TABLESPACES", "inspect-temp")
	for _, r := range found {
		i.Add(filewise.FileGroup{Name: "temporary tablespace " + text(r[0]), Use: filewise.UseTemp, Fill: filewise.FillTurns, System: true},
			fileOf(r[2], r[3], r[4], r[5]))
	}
	return err
}

func (i *inspection) log(ctx context.Context) error {
	found, err := i.rows(ctx, 2, "V_$LOG V_$LOGFILE", "inspect-log")
	for _, r := range found {
		f := filewise.FileInspect{Path: text(r[0]), Volume: volumeOf(text(r[0]))}
		f.Bytes, _ = number(r[1])
		i.Add(filewise.FileGroup{Name: "redo log", Use: filewise.UseLog, Fill: filewise.FillOrder}, f)
	}
	return err
}

func (i *inspection) switches(ctx context.Context) error {
	found, err := i.rows(ctx, 1, "V_$LOG_HISTORY", "inspect-switches")
	if n, ok := real(only(found)); ok {
		i.Figures[filewise.FigureSwitches] = n
	}
	return err
}

func (i *inspection) cache(ctx context.Context) error {
	found, err := i.rows(ctx, 2, "V_$SYSSTAT", "inspect-cache")
	gets := 0.0
	for _, r := range found {
		x, ok := real(r[1])
		switch {
		case !ok:
		case text(r[0]) == "physical reads cache":
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

// waits are the probe's: v$system_event without the class Idle.
func (i *inspection) waits(ctx context.Context) error {
	i.views = "V_$SYSTEM_EVENT"
	found, err := rows(ctx, i.client, 4, "waits", nil)
	for _, r := range found {
		micro, ok := real(r[3])
		if class := classOfEvent(text(r[0]), text(r[1])); ok && class != "" {
			i.Waits = append(i.Waits, filewise.Counter{Name: text(r[0]), Unit: "s", Value: micro / 1e6, Class: class})
		}
	}
	return err
}

// classOfEvent returns the class of a wait event, by its name if Oracle's own class
// states less (Oracle Database Reference, “Oracle Wait Events”). Empty means background
// processes wait for work, or for themselves.
func classOfEvent(name, class string) filewise.WaitClass {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	switch {
	case class == "Idle", has("rdbms ipc message", "SQL*Net message from client"):
		return ""
	case has("enq: HW", "enq: FB", "enq: ST", "Data file init write", "enq: SS"):
		return filewise.WaitAllocation
	case has("direct path read temp", "direct path write temp"):
		return filewise.WaitTemp
	case has("log file", "log buffer"):
		if has("checkpoint incomplete") {
			return filewise.WaitCheckpoint
		}
		return filewise.WaitLog
	case has("db file parallel write", "direct path write", "db file async"):
		return filewise.WaitDataWrite
	case has("free buffer waits", "write complete waits"):
		return filewise.WaitMemory
	case has("buffer busy", "latch", "library cache", "cursor:"):
		return filewise.WaitLatch
	case has("enq: T", "enq: UL", "row lock"):
		return filewise.WaitLock
	}
	switch class {
	case "User I/O":
		return filewise.WaitDataRead
	case "System I/O":
		return filewise.WaitOther // of background processes, for which no session waits
	case "Commit":
		return filewise.WaitLog
	case "Network":
		return filewise.WaitNetwork
	}
	return filewise.WaitOther
}
