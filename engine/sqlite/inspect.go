package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/inspecting"
	"filewise/internal/filesystem"
	"filewise/internal/sqlitedriver"
)

// fileHeader holds what the first 100 bytes of a database say (fileformat2.html,
// “The Database Header”).
type fileHeader struct {
	page, pages, free int64
	wal               bool
	vacuum            bool // auto_vacuum is on
}

const (
	headerBytes = 100
	headerMagic = "SQLite format 3\x00"
)

var errNoDatabase = errors.New("it is no SQLite database (or an encrypted one)")

// parseHeader reads a header.
func parseHeader(b []byte) (h fileHeader, err error) {
	if len(b) < headerBytes || string(b[:16]) != headerMagic {
		return h, errNoDatabase
	}
	h.page = int64(binary.BigEndian.Uint16(b[16:]))
	if h.page == 1 {
		h.page = 65536
	}
	if h.page < 512 || h.page&(h.page-1) != 0 {
		return h, fmt.Errorf("its page size is %d, which is none: %w", h.page, errNoDatabase)
	}
	h.wal = b[18] == 2 || b[19] == 2
	h.pages, h.free = int64(binary.BigEndian.Uint32(b[28:])), int64(binary.BigEndian.Uint32(b[36:]))
	h.vacuum = binary.BigEndian.Uint32(b[52:]) != 0
	return h, nil
}

// Inspect looks at one database, or at all that a directory holds. It reads their
// headers without SQLite, which would take a lock and can make a WAL or a journal
// beside the file; nothing is written.
func (engine) Inspect(ctx context.Context, t filewise.Target) (filewise.Inspection, error) {
	path := t.Volumes[0].Dir
	i := &inspection{Asker: inspecting.New(func(string, error) string { return "look at the rights on the file" })}
	i.Server, i.Local = "SQLite, files of "+path, true
	paths, err := databasesIn(path)
	if err != nil {
		return filewise.Inspection{}, filewise.Errorf(filewise.CodePreflight, "name a database file that may be read, or a directory of such",
			"%s: %w", path, err)
	}
	for _, p := range paths {
		i.Ask(ctx, "database "+p, func(context.Context) error { return i.database(p) })
	}
	if len(i.Groups) == 0 {
		why := errNoDatabase
		if len(i.Gaps) > 0 {
			why = errors.New(i.Gaps[0].Why)
		}
		return filewise.Inspection{}, filewise.Errorf(filewise.CodePreflight, "name a database file, or a directory of such", "%s: %w", path, why)
	}
	i.together(path)
	return *i.Inspection, nil
}

// mostDatabases of a directory are looked at.
const mostDatabases = 10000

// databasesIn returns the file itself, or the databases of a directory.
func databasesIn(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		if !e.Type().IsRegular() || len(all) >= mostDatabases {
			continue
		}
		p := filepath.Join(path, e.Name())
		if h, err := header(p); err == nil && h.page > 0 {
			all = append(all, p)
		} else if errors.Is(err, fs.ErrPermission) {
			all = append(all, p) // reported it later
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there is no SQLite database in it")
	}
	return all, nil
}

func header(path string) (fileHeader, error) {
	// What is no plain file can block at its opening, or do something at its reading.
	if info, err := os.Stat(path); err != nil {
		return fileHeader{}, err
	} else if !info.Mode().IsRegular() {
		return fileHeader{}, errors.New("it is no plain file")
	}
	f, err := os.Open(path)
	if err != nil {
		return fileHeader{}, err
	}
	defer f.Close()
	b := make([]byte, headerBytes)
	if _, err := io.ReadFull(f, b); err != nil {
		return fileHeader{}, errNoDatabase
	}
	return parseHeader(b)
}

type inspection struct{ *inspecting.Asker }

