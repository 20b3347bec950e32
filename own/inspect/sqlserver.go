package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/internal/marker"
)

// ofSQLServer inspects a SQL Server, which has no read-only sessions: it sends nothing but SELECT.
type ofSQLServer struct {
	*asker
	databases []database
	at        map[[2]int64]place // place of a file, by the numbers of its database and itself
}

type database struct {
	id     int64
	name   string
	access bool
}

const (
	kib  = 1 << 10
	page = 8 * kib
)

func lookSQLServer(ctx context.Context, all *asker) {
	i := &ofSQLServer{asker: all, at: map[[2]int64]place{}}
	i.Server = i.in.About().Server
	i.Places = []filewise.Place{{Volume: filewise.Volume{Name: "default"}}}
	i.ask(ctx, "cores and memory", i.machine)
	i.ask(ctx, "files", i.catalogue)
	i.ask(ctx, "I/O per file", i.io)
	i.ask(ctx, "volumes", i.volumes)
	i.ask(ctx, "virtual log files", i.logs)
	for _, d := range i.entered() {
		i.ask(ctx, "space within the files of "+d.name, func(ctx context.Context) error { return i.space(ctx, d) })
	}
	i.ask(ctx, "waits", i.sums)
	i.ask(ctx, "allocation", i.allocation)
}

func (i *ofSQLServer) machine(ctx context.Context) error {
	rows, err := i.rows(ctx, "inspect-server")
	if err != nil || len(rows) != 1 {
		return err
	}
	i.Cores = int(rows[0].Int(0))
	for column, name := range map[int]string{1: filewise.FigureMemory, 2: filewise.FigureBuffer} {
		if kb, ok := rows[0].Number(column); ok {
			i.Figures[name] = float64(kb) * kib
		}
	}
	if age, ok := rows[0].Number(3); ok {
		i.Since = time.Duration(age) * time.Second
	}
	return nil
}

// catalogue reads the list of all the server's files.
func (i *ofSQLServer) catalogue(ctx context.Context) error {
	rows, err := i.rows(ctx, "inspect-files")
	if err != nil {
		return err
	}
	var unseen []string
	for _, r := range rows {
		id, _ := r.Number(1)
		number, seen := r.Number(2)
		if !seen {
			unseen = append(unseen, r.Text(0))
			continue
		}
		if n := len(i.databases); n == 0 || i.databases[n-1].id != id {
			i.databases = append(i.databases, database{id: id, name: r.Text(0), access: r.Yes(10)})
		}
		i.at[[2]int64{id, number}] = i.addFile(i.databases[len(i.databases)-1].group(spaceOf(r)), sqlServerFile(r))
	}
	if len(unseen) > 0 {
		i.lack("files of "+strings.Join(unseen, ", "), "sys.master_files shows them only to logins with a right on them",
			"GRANT VIEW ANY DEFINITION TO "+i.in.About().Account+";")
	}
	return nil
}

// spaceOf returns the number of a file's data space. 0 means the file belongs to the log.
func spaceOf(r filewise.Row) int64 {
	if r.Text(3) == "LOG" {
		return 0
	}
	return r.Int(5)
}

func sqlServerFile(r filewise.Row) filewise.FileInspect {
	growth, _ := r.Number(7)
	f := filewise.FileInspect{Path: r.Text(4), Bytes: r.Int(6) * page, Growth: &filewise.Growth{Bytes: growth * page}}
	if r.Yes(8) {
		f.Growth = &filewise.Growth{Percent: float64(growth)}
	}
	if most, ok := r.Number(9); ok && most > 0 {
		f.Growth.Max = most * page
	}
	return f
}

// The numbers of the server's own databases.
const (
	temporaryID, agentID = 2, 4
)

// group returns the group of a data space.
func (d database) group(space int64) filewise.FileGroup {
	g := filewise.FileGroup{Name: fmt.Sprintf("filegroup %d of %s", space, d.name), Database: d.name, Use: filewise.UseData,
		Fill: filewise.FillFree, System: d.id <= agentID, Own: marker.IsName(d.name)}
	switch {
	case space == 0:
		g.Name, g.Use, g.Fill = d.log(), filewise.UseLog, filewise.FillOrder
	case d.id == temporaryID:
		g.Name, g.Use = "temporary files ("+d.name+")", filewise.UseTemp
	case space == 1:
		g.Name = "filegroup PRIMARY of " + d.name
	}
	return g
}

