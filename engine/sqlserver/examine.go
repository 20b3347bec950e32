package sqlserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/findings"
)

type examination struct {
	findings.Examination
	server *externalServer
}

// Examine reports whether the server can do what the experiment needs. It only reads.
func (s *externalServer) Examine(ctx context.Context, d filewise.Demand) []filewise.Finding {
	e := &examination{findings.Examination{Demand: d}, s}
	e.versionAndEdition()
	if err := s.identity.noData; err != nil {
		e.Fail("data directory", filewise.RemedyOf(err), "%v", err)
		return e.Findings
	}
	e.rights()
	e.layouts(ctx)
	e.restorable(ctx)
	e.backups(ctx)
	e.space(ctx)
	e.instant(ctx)
	e.connections(ctx)
	e.settings(ctx)
	e.temporary(ctx)
	e.hosts()
	e.Leftovers(ctx, s, s.target.Address.String())
	return e.Findings
}

func (e *examination) versionAndEdition() {
	i := e.server.identity
	e.OK("version", "SQL Server %s (%s %s)", i.version, i.versionText, i.level)
	limit := i.expressLimit()
	if limit == 0 {
		e.OK("edition", "%s", i.edition)
		return
	}
	for _, l := range e.Demand.Layouts {
		bytes := l.Data.Bytes
		if l.Indexes == filewise.IndexesApart {
			bytes += l.Data.Bytes / 4
		}
		if bytes > limit {
			e.Fail("edition", "use --size "+humanize.IBytes(uint64(limit)*3/4)+" or less, or another edition",
				"%s allows %s of data in a database, and %s has %s", i.edition, humanize.IBytes(uint64(limit)), l.Name, humanize.IBytes(uint64(bytes)))
			return
		}
	}
	e.Warn("edition", "measure on the edition that you use", "%s uses few cores, 1.4 GB of buffers, and %s of data in a database at most",
		i.edition, humanize.IBytes(uint64(limit)))
}

func (e *examination) rights() {
	may, login, version := e.server.may, e.server.identity.login, e.server.identity.version
	seeing, _ := version.viewRight()
	e.Rights("rights", login, "has what is needed", []findings.Right{
		{Check: "rights to create databases", Name: mayCreate, Has: may.create, Grant: grantTo(grantCreate, login),
			Lacks: "may not create databases"},
		{Check: "rights to see the server's state", Name: seeing, Has: may.view, Grant: e.server.identity.grantSeeing(), Optional: true,
			Lacks: "does not see other sessions, free space, and I/O per file: --abort-if cannot work"},
		{Check: "rights to empty the buffer pool", Name: mayOnline, Has: e.server.may.online, Grant: grantTo(grantOnline, login),
			Optional: !cools(e.Demand.Program), Part: true,
			Lacks: "may not bring a database back online: --cache buffer-cold and --measure lifecycle cannot work, " +
				"and clean cannot remove what is offline"},
	})
}

// layouts refuses what Build would refuse, and files smaller than model's.
func (e *examination) layouts(ctx context.Context) {
	s := e.server
	for _, l := range e.Demand.Layouts {
		if _, err := newDesign(s.target, l, e.Demand.Program, s.at(exampleName, "")); err != nil {
			e.Fail("layout "+l.Name, filewise.RemedyOf(err), "%v", err)
		}
	}
	r, err := ask(ctx, s.control, "model", nil)
	if err != nil {
		e.Unseen("size of model", s.login.explain(err))
		return
	}
	pages, _ := r.Number("pages")
	for _, l := range e.Demand.Layouts {
		each := l.Data.Bytes / int64(max(l.Data.Files, 1))
		if l.Data.Allocation == filewise.Growing {
			each = leastFile
		}
		if each < pages*page {
			e.Fail("size of model", "make --size larger",
				"the first file of a database is at least as large as model's, %s; %s has files of %s", humanize.IBytes(uint64(pages*page)),
				l.Name, humanize.IBytes(uint64(each)))
			return
		}
	}
	e.OK("size of model", "%s", humanize.IBytes(uint64(pages*page)))
	e.model(ctx)
}

// model finds what would keep every database from being dropped, before the first CREATE. Most logins cannot read
// model; then the first build finds it.
func (e *examination) model(ctx context.Context) {
	if r, err := ask(ctx, e.server.control, "in-model", nil); err == nil && r.Text("other") != "" {
		e.Fail("objects in model", fromModel, "every new database has from database model: %s", r.Text("other"))
	}
}

// exampleName is as long as a real name.
const exampleName = "filewise_xxxxxxxxxxxxxxxxxx"

func (e *examination) instant(ctx context.Context) {
	i := e.server.identity
	const check = "instant file initialization"
	switch {
	case !i.version.atLeast(13, 4001): // 2016 SP1
		e.Note(check, "", "SQL Server 2016 reports it from Service Pack 1 on")
		return
	case i.version.major >= divided && !e.server.may.security:
		e.Note(check, grantTo(grantSecurity, i.login), "the account lacks the right to read it")
		return
	case i.version.major < divided && !e.server.may.view:
		e.Note(check, i.grantSeeing(), "the account lacks the right to read it")
		return
	}
	r, err := ask(ctx, e.server.control, "instant-initialization", nil)
	if err != nil {
		e.Unseen(check, e.server.login.explain(err))
		return
	}
	if r.Text("enabled") == "Y" {
		e.OK(check, "data files are created without writing zeros; the log's are always written")
		return
	}
	e.Warn(check, "grant the service account \"Perform volume maintenance tasks\", or give --allocation preallocated",
		"it is off: every data file is written full of zeros when it is created and when it grows, which takes its time while measured")
}

