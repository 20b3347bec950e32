package sqlserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/engine/internal/inspecting"
	"filewise/engine/internal/sqlfile"
)

// CheckOptions refuses what the driver does not read.
func (Engine) CheckOptions(a filewise.Address) error { return checkOptions(a) }

// Inspect looks at an existing server. SQL Server has no session that only reads:
// nothing but SELECT is sent.
func (e Engine) Inspect(ctx context.Context, t filewise.Target) (filewise.Inspection, error) {
	first, cancel := context.WithTimeout(ctx, 4*inspecting.Patience)
	defer cancel()
	opened, err := e.Open(first, t)
	if err != nil {
		return filewise.Inspection{}, err
	}
	defer opened.Close()
	s := opened.(*externalServer)
	i := &inspection{server: s, at: map[[2]int64]inspecting.At{}}
	i.Asker = inspecting.New(i.remedy)
	i.look(ctx)
	return *i.Inspection, nil
}

type inspection struct {
	*inspecting.Asker
	server    *externalServer
	databases []database
	at        map[[2]int64]inspecting.At // of a file, by the numbers of database and file
}

type database struct {
	id     int64
	name   string
	access bool
}

func (i *inspection) remedy(_ string, err error) string {
	if denied(err) {
		return grantTo(grantView, i.server.identity.login)
	}
	return ""
}

// rows runs a section of inspect.sql.
func (i *inspection) rows(ctx context.Context, section string, vars map[string]any) ([]row, error) {
	text, err := inspectSQL.Statement(section, vars)
	if err != nil {
		return nil, err
	}
	all, err := query(ctx, i.server.control, text)
	if err != nil {
		return nil, i.server.login.explain(fmt.Errorf("%s: %w", sqlfile.Short(strings.TrimPrefix(text, "SET LOCK_TIMEOUT 1000;\n")), err))
	}
	return all, nil
}

func (i *inspection) look(ctx context.Context) {
	s := i.server.identity
	i.Server = s.banner() + "; " + s.version.allocation()
	i.Local = s.sameHost()
	i.Places = []filewise.Place{{Volume: filewise.Volume{Name: "default"}}}
	i.Ask(ctx, "cores and memory", i.machine)
	i.Ask(ctx, "files", i.catalogue)
	i.Ask(ctx, "I/O per file", i.io)
	i.Ask(ctx, "volumes", i.volumes)
	i.Ask(ctx, "virtual log files", i.logs)
	for _, d := range i.entered() {
		i.Ask(ctx, "space within the files of "+d.name, func(ctx context.Context) error { return i.space(ctx, d) })
	}
	i.Ask(ctx, "waits", i.waits)
	i.Ask(ctx, "allocation", i.allocation)
}

func (i *inspection) machine(ctx context.Context) error {
	rows, err := i.rows(ctx, "inspect-server", nil)
	if err != nil || len(rows) != 1 {
		return err
	}
	i.Cores = int(rows[0].Int("cpus"))
	for column, name := range map[string]string{"memory_kb": filewise.FigureMemory, "buffer_kb": filewise.FigureBuffer} {
		if kb, ok := rows[0].Number(column); ok {
			i.Figures[name] = float64(kb) * kib
		}
	}
	if age, ok := rows[0].Number("age"); ok {
		i.Since = time.Duration(age) * time.Second
	}
	return nil
}

// catalogue reads all files of the server.
func (i *inspection) catalogue(ctx context.Context) error {
	rows, err := i.rows(ctx, "inspect-files", nil)
	if err != nil {
		return err
	}
	var unseen []string
	for _, r := range rows {
		id, _ := r.Number("database_id")
		number, seen := r.Number("file_id")
		if !seen {
			unseen = append(unseen, r.Text("database_name"))
			continue
		}
		if n := len(i.databases); n == 0 || i.databases[n-1].id != id {
			i.databases = append(i.databases, database{id: id, name: r.Text("database_name"), access: r.Yes("access")})
		}
		i.at[[2]int64{id, number}] = i.Add(i.databases[len(i.databases)-1].group(spaceOf(r)), fileOf(r))
	}
	if len(unseen) > 0 {
		i.Lack("files of "+strings.Join(unseen, ", "), "sys.master_files shows them only to logins with a right on them",
			grantTo(grantDefinition, i.server.identity.login))
	}
	return nil
}

// grantDefinition shows a login the files of all databases.
const grantDefinition = "GRANT VIEW ANY DEFINITION TO [filewise];"

// spaceOf returns a file's data space. If 0, it is of the log.
func spaceOf(r row) int64 {
	if r.Text("type") == "LOG" {
		return 0
	}
	return r.Int("space")
}