func (i *inspection) database(path string) error {
	h, err := header(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	free := h.free * h.page
	name := filepath.Base(path)
	i.Groups = append(i.Groups, filewise.FileGroup{Name: "database " + name, Database: name, Use: filewise.UseData, Fill: filewise.FillOwn,
		Files: []filewise.FileInspect{{Path: path, Bytes: info.Size(), Free: &free, Dir: dir, Volume: dir}}})
	journal := "rollback journal: readers and the writer shut each other out"
	if h.wal {
		journal = "write-ahead log: readers go on beside one writer"
	}
	i.Settings[name] = fmt.Sprintf("pages of %d, %s, auto_vacuum %s", h.page, journal, map[bool]string{true: "on", false: "off"}[h.vacuum])
	for _, suffix := range []string{"-wal", "-journal"} {
		beside, err := os.Stat(path + suffix)
		if err != nil || beside.Size() == 0 {
			continue
		}
		i.Groups = append(i.Groups, filewise.FileGroup{Name: "log " + name + suffix, Database: name, Use: filewise.UseLog,
			Files: []filewise.FileInspect{{Path: path + suffix, Bytes: beside.Size(), Dir: dir, Volume: dir}}})
	}
	return nil
}

// together makes one group of databases that look like shards: names that differ in
// their digits alone.
func (i *inspection) together(path string) {
	plain := func(name string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, name)
	}
	shards := map[string]int{}
	var groups []filewise.FileGroup
	for _, g := range i.Groups {
		key := plain(g.Name)
		n, ok := shards[key]
		if !ok || g.Use != filewise.UseData {
			shards[key] = len(groups)
			groups = append(groups, g)
			continue
		}
		s := &groups[n]
		s.Name, s.Fill = fmt.Sprintf("databases %s … of %s", s.Database, filepath.Base(path)), filewise.FillFiles
		s.Files = append(s.Files, g.Files...)
	}
	slices.SortStableFunc(groups, func(a, b filewise.FileGroup) int { return cmp.Compare(a.Use, b.Use) })
	i.Groups = groups
}

// tellingOptions are the compile options that can change what is measured
// (compile.html); of the others only the version is of interest.
var tellingOptions = []string{
	"ATOMIC_INTRINSICS", "DEFAULT_MEMSTATUS", "DEFAULT_MMAP_SIZE", "DEFAULT_PAGE_SIZE", "DEFAULT_SYNCHRONOUS",
	"DEFAULT_WAL_AUTOCHECKPOINT", "DEFAULT_WAL_SYNCHRONOUS", "ENABLE_SETLK_TIMEOUT", "MALLOC_SOFT_LIMIT",
	"MUTEX_PTHREADS", "SYSTEM_MALLOC", "TEMP_STORE", "THREADSAFE", "MAX_MMAP_SIZE", "MUTEX_NOOP",
}

// Facts are SQLite's version and the settings that are in effect on a file of
// the first volume; the file is created for that and removed.
func (s *server) Facts(ctx context.Context) ([]filewise.Fact, error) {
	shape, err := settingsOf(s.target)
	if err != nil {
		return nil, err
	}
	facts, err := shape.tried(ctx, s.target.Volumes[0].Dir)
	if err != nil && ctx.Err() == nil { // the storage's, which may go away at any moment
		err = filewise.Errorf(filewise.CodePreflight, "look whether the volume is mounted and writable, and has room",
			"trying SQLite out on volume %s: %w", s.target.Volumes[0].Name, err)
	}
	return facts, err
}

func (s *shape) tried(ctx context.Context, volume string) (_ []filewise.Fact, err error) {
	dir, err := os.MkdirTemp(volume, "facts-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, filesystem.Insist(func() error { return os.RemoveAll(dir) })) }()
	path := filepath.Join(dir, "facts.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return nil, err
	}
	c, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return s.facts(ctx, c)
}

func (s *shape) facts(ctx context.Context, c *conn) ([]filewise.Fact, error) {
	for _, section := range []string{"create", "connection"} {
		if err := c.section(ctx, s, section); err != nil {
			return nil, err
		}
	}
	about, err := c.query(ctx, "SELECT sqlite_version(), sqlite_source_id()")
	if err != nil {
		return nil, err
	}
	facts := []filewise.Fact{
		{Name: "engine", Value: fmt.Sprintf("SQLite %v", about[0][0])},
		{Name: "source id", Value: fmt.Sprint(about[0][1])},
		{Name: "driver", Value: sqlitedriver.Driver()},
	}
	for _, pragma := range []string{"journal_mode", "synchronous", "page_size", "wal_autocheckpoint", "cache_size", "mmap_size",
		"locking_mode"} {
		v, err := c.value(ctx, "PRAGMA "+pragma)
		if err != nil {
			return nil, err
		}
		text := fmt.Sprint(v)
		if pragma == "synchronous" {
			text = fmt.Sprintf("%v (%s)", v, s.synchronous)
		}
		facts = append(facts, filewise.Fact{Name: pragma, Value: text})
	}
	options, err := c.query(ctx, "PRAGMA compile_options")
	if err != nil {
		return nil, err
	}
	var telling []string
	for _, row := range options {
		name, _ := row[0].(string)
		key, _, _ := strings.Cut(name, "=")
		if slices.Contains(tellingOptions, key) {
			telling = append(telling, name)
		}
	}
	return append(facts,
		filewise.Fact{Name: "busy handling", Value: fmt.Sprintf(
			"SQLite's polling handler (pauses of 1 to 100 ms), begun anew every %d ms until the lock is had", busyMillis)},
		filewise.Fact{Name: "compile options", Value: strings.Join(telling, " ")},
	), nil
}
