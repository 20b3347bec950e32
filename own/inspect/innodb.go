package inspect

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/internal/marker"
)

// ofInnoDB inspects a MariaDB or MySQL server.
type ofInnoDB struct {
	*asker
	vars   map[string]string // global variables
	status map[string]string
	times  map[string]map[string]float64 // I/O by path
}

func lookInnoDB(ctx context.Context, all *asker) {
	i := &ofInnoDB{asker: all, vars: all.in.About().Settings, status: map[string]string{}, times: map[string]map[string]float64{}}
	i.Server = i.in.About().Server
	i.ask(ctx, "status", func(ctx context.Context) error {
		rows, err := i.rows(ctx, "status")
		for _, r := range rows {
			i.status[r.Text(0)] = r.Text(1)
		}
		return err
	})
	if i.engine == "mariadb" {
		i.ask(ctx, "cores", func(ctx context.Context) error {
			rows, err := i.rows(ctx, "cores")
			i.Cores = int(only(rows).Int(0))
			return err
		})
	}
	i.settings()
	i.figures()
	i.ofPerformanceSchema(ctx)
	i.ask(ctx, "files of tables", i.tables)
	if !slices.ContainsFunc(i.Groups, func(g filewise.FileGroup) bool { return !g.System && g.Use == filewise.UseData }) {
		i.Settings["sizes of tables"] = "as of the last ANALYZE: the account sees no files"
		i.ask(ctx, "sizes of tables", i.sizes)
	}
	i.ask(ctx, "sizes of rows", i.rowSizes)
	i.ask(ctx, "foreign keys", i.foreign)
	i.serverFiles()
	i.places()
}

// inspected lists the variables that decide how files are made and written.
var inspected = []string{
	"innodb_file_per_table", "innodb_data_file_path", "innodb_autoextend_increment", "innodb_temp_data_file_path", "innodb_log_file_size",
	"innodb_log_files_in_group",
	"innodb_redo_log_capacity", "innodb_buffer_pool_size", "innodb_flush_method", "innodb_flush_log_at_trx_commit", "innodb_io_capacity",
	"performance_schema", "sync_binlog", "tmp_table_size",
}

func (i *ofInnoDB) settings() {
	for _, name := range inspected {
		if v, ok := i.vars[name]; ok {
			i.Settings[name] = v
		}
	}
	if !i.on("innodb_file_per_table") {
		i.Settings["new tables"] = "lie in the system tablespace"
	}
}

func (i *ofInnoDB) figures() {
	if n := number(i.status, "Uptime"); n >= 0 {
		i.Since = time.Duration(n) * time.Second
	}
	for variable, name := range map[string]string{
		"Innodb_buffer_pool_read_requests": filewise.FigureRequests, "Innodb_buffer_pool_reads": filewise.FigureMisses,
		"Threads_connected": filewise.FigureSessions, "Created_tmp_tables": filewise.FigureTempTables,
		"Created_tmp_disk_tables": filewise.FigureTempDisk,
		"Innodb_os_log_written":   filewise.FigureLogBytes, "Innodb_log_waits": filewise.FigureLogWaits,
		"Innodb_buffer_pool_wait_free": filewise.FigureFreeWaits,
	} {
		if n := number(i.status, variable); n >= 0 {
			i.Figures[name] = float64(n)
		}
	}
	if n, ok := i.Figures[filewise.FigureSessions]; ok {
		i.Figures[filewise.FigureSessions] = max(n-1, 0) // without Filewise's own session
	}
	if n := number(i.vars, "innodb_buffer_pool_size"); n > 0 {
		i.Figures[filewise.FigureBuffer] = float64(n)
	}
}

// ofInnoDBItself lists the server's own databases.
var ofInnoDBItself = map[string]bool{"mysql": true, "sys": true, "information_schema": true, "performance_schema": true}

func (i *ofInnoDB) tables(ctx context.Context) error {
	files, err := i.rows(ctx, "files")
	if err != nil {
		return err
	}
	decoded := map[string]string{}
	for _, f := range files {
		table, database, partitioned := tableOf(f.Text(0))
		for _, name := range []*string{&table, &database} {
			if *name, err = i.plain(ctx, *name, decoded); err != nil {
				return err
			}
		}
		i.add(database+"."+table, database, partitioned, i.fileAt(cmp.Or(f.Text(1), f.Text(0)+".ibd"), f.Int(2)))
	}
	return nil
}

func (i *ofInnoDB) sizes(ctx context.Context) error {
	rows, err := i.rows(ctx, "sizes")
	for _, r := range rows {
		database, table, partition := r.Text(0), r.Text(1), r.Text(2)
		name := strings.Trim(database+"."+table+" "+partition, " ")
		i.add(database+"."+table, database, partition != "", filewise.FileInspect{Path: name, Bytes: r.Int(3)})
	}
	return err
}