// log returns the name of the group for the database's log.
func (d database) log() string { return "log of " + d.name }

// counted lists the columns of I/O figures, in order, with the factors to the figures' units.
var counted = []struct {
	name   string
	factor float64
}{
	{filewise.FileReads, 1}, {filewise.FileBytesRead, 1}, {filewise.FileReadTime, 1e-3},
	{filewise.FileWrites, 1}, {filewise.FileBytes, 1}, {filewise.FileWriteTime, 1e-3},
}

func (i *ofSQLServer) io(ctx context.Context) error {
	rows, err := i.rows(ctx, "inspect-io")
	for _, r := range rows {
		f := i.file(r)
		if f == nil {
			continue
		}
		f.IO = map[string]float64{}
		for n, c := range counted {
			if x, ok := r.Real(n + 2); ok {
				f.IO[c.name] = x * c.factor
			}
		}
	}
	return err
}

// file returns the file that a row is about, or nil if the file was not listed.
func (i *ofSQLServer) file(r filewise.Row) *filewise.FileInspect {
	at, ok := i.at[[2]int64{r.Int(0), r.Int(1)}]
	if !ok {
		return nil
	}
	return i.asker.file(at)
}

func (i *ofSQLServer) volumes(ctx context.Context) error {
	rows, err := i.rows(ctx, "inspect-volumes")
	for _, r := range rows {
		if f := i.file(r); f != nil {
			f.Volume = "volume " + r.Text(2)
		}
	}
	return err
}

func (i *ofSQLServer) logs(ctx context.Context) error {
	if v := i.in.About().Version; slices.Compare(v[:], []int{13, 5026}) < 0 { // 2016 SP2
		return nil
	}
	rows, err := i.rows(ctx, "inspect-log")
	for _, r := range rows {
		for _, d := range i.databases {
			n := slices.IndexFunc(i.Groups, func(g filewise.FileGroup) bool { return g.Name == d.log() })
			if d.id == r.Int(0) && n >= 0 {
				i.Groups[n].Fragments = int(r.Int(1))
			}
		}
	}
	return err
}

// mostDatabases limits the databases whose free space in files is queried.
const mostDatabases = 20

// entered returns the user's databases that the account can enter.
func (i *ofSQLServer) entered() []database {
	var all []database
	var shut []string
	for _, d := range i.databases {
		switch {
		case d.id <= agentID:
		case !d.access:
			shut = append(shut, d.name)
		case len(all) < mostDatabases:
			all = append(all, d)
		}
	}
	if len(shut) > 0 {
		i.lack("space within the files of "+strings.Join(shut, ", "), "the login has no access to them",
			"in each, as its owner: CREATE USER "+i.in.About().Account+";")
	}
	return all
}

func (i *ofSQLServer) space(ctx context.Context, d database) error {
	rows, err := i.in.Rows(ctx, "inspect-space", map[string]any{"Name": d.name})
	for _, r := range rows {
		at, listed := i.at[[2]int64{d.id, r.Int(0)}]
		pages, ok := r.Number(1)
		used, known := r.Number(2)
		if !listed || !ok || !known {
			continue
		}
		free := (pages - used) * page
		i.asker.file(at).Free = &free
		if g := i.group(at); r.Text(3) != "" && g.Use == filewise.UseData {
			g.Name, g.GrowsAll = "filegroup "+r.Text(3)+" of "+d.name, r.Yes(4)
		}
	}
	return err
}

// allocation checks once whether sessions wait for allocation pages. The sums of waits do not distinguish them from other
// pages.
func (i *ofSQLServer) allocation(ctx context.Context) error {
	rows, err := i.rows(ctx, "inspect-allocation")
	if err != nil || len(rows) != 1 {
		return err
	}
	if n, ok := rows[0].Number(1); ok && n > 0 {
		i.Figures[filewise.FigureAllocation] = float64(n)
	}
	return nil
}
