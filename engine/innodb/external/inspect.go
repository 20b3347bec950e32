package external

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/inspecting"
)

// reading returns the variables of a session that only looks: it cannot write, and
// gives up what a lock or a large catalogue would make long.
func (d Engine) reading(release [2]int) map[string]string {
	all := d.External.Session(release)
	for _, name := range []string{"tx_read_only", "transaction_read_only"} {
		if _, ok := all[name]; ok {
			all[name] = "1"
		}
	}
	maps.Copy(all, d.External.Reading(inspecting.Patience-time.Second))
	all["lock_wait_timeout"] = "1"
	return all
}

// CheckOptions refuses what the driver does not read.
func (Engine) CheckOptions(a filewise.Address) error { return options.Check(a) }

// Inspect looks at an existing server.
func (d Engine) Inspect(ctx context.Context, t filewise.Target) (filewise.Inspection, error) {
	first, cancel := context.WithTimeout(ctx, 4*inspecting.Patience)
	defer cancel()
	s, err := d.open(first, withoutPath(t), d.reading)
	if err != nil {
		return filewise.Inspection{}, err
	}
	defer s.db.Close()
	i := &inspection{server: s, status: map[string]string{}, times: map[string]map[string]float64{}}
	i.Asker = inspecting.New(i.remedy)
	i.look(ctx)
	return *i.Inspection, nil
}

type inspection struct {
	*inspecting.Asker
	server *server
	status map[string]string
	times  map[string]map[string]float64 // I/O by path
}

// remedy: rights are the usual reason (ER_SPECIFIC_ACCESS_DENIED, ER_TABLEACCESS_DENIED,
// ER_DBACCESS_DENIED).
func (i *inspection) remedy(question string, err error) string {
	switch n, _ := dialect.Number(err); n {
	case 1227:
		return i.server.grant([]string{"PROCESS"}, "*.*")
	case 1142, 1044:
		return i.server.grant([]string{"SELECT"}, "performance_schema.*")
	}
	return ""
}

func (i *inspection) look(ctx context.Context) {
	s := i.server
	i.Server = s.product.Title + " " + s.version
	i.Local, _ = s.local()
	i.Ask(ctx, "status", func(ctx context.Context) (err error) {
		i.status, err = dialect.Pairs(ctx, s.db, "SHOW GLOBAL STATUS")
		return s.explain(err)
	})
	i.settings()
	i.figures()
	i.ofPerformanceSchema(ctx)
	i.Ask(ctx, "files of tables", i.tables)
	if !slices.ContainsFunc(i.Groups, func(g filewise.FileGroup) bool { return !g.System && g.Use == filewise.UseData }) {
		i.Settings["sizes of tables"] = "as of the last ANALYZE: the account sees no files"
		i.Ask(ctx, "sizes of tables", i.sizes)
	}
	i.Ask(ctx, "sizes of rows", i.rows)
	i.Ask(ctx, "foreign keys", i.foreign)
	i.serverFiles()
	i.places()
}

// inspected are the variables that decide how files are made and written.
var inspected = []string{
	"innodb_file_per_table", "innodb_data_file_path", "innodb_autoextend_increment", "innodb_temp_data_file_path", "innodb_log_file_size",
	"innodb_log_files_in_group",
	"innodb_redo_log_capacity", "innodb_buffer_pool_size", "innodb_flush_method", "innodb_flush_log_at_trx_commit", "innodb_io_capacity",
	"performance_schema", "sync_binlog", "tmp_table_size",
}

func (i *inspection) settings() {
	for _, name := range inspected {
		if v, ok := i.server.vars[name]; ok {
			i.Settings[name] = v
		}
	}
	if !i.server.on("innodb_file_per_table") {
		i.Settings["new tables"] = "lie in the system tablespace"
	}
}