// foreign marks the tables on either side of a foreign key as whole: InnoDB has no foreign keys on partitioned tables.
func (i *ofInnoDB) foreign(ctx context.Context) error {
	groups, databases := map[string]int{}, map[string]bool{}
	for n, g := range i.Groups {
		if groups[g.Name] = n; g.Database != "" {
			databases[g.Database] = true
		}
	}
	names := filewise.Each(slices.Sorted(maps.Keys(databases)), func(name string) any { return name })
	keys, err := i.rows(ctx, "foreign-keys", names...)
	for _, k := range keys {
		for _, end := range []int{1, 3} {
			if n, is := groups["table "+k.Text(end)+"."+k.Text(end+1)]; is {
				i.Groups[n].Whole = "it takes part in the foreign key " + k.Text(0)
			}
		}
	}
	return err
}

// add adds a file to the group of its table.
func (i *ofInnoDB) add(table, database string, partitioned bool, f filewise.FileInspect) {
	g := filewise.FileGroup{Name: "table " + table, Database: database, Use: filewise.UseData, Fill: filewise.FillOwn,
		System: ofInnoDBItself[database], Own: marker.IsName(database)}
	if partitioned {
		g.Fill = filewise.FillPartitions
	}
	i.addFile(g, f)
}

// tableOf reads a tablespace's name, such as “sales/orders#P#p0”. With subpartitions, “#SP#” follows. Special
// characters are written as “@0040”.
func tableOf(name string) (table, database string, partitioned bool) {
	database, table, _ = strings.Cut(name, "/")
	for _, infix := range []string{"#P#", "#p#"} {
		if head, _, ok := strings.Cut(table, infix); ok {
			return head, database, true
		}
	}
	return table, database, false
}

// plain returns a name as the user gave it, from its form in file names.
func (i *ofInnoDB) plain(ctx context.Context, name string, known map[string]string) (string, error) {
	if i.engine != dialect.MariaDB.Name || !strings.Contains(name, "@") {
		return name, nil
	}
	if plain, is := known[name]; is {
		return plain, nil
	}
	rows, err := i.rows(ctx, "plain", name)
	known[name] = only(rows).Text(0)
	return known[name], err
}

func (i *ofInnoDB) fileAt(name string, bytes int64) filewise.FileInspect {
	name = i.whole(name)
	return filewise.FileInspect{Path: name, Bytes: bytes, Volume: path.Dir(path.Dir(name)), Dir: path.Dir(name), IO: i.times[name]}
}

// serverFiles adds the files that start-up options name: the system tablespace, the temporary tablespace, and the redo
// log.
func (i *ofInnoDB) serverFiles() {
	home := i.vars["innodb_data_home_dir"]
	if home == "" {
		home = i.vars["datadir"]
	}
	step := number(i.vars, "innodb_autoextend_increment") * (1 << 20)
	system := i.ofPath("system tablespace", filewise.UseData, home, i.vars["innodb_data_file_path"], step)
	system.System = i.on("innodb_file_per_table")
	i.Groups = append(i.Groups, system, i.ofPath("temporary tablespace", filewise.UseTemp, home, i.vars["innodb_temp_data_file_path"], step))
	i.redo()
}

func (i *ofInnoDB) redo() {
	dir := i.vars["innodb_log_group_home_dir"]
	if dir == "" || dir == "./" {
		dir = i.vars["datadir"]
	}
	redo := filewise.FileGroup{Name: "redo log", Use: filewise.UseLog, Fill: filewise.FillOrder}
	if capacity := number(i.vars, "innodb_redo_log_capacity"); capacity > 0 {
		// Manual, “Redo Log”: since 8.0.30 the log has some 32 files that come and go. They count as one.
		f := i.fileAt(path.Join(i.whole(dir), "#innodb_redo", "#ib_redo"), capacity)
		f.IO = i.under(f.Path)
		redo.Files = append(redo.Files, f)
	} else {
		for n := range max(number(i.vars, "innodb_log_files_in_group"), 1) { // MariaDB 10.5 has one file
			redo.Files = append(redo.Files, i.fileAt(path.Join(i.whole(dir), "ib_logfile"+strconv.FormatInt(n, 10)),
				number(i.vars, "innodb_log_file_size")))
		}
	}
	i.Groups = append(i.Groups, redo)
}

// under returns the summed I/O of all files whose paths begin with prefix, or nil if there is none.
func (i *ofInnoDB) under(prefix string) (all map[string]float64) {
	for name, io := range i.times {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if all == nil {
			all = map[string]float64{}
		}
		for what, x := range io {
			all[what] += x
		}
	}
	return all
}

