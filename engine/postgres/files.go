package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filewise"
	"filewise/internal/filesystem"
)

// files returns the relations with their sizes in the file system, and the WAL.
func (i *instance) files(_ context.Context, b *build, relations []relation) ([]filewise.File, error) {
	var all []filewise.File
	for _, r := range relations {
		f, err := statRelation(r, i.pathOf(r.space, r.path))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", filewise.ErrLayout, err)
		}
		all = append(all, f)
	}
	wal := filewise.File{Role: filewise.RoleLog, Volume: b.design.target.Volumes[i.sites.home].Name, Path: i.sites.walDir(), Object: "WAL"}
	segments, err := os.ReadDir(wal.Path)
	if err != nil {
		return nil, fmt.Errorf("observing the WAL: %w", err)
	}
	for _, s := range segments {
		// A file can be renamed while it is examined.
		if info, err := s.Info(); err == nil && info.Mode().IsRegular() {
			wal.Bytes += info.Size()
		}
	}
	return append(all, wal), nil
}

// pathOf returns a relation's path as Filewise sees it. The server names a tablespace's files by its OID:
// pg_tblspc/NUMBER/VERSION/DATABASE/FILE.
func (i *instance) pathOf(space, file string) string {
	if rest, ok := strings.CutPrefix(file, "pg_tblspc/"); ok {
		for n, s := range i.design.spaces {
			if s.name != "" && s.name == space {
				_, rest, _ = strings.Cut(rest, "/")
				return filepath.Join(i.sites.spaceDir(n), rest)
			}
		}
	}
	return filepath.Join(i.sites.dataDir(), file)
}

// logPath returns the WAL's directory.
func (i *instance) logPath() string { return i.sites.walDir() }

// statRelation returns a relation, whose size is the sum over its segments of 1 GiB.
func statRelation(r relation, path string) (filewise.File, error) {
	size, held, known := int64(0), int64(0), true
	for n := 0; ; n++ {
		name := path
		if n > 0 {
			name = fmt.Sprintf("%s.%d", path, n)
		}
		info, err := os.Lstat(name)
		if n > 0 && errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return filewise.File{}, err
		}
		size += info.Size()
		n, ok := filesystem.Allocated(name, info)
		known = known && ok
		held += n
	}
	f := r.file(path)
	f.Bytes = size
	if known {
		f.Allocated = &held
	}
	return f, nil
}

// file returns a relation with the size that the server reports.
func (r relation) file(path string) filewise.File {
	bytes := r.bytes
	return filewise.File{Role: r.role, Volume: r.volume, Path: path, Object: r.name, Bytes: bytes, EngineBytes: &bytes}
}

// sync syncs the server's own files if its checkpoints only write them (fsync off). It does not sync whole file
// systems, because that would wait for other programs' pages.
func (i *instance) sync() error {
	if i.design.fsync() && !i.loading {
		return nil
	}
	for _, dir := range i.sites.dirs {
		err := filepath.WalkDir(dir, func(path string, f fs.DirEntry, err error) error {
			if err == nil && f.Type().IsRegular() {
				err = filesystem.SyncFile(path)
			}
			if errors.Is(err, fs.ErrNotExist) { // the server removed it
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("syncing: %w", err)
		}
	}
	return nil
}
