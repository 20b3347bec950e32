package inspect

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
)

// fileHeader holds the first 100 bytes of a database, decoded (fileformat2.html, “The Database Header”).
type fileHeader struct {
	page, pages, free int64
	wal               bool
	vacuum            bool // auto_vacuum is on
}

const (
	headerBytes = 100
	headerMagic = "SQLite format 3\x00"
)

var errNoDatabase = errors.New("it is not a SQLite database, or it is encrypted")

// parseHeader decodes a header.
func parseHeader(b []byte) (h fileHeader, err error) {
	if len(b) < headerBytes || string(b[:16]) != headerMagic {
		return h, errNoDatabase
	}
	h.page = int64(binary.BigEndian.Uint16(b[16:]))
	if h.page == 1 {
		h.page = 65536
	}
	if h.page < 512 || h.page&(h.page-1) != 0 {
		return h, fmt.Errorf("its page size, %d, is invalid: %w", h.page, errNoDatabase)
	}
	h.wal = b[18] == 2 || b[19] == 2
	h.pages, h.free = int64(binary.BigEndian.Uint32(b[28:])), int64(binary.BigEndian.Uint32(b[36:]))
	h.vacuum = binary.BigEndian.Uint32(b[52:]) != 0
	return h, nil
}

// lookSQLite inspects one database, or all in a directory. It reads their headers without SQLite, which would take a
// lock and may make a WAL or a journal next to the file. Nothing is written.
func lookSQLite(ctx context.Context, t filewise.Target) (filewise.Inspection, error) {
	path := t.Volumes[0].Dir
	i := &ofSQLite{newAsker(func(error) string { return "check the rights on the file" })}
	i.Server, i.Local = "SQLite, files of "+path, true
	paths, err := databasesIn(path)
	if err != nil {
		return filewise.Inspection{}, filewise.Errorf(filewise.CodePreflight, "name a readable database file, or a directory of database files",
			"%s: %w", path, err)
	}
	for _, p := range paths {
		i.ask(ctx, "database "+p, func(context.Context) error { return i.database(p) })
	}
	if len(i.Groups) == 0 {
		why := errNoDatabase
		if len(i.Gaps) > 0 {
			why = errors.New(i.Gaps[0].Why)
		}
		return filewise.Inspection{}, filewise.Errorf(filewise.CodePreflight, "name a database file, or a directory of database files",
			"%s: %w", path, why)
	}
	i.together(path)
	return *i.Inspection, nil
}

// mostInDirectory limits the databases of a directory that are looked at.
const mostInDirectory = 10000

// databasesIn returns the file itself, or the databases in a directory.
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
		if !e.Type().IsRegular() || len(all) >= mostInDirectory {
			continue
		}
		p := filepath.Join(path, e.Name())
		if h, err := header(p); err == nil && h.page > 0 {
			all = append(all, p)
		} else if errors.Is(err, fs.ErrPermission) {
			all = append(all, p) // opening it reports this
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there is no SQLite database in it")
	}
	return all, nil
}

func header(path string) (fileHeader, error) {
	// Opening a file that is not regular can block, and reading it can have effects.
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

type ofSQLite struct{ *asker }

func (i *ofSQLite) database(path string) error {
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
	journal := "rollback journal: readers and the writer block each other"
	if h.wal {
		journal = "write-ahead log: readers work in parallel to one writer"
	}
	i.Settings[name] = fmt.Sprintf("pages of %d, %s, auto_vacuum %s", h.page, journal, map[bool]string{true: "on", false: "off"}[h.vacuum])
	for _, suffix := range []string{"-wal", "-journal"} {
		sibling, err := os.Stat(path + suffix)
		if err != nil || sibling.Size() == 0 {
			continue
		}
		i.Groups = append(i.Groups, filewise.FileGroup{Name: "log " + name + suffix, Database: name, Use: filewise.UseLog,
			Files: []filewise.FileInspect{{Path: path + suffix, Bytes: sibling.Size(), Dir: dir, Volume: dir}}})
	}
	return nil
}

// together merges databases that look like shards into one group: their names differ in digits alone.
func (i *ofSQLite) together(path string) {
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