func (i *inspection) figures() {
	if n := number64(i.status, "Uptime"); n >= 0 {
		i.Since = time.Duration(n) * time.Second
	}
	for variable, name := range map[string]string{
		"Innodb_buffer_pool_read_requests": filewise.FigureRequests, "Innodb_buffer_pool_reads": filewise.FigureMisses,
		"Threads_connected": filewise.FigureSessions, "Created_tmp_tables": filewise.FigureTempTables,
		"Created_tmp_disk_tables": filewise.FigureTempDisk,
		"Innodb_os_log_written":   filewise.FigureLogBytes, "Innodb_log_waits": filewise.FigureLogWaits,
		"Innodb_buffer_pool_wait_free": filewise.FigureFreeWaits,
	} {
		if n := number64(i.status, variable); n >= 0 {
			i.Figures[name] = float64(n)
		}
	}
	if n, ok := i.Figures[filewise.FigureSessions]; ok {
		i.Figures[filewise.FigureSessions] = max(n-1, 0) // Filewise's own
	}
	if n := number64(i.server.vars, "innodb_buffer_pool_size"); n > 0 {
		i.Figures[filewise.FigureBuffer] = float64(n)
	}
}

// ofServer are the databases of the server itself.
var ofServer = map[string]bool{"mysql": true, "sys": true, "information_schema": true, "performance_schema": true}

func (i *inspection) tables(ctx context.Context) error {
	files, err := i.server.product.TableFiles(ctx, i.server.db, "t.NAME LIKE '%/%' ORDER BY t.FILE_SIZE DESC LIMIT 2000")
	if err != nil {
		return i.server.explain(err)
	}
	decoded := map[string]string{}
	for _, f := range files {
		table, database, partitioned := tableOf(f.Name)
		for _, name := range []*string{&table, &database} {
			if *name, err = i.plain(ctx, *name, decoded); err != nil {
				return err
			}
		}
		i.add(database+"."+table, database, partitioned, i.file(cmp.Or(f.Path, f.Name+".ibd"), f.Bytes))
	}
	return nil
}

// readSizes reads what an account sees of its own tables without the right PROCESS.
const readSizes = `
SELECT TABLE_SCHEMA, TABLE_NAME, PARTITION_NAME, COALESCE(DATA_LENGTH, 0) + COALESCE(INDEX_LENGTH, 0) + COALESCE(DATA_FREE, 0)
  FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')
    AND DATA_LENGTH IS NOT NULL
 ORDER BY 4 DESC LIMIT 2000`

func (i *inspection) sizes(ctx context.Context) error {
	err := dialect.Each(ctx, i.server.db, func(scan dialect.Scan) error {
		var database, table string
		var partition sql.NullString
		var bytes int64
		err := scan(&database, &table, &partition, &bytes)
		name := strings.Trim(database+"."+table+" "+partition.String, " ")
		i.add(database+"."+table, database, partition.Valid, filewise.FileInspect{Path: name, Bytes: bytes})
		return err
	}, readSizes)
	return i.server.explain(err)
}

// foreign reports the tables that have part in foreign keys, which InnoDB has none of on
// partitions.
func (i *inspection) foreign(ctx context.Context) error {
	groups, databases := map[string]int{}, map[string]bool{}
	for n, g := range i.Groups {
		if groups[g.Name] = n; g.Database != "" {
			databases[g.Database] = true
		}
	}
	keys, err := i.server.foreignKeys(ctx, slices.Sorted(maps.Keys(databases))...)
	for _, k := range keys {
		for _, end := range [][2]string{k.from, k.to} {
			if n, is := groups["table "+end[0]+"."+end[1]]; is {
				i.Groups[n].Whole = "it has part in the foreign key " + k.name
			}
		}
	}
	return i.server.explain(err)
}

// add adds a file to its table's group.
func (i *inspection) add(table, database string, partitioned bool, f filewise.FileInspect) {
	g := filewise.FileGroup{Name: "table " + table, Database: database, Use: filewise.UseData, Fill: filewise.FillOwn,
		System: ofServer[database], Own: inspecting.Own(database)}
	if partitioned {
		g.Fill = filewise.FillPartitions
	}
	i.Add(g, f)
}

// tableOf reads the name of a tablespace: “sales/orders#P#p0”, with “#SP#” behind
// if there are subpartitions; special characters are written as “@0040”.
func tableOf(name string) (table, database string, partitioned bool) {
	database, table, _ = strings.Cut(name, "/")
	for _, infix := range []string{"#P#", "#p#"} {
		if head, _, ok := strings.Cut(table, infix); ok {
			return head, database, true
		}
	}
	return table, database, false
}

