package sqlite

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/internal/nearest"
	"filewise/internal/sqlfile"
)

const (
	pageBytes = 4096 // SQLite's default since 3.12.0
	// maxChunk is the largest SQLITE_FCNTL_CHUNK_SIZE of whole pages, which is a C int
	// (c3ref/c_fcntl_begin_atomic_write.html). The chunk size keeps checkpoints from truncating a preallocated file.
	maxChunk = (1<<31 - 1) / pageBytes * pageBytes
	maxFiles = 1000
	// busyMillis is the time that SQLite's own handler waits for a lock before the connection checks whether it should stop.
	busyMillis = 250
	// autoCheckpoint is SQLite's default, in pages (pragma.html#pragma_wal_autocheckpoint).
	autoCheckpoint = 1000
)

const noTemp = "SQLite keeps the temporary tables of a connection in one file of that connection: there is no number of temporary " +
	"files to choose"

// shard is one database file.
type shard struct {
	path   string
	volume filewise.Volume
	bytes  int64 // full size; of a growing file, the largest initial size
	chunk  int64 // SQLITE_FCNTL_CHUNK_SIZE; 0 for none
	tables []string
}

// shape is a layout with its workload, resolved and checked.
type shape struct {
	target         filewise.Target
	layout         filewise.Layout
	program        filewise.Program
	number         int // among simultaneous builds, from 1
	sql            *sqlfile.File
	perConnection  bool
	synchronous    string
	autoCheckpoint int
	settings       []string
	count          int // number of files
	from           int // files before this one take no new rows
	shards         []shard
	first          *shape // what is built and loaded before files are added; nil if nothing is added
}

// newShape returns the shape of the build with a number. The files of build 1 have the names that Statements shows.
func newShape(t filewise.Target, l filewise.Layout, p filewise.Program, number int) (*shape, error) {
	if err := supported(t, l, p); err != nil {
		return nil, err
	}
	s, err := settingsOf(t)
	if err != nil {
		return nil, err
	}
	s.layout, s.program, s.number, s.sql, s.count = l, p, number, workloads[p.SQL()], l.Data.Files
	s.perConnection = p.Table().PerConnection
	if err := s.placeLater(); err != nil {
		return nil, err
	}
	return s, s.fitsOpenFiles()
}

// settingsOf returns a shape that has only the connections' settings.
func settingsOf(t filewise.Target) (*shape, error) {
	s := &shape{target: t, autoCheckpoint: autoCheckpoint}
	var err error
	if s.synchronous, err = synchronous(t.Durability); err != nil {
		return nil, err
	}
	return s, s.readSettings(t.Settings)
}

var unsupported = filewise.Unsupported

// supported refuses what SQLite cannot do at all.
func supported(t filewise.Target, l filewise.Layout, p filewise.Program) error {
	usage := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, format, args...)
	}
	switch {
	case t.Mode != filewise.Embedded && t.Mode != "":
		return unsupported("leave the target out: SQLite runs inside Filewise", "a %s target on SQLite, which is no server", t.Mode)
	case p.Table().Temporary || l.Temp.Files > 0:
		return unsupported(filewise.TempElsewhere, "%s", noTemp)
	case p.Dumps():
		return unsupported("give --engine postgres, mariadb or mysql, or use scenario backup", "SQLite has no dump by several "+
			"jobs: .dump of its shell writes one stream of statements, and scenario backup measures its own backup")
	case workloads[p.SQL()] == nil && p.Custom == nil:
		return unsupported("known: "+strings.Join(slices.Sorted(maps.Keys(workloads)), ", "), "workload %q on SQLite", p.Workload)
	case l.Kind != filewise.KindShards:
		return unsupported(`use kind "shards"`, "layout kind %q on SQLite, which keeps a database in one file", l.Kind)
	case len(t.Volumes) == 0:
		return usage("give at least one volume", "no volume to place files on")
	case l.Data.Files < 1 || l.Data.Files > maxFiles:
		return usage(fmt.Sprintf("choose 1 to %d files", maxFiles), "%d files", l.Data.Files)
	case p.Connections() < 1 || p.First().CommitEvery < 1 || p.First().Args == nil:
		return usage("", "workload %q with %d connections, a commit every %d rows", p.Workload, p.Connections(), p.First().CommitEvery)
	}
	switch {
	case l.LogVolume != "":
		return unsupported("leave the log's volume out", "%s", logTogether)
	case l.Indexes != "" || l.IndexVolume != "":
		return unsupported("leave the indexes out", "%s", indexesWithin)
	case l.AddedLater != "" && !slices.Contains(arms, l.AddedLater):
		return unsupported("use untouched, new-data or rebuilt", "files added later: %q", l.AddedLater)
	}
	if err := supportedPhases(t, l, p); err != nil {
		return err
	}
	switch l.Data.Placement {
	case "", filewise.PlaceOne, filewise.PlaceRoundRobin:
	default:
		return unsupported("use one or round-robin", "placement %q", l.Data.Placement)
	}
	switch l.Data.Allocation {
	case "", filewise.Preallocated, filewise.Growing:
		return nil
	}
	return unsupported("use preallocated or growing", "allocation %q", l.Data.Allocation)
}

func synchronous(d filewise.Durability) (string, error) {
	switch d {
	case "", filewise.DurabilityFull:
		return "FULL", nil
	case filewise.DurabilityNormal:
		return "NORMAL", nil
	case filewise.DurabilityOff:
		return "OFF", nil
	}
	known := []string{string(filewise.DurabilityFull), string(filewise.DurabilityNormal), string(filewise.DurabilityOff)}
	return "", filewise.Errorf(filewise.CodeUsage, nearest.Remedy(string(d), known), "durability %q is unknown", d)
}