func fileOf(r row) filewise.FileInspect {
	growth, _ := r.Number("growth")
	f := filewise.FileInspect{Path: r.Text("path"), Bytes: r.Int("pages") * page, Growth: &filewise.Growth{Bytes: growth * page}}
	if r.Yes("percent_growth") {
		f.Growth = &filewise.Growth{Percent: float64(growth)}
	}
	if most, ok := r.Number("max_pages"); ok && most > 0 {
		f.Growth.Max = most * page
	}
	return f
}

// The databases of the server itself, by number.
const (
	masterID, temporaryID, modelID, agentID = 1, 2, 3, 4
)

// group returns the group of a data space.
func (d database) group(space int64) filewise.FileGroup {
	g := filewise.FileGroup{Name: fmt.Sprintf("filegroup %d of %s", space, d.name), Database: d.name, Use: filewise.UseData,
		Fill: filewise.FillFree, System: d.id <= agentID, Own: inspecting.Own(d.name)}
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

// log returns the name of the group of its log.
func (d database) log() string { return "log of " + d.name }

func (i *inspection) io(ctx context.Context) error {
	rows, err := i.rows(ctx, "inspect-io", nil)
	for _, r := range rows {
		f := i.file(r)
		if f == nil {
			continue
		}
		f.IO = map[string]float64{}
		for _, c := range counted {
			if n, ok := r.Number(c.column); ok {
				f.IO[c.name] = float64(n) * c.factor
			}
		}
	}
	return err
}

// file returns the file of a row. If nil, it was not listed.
func (i *inspection) file(r row) *filewise.FileInspect {
	at, ok := i.at[[2]int64{r.Int("database_id"), r.Int("file_id")}]
	if !ok {
		return nil
	}
	return i.File(at)
}

func (i *inspection) volumes(ctx context.Context) error {
	rows, err := i.rows(ctx, "inspect-volumes", nil)
	for _, r := range rows {
		if f := i.file(r); f != nil {
			f.Volume = "volume " + r.Text("mount")
		}
	}
	return err
}

func (i *inspection) logs(ctx context.Context) error {
	if !i.server.identity.version.atLeast(13, 5026) { // 2016 SP2
		return nil
	}
	rows, err := i.rows(ctx, "inspect-log", nil)
	for _, r := range rows {
		for _, d := range i.databases {
			n := slices.IndexFunc(i.Groups, func(g filewise.FileGroup) bool { return g.Name == d.log() })
			if d.id == r.Int("database_id") && n >= 0 {
				i.Groups[n].Fragments = int(r.Int("fragments"))
			}
		}
	}
	return err
}

// mostDatabases are requested the space within their files.
const mostDatabases = 20

// entered returns the user's databases that the account can enter.
func (i *inspection) entered() []database {
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
		i.Lack("space within the files of "+strings.Join(shut, ", "), "the login may not enter them",
			"in each, as its owner: CREATE USER "+ident(i.server.identity.login)+";")
	}
	return all
}

func (i *inspection) space(ctx context.Context, d database) error {
	rows, err := i.rows(ctx, "inspect-space", map[string]any{"Name": d.name})
	for _, r := range rows {
		at, listed := i.at[[2]int64{d.id, r.Int("file_id")}]
		pages, ok := r.Number("pages")
		used, told := r.Number("used")
		if !listed || !ok || !told {
			continue
		}
		free := (pages - used) * page
		i.File(at).Free = &free
		if g := i.Group(at); r.Text("filegroup") != "" && g.Use == filewise.UseData {
			g.Name, g.GrowsAll = "filegroup "+r.Text("filegroup")+" of "+d.name, r.Yes("grows_all")
		}
	}
	return err
}

func (i *inspection) waits(ctx context.Context) error {
	rows, err := i.rows(ctx, "inspect-waits", nil)
	for _, r := range rows {
		name := r.Text("name")
		millis, ok := r.Number("time")
		if class := waitClassOf(name); ok && class != "" {
			i.Waits = append(i.Waits, filewise.Counter{Name: name, Unit: "s", Value: float64(millis) / 1000, Class: class})
		}
	}
	return err
}

// allocation looks once whether sessions wait for pages of allocation: the sums of
// waits do not report them from other pages.
func (i *inspection) allocation(ctx context.Context) error {
	rows, err := i.rows(ctx, "inspect-allocation", nil)
	if err != nil || len(rows) != 1 {
		return err
	}
	if n, ok := rows[0].Number("allocation"); ok && n > 0 {
		i.Figures[filewise.FigureAllocation] = float64(n)
	}
	return nil
}