// plain returns a name as it was given, of one as files have it.
func (i *inspection) plain(ctx context.Context, name string, known map[string]string) (string, error) {
	if !i.server.product.Files.Encoded || !strings.Contains(name, "@") {
		return name, nil
	}
	if plain, is := known[name]; is {
		return plain, nil
	}
	var plain string
	err := i.server.db.QueryRowContext(ctx, "SELECT CONVERT(CONVERT(CAST(? AS BINARY) USING filename) USING utf8mb4)", name).Scan(&plain)
	known[name] = plain
	return plain, i.server.explain(err)
}

func (i *inspection) file(name string, bytes int64) filewise.FileInspect {
	name = i.whole(name)
	return filewise.FileInspect{Path: name, Bytes: bytes, Volume: path.Dir(path.Dir(name)), Dir: path.Dir(name), IO: i.times[name]}
}

// serverFiles adds the files that start-up options name: the system tablespace, the
// temporary tablespace, and the redo log.
func (i *inspection) serverFiles() {
	s := i.server
	home := s.vars["innodb_data_home_dir"]
	if home == "" {
		home = s.vars["datadir"]
	}
	step := number64(s.vars, "innodb_autoextend_increment") * (1 << 20)
	system := i.ofPath("system tablespace", filewise.UseData, home, s.vars["innodb_data_file_path"], step)
	system.System = s.on("innodb_file_per_table")
	i.Groups = append(i.Groups, system, i.ofPath("temporary tablespace", filewise.UseTemp, home, s.vars["innodb_temp_data_file_path"], step))
	i.redo()
}

func (i *inspection) redo() {
	s := i.server
	dir := s.vars["innodb_log_group_home_dir"]
	if dir == "" || dir == "./" {
		dir = s.vars["datadir"]
	}
	redo := filewise.FileGroup{Name: "redo log", Use: filewise.UseLog, Fill: filewise.FillOrder}
	if capacity := number64(s.vars, "innodb_redo_log_capacity"); capacity > 0 {
		// “Redo Log”: since 8.0.30 some 32 files that come and go, seen as one.
		f := i.file(path.Join(i.whole(dir), "#innodb_redo", "#ib_redo"), capacity)
		f.IO = i.under(f.Path)
		redo.Files = append(redo.Files, f)
	} else {
		for n := range max(number64(s.vars, "innodb_log_files_in_group"), 1) { // MariaDB 10.5: one
			redo.Files = append(redo.Files, i.file(path.Join(i.whole(dir), "ib_logfile"+strconv.FormatInt(n, 10)),
				number64(s.vars, "innodb_log_file_size")))
		}
	}
	i.Groups = append(i.Groups, redo)
}

// under returns the I/O of all files whose paths begin so. If nil, there is none.
func (i *inspection) under(prefix string) (all map[string]float64) {
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

// ofPath reads a list such as “ibdata1:12M;ibdata2:50M:autoextend:max:500M”; if
// the file can be seen here, the size is the file's.
func (i *inspection) ofPath(name string, use filewise.FileUse, home, list string, step int64) filewise.FileGroup {
	g := filewise.FileGroup{Name: name, Use: use, Fill: filewise.FillOrder, System: use != filewise.UseData}
	if list == "" {
		return g
	}
	files, err := dialect.ParseDataFiles(list, i.whole(home))
	if err != nil {
		i.Lack("files of the "+name, err.Error(), "")
	}
	for _, listed := range files {
		f := i.file(listed.Path, listed.Bytes)
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

// places returns where tables can be put in addition: MySQL lists them, MariaDB takes any.
func (i *inspection) places() {
	s := i.server
	i.Places = []filewise.Place{{Volume: filewise.Volume{Name: "default"}, Path: strings.TrimRight(s.vars["datadir"], "/")}}
	for _, dir := range slices.Sorted(maps.Keys(i.directories())) {
		name := strings.Trim(strings.ReplaceAll(path.Clean(dir), "/", "-"), "-.")
		i.Places = append(i.Places, filewise.Place{Volume: filewise.Volume{Name: name, Dir: dir}, Path: dir})
	}
}

func (i *inspection) directories() map[string]bool {
	all := map[string]bool{}
	for dir := range strings.SplitSeq(i.server.vars["innodb_directories"], ";") {
		if dir = strings.TrimSpace(dir); path.IsAbs(dir) && path.Clean(dir) != path.Clean(i.server.vars["datadir"]) {
			all[path.Clean(dir)] = true
		}
	}
	return all
}