// ofPath reads a list such as “ibdata1:12M;ibdata2:50M:autoextend:max:500M”. If a file is on this machine, its size is
// read from the file.
func (i *ofInnoDB) ofPath(name string, use filewise.FileUse, home, list string, step int64) filewise.FileGroup {
	g := filewise.FileGroup{Name: name, Use: use, Fill: filewise.FillOrder, System: use != filewise.UseData}
	if list == "" {
		return g
	}
	files, err := dialect.ParseDataFiles(list, i.whole(home))
	if err != nil {
		i.lack("files of the "+name, err.Error(), "")
	}
	for _, listed := range files {
		f := i.fileAt(listed.Path, listed.Bytes)
		if info, err := os.Stat(f.Path); i.Local && err == nil {
			f.Bytes = info.Size()
		}
		f.Volume = f.Dir
		f.Growth = &filewise.Growth{}
		if listed.Grows && step > 0 {
			f.Growth.Bytes = step
		}
		g.Files = append(g.Files, f)
	}
	return g
}

// places adds other places for tables: MySQL lists them, and MariaDB accepts any.
func (i *ofInnoDB) places() {
	i.Places = []filewise.Place{{Volume: filewise.Volume{Name: "default"}, Path: strings.TrimRight(i.vars["datadir"], "/")}}
	for _, dir := range slices.Sorted(maps.Keys(i.directories())) {
		name := strings.Trim(strings.ReplaceAll(path.Clean(dir), "/", "-"), "-.")
		i.Places = append(i.Places, filewise.Place{Volume: filewise.Volume{Name: name, Dir: dir}, Path: dir})
	}
}

func (i *ofInnoDB) directories() map[string]bool {
	all := map[string]bool{}
	for dir := range strings.SplitSeq(i.vars["innodb_directories"], ";") {
		if dir = strings.TrimSpace(dir); path.IsAbs(dir) && path.Clean(dir) != path.Clean(i.vars["datadir"]) {
			all[path.Clean(dir)] = true
		}
	}
	return all
}

func (i *ofInnoDB) ofPerformanceSchema(ctx context.Context) {
	if !i.on("performance_schema") {
		i.lack("I/O per file and waits", "performance_schema is off, which is a start-up option", "ask its owner for performance_schema = ON")
		i.ask(ctx, "waits", i.sums)
		return
	}
	i.ask(ctx, "I/O per file", i.fileTimes)
	i.ask(ctx, "waits", i.sums)
}

func (i *ofInnoDB) fileTimes(ctx context.Context) error {
	rows, err := i.rows(ctx, "file-times")
	for _, r := range rows {
		io := map[string]float64{}
		for n, name := range []string{filewise.FileReads, filewise.FileBytesRead, filewise.FileReadTime, filewise.FileWrites,
			filewise.FileBytes, filewise.FileWriteTime} {
			io[name], _ = r.Real(n + 1)
		}
		io[filewise.FileReadTime] *= dialect.Picosecond
		io[filewise.FileWriteTime] *= dialect.Picosecond
		if io[filewise.FileReadTime] == 0 && io[filewise.FileWriteTime] == 0 { // the instrument counts, but does not time
			delete(io, filewise.FileReadTime)
			delete(io, filewise.FileWriteTime)
		}
		i.times[i.whole(r.Text(0))] = io
	}
	return err
}

// whole returns a path's full form: a relative one starts at the data directory.
func (i *ofInnoDB) whole(name string) string {
	if name == "" || path.IsAbs(name) || windowsPath(name) {
		return path.Clean(name)
	}
	return path.Join(i.vars["datadir"], name)
}

// mostRowSizes limits the largest tables whose row sizes are read, since each table is opened for that.
const mostRowSizes = 5

// rowHead is the least number of bytes that InnoDB adds to a row: header, transaction number and pointer to the undo
// log.
const rowHead = 5 + 6 + 7

func (i *ofInnoDB) rowSizes(ctx context.Context) error {
	var tables []*filewise.FileGroup
	for n := range i.Groups {
		if g := &i.Groups[n]; g.Use == filewise.UseData && !g.System && !g.Own && strings.HasPrefix(g.Name, "table ") {
			tables = append(tables, g)
		}
	}
	slices.SortStableFunc(tables, func(a, b *filewise.FileGroup) int { return cmp.Compare(bytesOf(*b), bytesOf(*a)) })
	for _, g := range tables[:min(len(tables), mostRowSizes)] {
		rows, err := i.rows(ctx, "row-size", g.Database, strings.TrimPrefix(g.Name, "table "+g.Database+"."))
		if err != nil {
			return err
		}
		mean, _ := only(rows).Real(0)
		g.RowBytes = max(mean-rowHead, 0)
	}
	return nil
}

// on reports whether a global variable is on. A missing one is off.
func (i *ofInnoDB) on(name string) bool {
	v := strings.ToUpper(i.vars[name])
	return v == "ON" || v == "1" || v == "YES"
}

// number returns a variable's value, or −1 if there is none.
func number(all map[string]string, name string) int64 {
	n, err := strconv.ParseInt(all[name], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func windowsPath(dir string) bool { return len(dir) > 2 && dir[1] == ':' }