// systemWorkers is about how many workers the server needs for itself.
const systemWorkers = 64

func (e *examination) connections(ctx context.Context) {
	limit := e.server.identity.sessions
	in, free := fmt.Sprintf("the server allows %d", limit), limit
	if gauges, err := e.server.Activity(ctx); err == nil {
		for _, g := range gauges {
			if g.Name == "sessions" {
				free -= int64(g.Value)
				in += fmt.Sprintf(", others have %.0f of them", g.Value)
			}
		}
	}
	// A working session has a worker. If there are too few, requests wait for one (THREADPOOL).
	if m, err := ask(ctx, e.server.control, "machine", nil); err == nil {
		if workers, ok := m.Number("workers"); ok && workers-systemWorkers < free {
			free = workers - systemWorkers
			in += fmt.Sprintf(", and it has %d workers, of which some %d are its own", workers, systemWorkers)
		}
	}
	kept := min(mostIdle, (len(e.Demand.Layouts)-1)*e.Demand.Program.Connections()) // other layouts' connections, kept between turns
	e.Connections(int64(e.Demand.Program.Connections()+max(kept, 0)+controls+insides+2), free, "use fewer --connections", in)
}

// settings checks server settings that distort a result. They belong to the server's owner, and Filewise changes none.
func (e *examination) settings(ctx context.Context) {
	facts, err := e.server.configuration(ctx)
	if err != nil {
		e.Unseen("settings", err)
		return
	}
	for _, f := range facts {
		n, _ := strconv.ParseInt(f.Value, 10, 64)
		if d, ok := distorting[f.Name]; ok && d.does(n) {
			e.Warn("setting "+f.Name, d.remedy, "it is %s: %s", f.Value, d.why)
		}
	}
}

var distorting = map[string]struct {
	does        func(int64) bool
	why, remedy string
}{
	"max server memory (MB)": {func(n int64) bool { return n >= 2147483647 },
		"the buffers may take all memory, and swapping would be measured", "limit it if other programs run on the server"},
	"priority boost": {func(n int64) bool { return n == 1 }, "the server's threads starve the system's threads that write",
		"switch it off, as Microsoft advises"},
	"lightweight pooling": {func(n int64) bool { return n == 1 }, "fibers change how sessions wait", "switch it off, as Microsoft advises"},
	"recovery interval (min)": {func(n int64) bool { return n > 5 },
		"a checkpoint may come later than the measured window ends, so that the data files are not written within it",
		"use a longer --window"},
	"fill factor (%)": {func(n int64) bool { return n > 0 && n < 90 }, "a rebuild leaves pages partly empty",
		"consider it if you compare the layout rebuilt"},
}

// backups checks before anything is built that backup files can be removed. It also counts the space of files that
// stay.
func (e *examination) backups(ctx context.Context) {
	p, s := e.Demand.Program, e.server
	var files []filewise.Layout // whose backups are files
	var volumes []filewise.Volume
	for _, l := range e.Demand.Layouts {
		if p.BacksUp() && !l.Discard {
			files, volumes = append(files, l), append(volumes, l.BackupVolumes(s.target.Volumes)...)
		}
	}
	if p.Restored() && strings.Contains(p.Custom.From, "://") {
		volumes = append(volumes, s.target.Volumes[0])
	}
	if len(volumes) == 0 {
		return
	}
	if !e.backupFiles(ctx, volumes) {
		return
	}
	for _, l := range files[min(1, len(files)):] { // one layout's files are counted already
		on := l.BackupVolumes(s.target.Volumes)
		for i := range max(l.Backup.Files, 1) {
			if v := l.Backup.VolumeOf(i, on).Name; e.Demand.Space != nil {
				e.Demand.Space[v] += l.Data.Bytes / int64(max(l.Backup.Files, 1))
			}
		}
	}
}

// backupFiles checks whether backup files on volumes can be removed. stay is true if they cannot, but are allowed to
// stay.
func (e *examination) backupFiles(ctx context.Context, volumes []filewise.Volume) (stay bool) {
	const check = "backup files"
	err := e.server.removableHere(ctx, volumes)
	set, _ := readSettings(e.server.target.Settings) // Open has read them
	switch {
	case err == nil:
		e.OK(check, "Filewise sees where they go, and removes them")
	case !set.keepBackups:
		e.Absent(check, filewise.RemedyOf(err), "%s", filewise.Plain(err))
	default:
		e.Warn(check, "remove the files filewise_*_backup_1_* on the server's host afterwards", "they stay, one set for each layout: %v", err)
		return true
	}
	return false
}

func (e *examination) hosts() {
	i := e.server.identity
	if i.sameHost() {
		e.Note("client and server", "run Filewise on another machine if the server's CPU is busy",
			"they are one machine (%s): Filewise takes some of its CPU time", i.machine)
		return
	}
	e.Note("client and server", "", "they are two machines: every call of a worker crosses the network (%s to %s); calls take 50 to 200 ms, "+
		"so little of it is measured", i.clientAddress, i.serverAddress)
}