// place sets the path, size, chunk and tables of every file.
func (s *shape) place() error {
	d := s.layout.Data
	sizes := d.Sizes(pageBytes)
	for i := range s.count {
		if i < s.from {
			s.shards = append(s.shards, s.first.shards[i])
			continue
		}
		sh, err := s.shardAt(i, sizes[i], fmt.Sprintf("%04d", i+1))
		if err != nil {
			return err
		}
		s.shards = append(s.shards, sh)
	}
	return nil
}

// shardAt returns file i with the given size in bytes. Its name ends with end.
func (s *shape) shardAt(i int, bytes int64, end string) (shard, error) {
	v := s.layout.Data.VolumeOf(i, s.layout.DataVolumes(s.target.Volumes))
	dir, err := filepath.Abs(v.Dir)
	if err != nil {
		return shard{}, fmt.Errorf("volume %s: %w", v.Name, err)
	}
	name := slug(s.layout.Name)
	if s.number > 1 {
		name += fmt.Sprintf(".%d", s.number)
	}
	sh := shard{volume: v, path: filepath.Join(dir, name+"-"+end+".db"), tables: s.tablesOf(i)}
	return sh, s.size(&sh, bytes)
}

// size sets a file's size and chunk.
func (s *shape) size(sh *shard, share int64) error {
	least := leastBytes(len(sh.tables))
	if s.wholeTables() {
		least += 2 * pageBytes // fw_loaded and the index of its key
	}
	d := s.layout.Data
	if share < least {
		return filewise.Errorf(filewise.CodeUsage,
			fmt.Sprintf("choose at least --size %d, or fewer files", least*int64(d.Files)),
			"%s of %d bytes leave %d bytes for a file, which needs %d for its pages and tables",
			filewise.FilesName(d.Files), d.Bytes, share, least)
	}
	if d.Allocation == filewise.Growing {
		if d.Growth < 0 || d.Growth > maxChunk {
			return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("choose 0 (page by page) to %d bytes", maxChunk),
				"--growth %d: SQLite's growth step is a 32-bit number", d.Growth)
		}
		if len(s.program.Table().Key) > 0 {
			least += int64(len(sh.tables)) * pageBytes // the first page of the key's index
		}
		sh.chunk = roundUp(d.Growth, pageBytes)
		sh.bytes = roundUp(least, max(sh.chunk, pageBytes))
		return nil
	}
	if share > maxChunk {
		return filewise.Errorf(filewise.CodeUsage, "take more files, a smaller --size, or --allocation growing",
			"SQLite preallocates files of at most %s, and each would have %s", humanize.IBytes(uint64(maxChunk)), humanize.IBytes(uint64(share)))
	}
	sh.bytes, sh.chunk = share, share
	return nil
}

// leastBytes returns the space for a file's header and schema (a row of some 160 bytes for each table) and the first
// page of each table.
func leastBytes(tables int) int64 {
	return int64(1+tables+tables/16) * pageBytes
}

func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// filesOf returns the files that a connection works on: one file, or every Connections-th file if there are more files
// than connections.
func (s *shape) filesOf(worker int) []int {
	n, c := s.count-s.from, s.program.Connections()
	if n <= c {
		return []int{s.from + worker%n}
	}
	var files []int
	for f := worker; f < n; f += c {
		files = append(files, s.from+f)
	}
	return files
}

func (s *shape) tablesOf(file int) []string {
	switch {
	case s.wholeTables():
		return s.tablesIn(file)
	case s.program.Custom != nil:
		return customTables(s.program)
	case s.divided(): // the first of the files that its sections name themselves
		return []string{s.program.Table().Name}
	case !s.perConnection:
		return []string{tableName(false, 0)}
	}
	if file < s.from { // loaded when it was the only file
		return s.first.tablesOf(0)
	}
	var tables []string
	for w := range s.program.Connections() {
		for _, f := range s.filesOf(w) {
			if f == file {
				tables = append(tables, tableName(true, w))
			}
		}
	}
	return tables
}

// slug turns a layout's name into a file name: "8 files" → "8-files".
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case b.Len() >= 40:
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if out := strings.Trim(b.String(), "-"); out != "" {
		return out
	}
	return "layout"
}

// settable lists the pragmas that a user can set for every connection. None of them changes what is durable or where
// files lie.
var settable = []string{"cache_size", "mmap_size", "temp_store", "wal_autocheckpoint"}

// readSettings reads the user's settings, all of which are whole numbers.
func (s *shape) readSettings(settings map[string]string) error {
	for _, k := range slices.Sorted(maps.Keys(settings)) {
		if !slices.Contains(settable, k) {
			return filewise.Errorf(filewise.CodeUsage, nearest.Remedy(k, settable), "--set %s: SQLite has no such setting here", k)
		}
		n, err := strconv.ParseInt(settings[k], 10, 32)
		if err != nil {
			return filewise.Errorf(filewise.CodeUsage, "give a whole number", "--set %s=%s: %w", k, settings[k], err)
		}
		if k == "wal_autocheckpoint" {
			s.autoCheckpoint = int(n)
			continue
		}
		s.settings = append(s.settings, fmt.Sprintf("%s = %d", k, n))
	}
	return nil
}
