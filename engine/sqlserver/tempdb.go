package sqlserver

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/sqlserver/dialect"
)

// asItIs explains how to compare layouts of tempdb, whose files serve the whole server.
const asItIs = "tempdb is measured as it is: plan --sql prints the change for its owner, and compare judges the run before " +
	"against that after"

// tempdb describes the layout of the server's temporary database, by its files with rows.
type tempdb struct {
	files []tempFile
	cpus  int64
}

type tempFile struct {
	logical, path string
	bytes, growth int64
	startup       int64  // bytes at the server's next start; never more than bytes
	percent       bool   // the growth is a percentage
	steps         string // growth in words
}

// readTempdb reads the files of tempdb, which every login can see.
func (s *externalServer) readTempdb(ctx context.Context) (t tempdb, err error) {
	rows, err := askAll(ctx, s.control, "tempdb", nil)
	if err != nil {
		return t, s.login.explain(fmt.Errorf("files of tempdb: %w", err))
	}
	for _, r := range rows {
		growth, _ := r.Number("growth")
		f := tempFile{logical: r.Text("logical"), path: r.Text("path"), bytes: r.Int("pages") * page, growth: growth * page,
			percent: r.Yes("percent_growth")}
		f.startup = f.bytes
		if n, ok := r.Number("startup"); ok {
			f.startup = min(n*page, f.bytes)
		}
		f.steps = humanize.IBytes(uint64(f.growth))
		if f.percent {
			f.growth, f.steps = growth, fmt.Sprintf("%d %%", growth)
		}
		t.files = append(t.files, f)
	}
	if m, err := ask(ctx, s.control, "machine", nil); err == nil {
		t.cpus, _ = m.Number("cpus")
	}
	return t, nil
}

// String returns the layout in words.
func (t tempdb) String() string {
	var sizes, steps []string
	for _, f := range t.files {
		sizes, steps = append(sizes, humanize.IBytes(uint64(f.bytes))), append(steps, f.steps)
	}
	return fmt.Sprintf("%s: %s; growth %s", filewise.FilesName(len(t.files)), strings.Join(slices.Compact(sizes), ", "),
		strings.Join(slices.Compact(steps), ", "))
}

// Setup's defaults from 2016 on ("tempdb database", "Configure tempdb").
const (
	mostTempFiles = 8
	tempGrowth    = 64 * mib
)

// wanted returns the number of files that the cores call for, and the size of each. That is the largest file's size at
// the server's start, whatever a file has grown to since. Proportional fill needs files of one size.
func (t tempdb) wanted() (files int, bytes int64) {
	files, bytes = len(t.files), leastFile
	if t.cpus > 0 {
		files = max(files, int(min(t.cpus, mostTempFiles)))
	}
	for _, f := range t.files {
		bytes = max(bytes, (f.startup+mib-1)/mib*mib)
	}
	return files, bytes
}

// change returns the statements that the owner should execute; Filewise never does. It returns none if tempdb is laid
// out as recommended.
func (t tempdb) change(v version) []string {
	files, bytes := t.wanted()
	var all []string
	for _, f := range t.files {
		var set string
		if f.bytes < bytes { // setting the present size is an error (5039)
			set = fmt.Sprintf(", SIZE = %dKB", bytes/kib)
		}
		if set != "" || f.percent || f.growth != tempGrowth {
			all = append(all, fmt.Sprintf("ALTER DATABASE [tempdb] MODIFY FILE (NAME = %s%s, FILEGROWTH = %dKB);", dialect.Literal(f.logical), set,
				tempGrowth/kib))
		}
	}
	for len(t.files) < files {
		n := len(t.files) + 1
		name := t.unused(n)
		t.files = append(t.files, tempFile{logical: name})
		all = append(all, fmt.Sprintf("ALTER DATABASE [tempdb] ADD FILE (NAME = %s, FILENAME = %s, SIZE = %dKB, FILEGROWTH = %dKB);",
			dialect.Literal(name), dialect.Literal(t.sibling(name+".ndf")), bytes/kib, tempGrowth/kib))
	}
	if len(all) > 0 {
		all = append(all, t.sum(len(t.files), bytes))
	}
	if len(all) > 0 && v.major >= 15 {
		all = append(all, "-- if PAGELATCH waits are for tables of the catalogue (needs a restart):\n"+
			"-- ALTER SERVER CONFIGURATION SET MEMORY_OPTIMIZED TEMPDB_METADATA = ON;")
	}
	return all
}

// sum returns a comment on the space that the files then take.
func (t tempdb) sum(files int, bytes int64) string {
	text := fmt.Sprintf("-- %d files of %s, together %s", files, humanize.IBytes(uint64(bytes)), humanize.IBytes(uint64(int64(files)*bytes)))
	for _, f := range t.files {
		if f.bytes > bytes {
			text += fmt.Sprintf("; %s has grown to %s, and is as large as the others from the next start on", f.logical,
				humanize.IBytes(uint64(f.bytes)))
		}
	}
	return text
}

// unused returns a name that no file has.
func (t tempdb) unused(n int) string {
	for ; ; n++ {
		name := fmt.Sprintf("temp%d", n)
		if !slices.ContainsFunc(t.files, func(f tempFile) bool { return strings.EqualFold(f.logical, name) }) {
			return name
		}
	}
}

// sibling returns a path in the first file's directory.
func (t tempdb) sibling(name string) string {
	at := t.files[0].path
	if i := strings.LastIndexAny(at, `\/`); i >= 0 {
		return at[:i+1] + name
	}
	return path.Join(at, name)
}

// perCore is the number of connections per processor that make sessions compete for the same pages of a file's maps.
const perCore = 2

// contention reports whether enough connections work for the files of tempdb to matter. Only the server has its number
// of processors.
func (e *examination) contention(cpus int64) {
	const check = "contention in tempdb"
	n, least := int64(e.Demand.Program.Connections()), perCore*cpus
	switch {
	case cpus == 0:
		e.Note(check, e.server.identity.grantSeeing(), "%d connections work; the account cannot see the number of CPUs",
			n)
	case n < least:
		e.Warn(check, fmt.Sprintf("use --connections %d", least),
			"%d connections on %d CPUs hardly wait for the same pages of tempdb's files", n, cpus)
	default:
		e.OK(check, "%d connections on %d CPUs", n, cpus)
	}
}

// temporary describes tempdb's layout, and what its owner should change.
func (e *examination) temporary(ctx context.Context) {
	const check = "files of tempdb"
	if !e.Demand.Program.Table().Temporary {
		return
	}
	t, err := e.server.readTempdb(ctx)
	if err != nil || len(t.files) == 0 {
		e.Unseen(check, err)
		return
	}
	e.contention(t.cpus)
	v := e.server.identity.version
	script := t.change(v)
	about := fmt.Sprintf("%s, for %d processors; SQL Server %s makes one for each, %d at most, all equal, which grow by %s together "+
		"(as trace flags 1117 and 1118 had it before 2016)", t, t.cpus, v, mostTempFiles, humanize.IBytes(tempGrowth))
	if len(script) == 0 {
		e.OK(check, "%s", about)
		return
	}
	e.Note(check, "have the owner try this, which Filewise does not execute (fewer files again need a restart):\n"+strings.Join(script, "\n"),
		"%s", about)
}
