package private

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/internal/filesystem"
)

type observer struct{ instance *instance }

// Observe asks the server and the file system for the files, and compares both
// with the layout. A difference is an error that wraps filewise.ErrLayout.
func (o observer) Observe(ctx context.Context) ([]filewise.File, error) {
	i := o.instance
	p, control, err := i.running()
	if err != nil {
		return nil, err
	}
	sizes, err := i.design.told(ctx, control)
	if err != nil {
		return nil, i.why(p, err)
	}
	open, err := OpenFiles(p.PID())
	if err != nil {
		return nil, p.Why(err)
	}
	var files []filewise.File
	for _, f := range i.design.files {
		found, err := stat(filewise.RoleData, f.volume, f.path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", filewise.ErrLayout, err)
		}
		if err := f.verify(found, i.design.isSystem(), open); err != nil {
			return nil, err
		}
		size := sizes[f.path]
		found.EngineBytes = &size
		if f.bytes > 0 && i.design.layout.Data.Allocation != filewise.Growing {
			found.Grew = found.Bytes - f.bytes
		}
		files = append(files, found)
	}
	if i.settled.Load() { // before, the descriptors on the storage are of an older state
		if err := i.design.readUse(files); err != nil {
			return nil, err
		}
	} else if i.design.isSystem() {
		files[len(files)-1].EngineBytes = nil // only known with the use
	}
	temps, err := i.design.foundTemps(open)
	if err != nil {
		return nil, err
	}
	return i.design.withOwnFiles(append(files, temps...))
}

// verify compares a file with what was asked for. The server has every file of
// its system tablespace open; those of tables it opens and closes at will.
func (f dataFile) verify(found filewise.File, system bool, open map[string]bool) error {
	if f.bytes > 0 && (found.Bytes < f.bytes || found.Bytes > f.bytes && !f.grows) {
		return fmt.Errorf("%w: %s has %d bytes, not %d", filewise.ErrLayout, f.path, found.Bytes, f.bytes)
	}
	if system && open != nil && !open[found.Path] {
		return fmt.Errorf("%w: the server does not have %s open", filewise.ErrLayout, f.path)
	}
	return nil
}

// told are the files with their sizes as the server tells them. More or fewer
// than were asked for is an error that wraps filewise.ErrLayout.
func (d *design) told(ctx context.Context, control *sql.DB) (map[string]int64, error) {
	if d.isSystem() {
		return d.toldSystem(ctx, control)
	}
	return d.toldTables(ctx, control)
}

func (d *design) toldSystem(ctx context.Context, control *sql.DB) (map[string]int64, error) {
	var spec, home string
	if err := control.QueryRowContext(ctx, "SELECT @@innodb_data_file_path, COALESCE(@@innodb_data_home_dir, '')").Scan(&spec, &home); err != nil {
		return nil, err
	}
	told, err := innodb.ParseDataFiles(spec, home)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", filewise.ErrLayout, err)
	}
	if len(told) != len(d.files) {
		return nil, fmt.Errorf("%w: the server has %s, not %d", filewise.ErrLayout, filewise.FilesName(len(told)), len(d.files))
	}
	sizes := map[string]int64{}
	for i, t := range told {
		f := d.files[i]
		if t.Path != f.path || t.Bytes != f.bytes || t.Grows != f.grows {
			return nil, fmt.Errorf("%w: file %d of the server is %s (%d bytes, growing: %v), not %s (%d bytes, growing: %v)",
				filewise.ErrLayout, i+1, t.Path, t.Bytes, t.Grows, f.path, f.bytes, f.grows)
		}
		sizes[t.Path] = t.Bytes
	}
	return sizes, nil
}

// toldTables asks information_schema, which names files of the first volume
// relative to the data directory.
func (d *design) toldTables(ctx context.Context, control *sql.DB) (map[string]int64, error) {
	for _, t := range d.schema.Tables { // MariaDB knows the files of those only that were opened since its start
		if _, err := control.ExecContext(ctx, "SELECT 1 FROM "+innodb.Ident(Database)+"."+innodb.Ident(t.Name)+" LIMIT 0"); err != nil {
			return nil, err
		}
	}
	rows, err := control.QueryContext(ctx, d.product.Queries.Tablespaces)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	told := map[string]int64{}
	for rows.Next() {
		var path string
		var size int64
		if err := rows.Scan(&path, &size); err != nil {
			return nil, err
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(d.dataDir(), path)
		}
		if filepath.Base(path) != innodb.LoadedFile {
			told[path] = size
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, f := range d.files {
		if _, ok := told[f.path]; !ok {
			return nil, fmt.Errorf("%w: the server does not know %s", filewise.ErrLayout, f.path)
		}
	}
	// The user's own set-up may make more tables than the layout spreads.
	if len(told) != len(d.files) && d.program.Own == nil {
		return nil, fmt.Errorf("%w: the server has %s, not %d", filewise.ErrLayout, filewise.FilesName(len(told)), len(d.files))
	}
	return told, nil
}

// readUse adds how much of each file is in use.
func (d *design) readUse(files []filewise.File) error {
	if !d.isSystem() {
		for i := range files {
			use, err := innodb.ReadUse([]string{files[i].Path}, d.pageSize())
			if err != nil {
				return fmt.Errorf("use of %s: %w", files[i].Path, err)
			}
			files[i].Used = &use.Used[0]
		}
		return nil
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	use, err := innodb.ReadUse(paths, d.pageSize())
	if err != nil {
		return fmt.Errorf("use of the system tablespace: %w", err)
	}
	// The server tells the sizes of the files that are fixed; the last one has what
	// these leave of the tablespace.
	rest := use.Size
	for i := range files {
		files[i].Used = &use.Used[i]
		if i < len(files)-1 {
			rest -= *files[i].EngineBytes
		}
	}
	files[len(files)-1].EngineBytes = &rest
	return verifyEngine(files)
}

// verifyEngine compares the sizes by the engine's account with the files'. The
// last may be larger than the engine knows for a moment: while it grows.
func verifyEngine(files []filewise.File) error {
	for i, f := range files {
		if *f.EngineBytes > f.Bytes || *f.EngineBytes < f.Bytes && i < len(files)-1 {
			return fmt.Errorf("%w: %s has %d bytes, the server's account says %d", filewise.ErrLayout, f.Path, f.Bytes, *f.EngineBytes)
		}
	}
	return nil
}

// withOwnFiles adds the logs, and what the server keeps for itself.
func (d *design) withOwnFiles(files []filewise.File) ([]filewise.File, error) {
	own, err := d.ownFiles()
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(own)) {
		role, volume := own[path], d.data[0].volume
		if role == filewise.RoleLog {
			volume = d.log.volume
		}
		f, err := stat(role, volume, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the server begins and removes files of its own at will
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// ownFiles are the files of the server besides the layout's, with their roles.
func (d *design) ownFiles() (map[string]filewise.Role, error) {
	own := map[string]filewise.Role{}
	if !d.isSystem() {
		own[d.systemFiles()[0].Path] = filewise.RoleSystem
		if d.schema.Loads() {
			own[filepath.Join(d.dataDir(), Database, innodb.LoadedFile)] = filewise.RoleSystem
		}
	}
	logs, err := d.binlogFiles()
	if err != nil {
		return nil, err
	}
	for _, path := range logs {
		own[path] = filewise.RoleLog
	}
	redo, err := matching(d.redoDir(), d.product.Files.RedoPattern)
	if err != nil {
		return nil, err
	}
	for _, path := range redo {
		own[path] = filewise.RoleLog
	}
	for _, pattern := range d.product.Files.Own {
		files, err := matching(d.dataDir(), pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range files {
			own[path] = filewise.RoleSystem
		}
	}
	return own, nil
}

// matching are the files in a directory, or in the sub-directory that the pattern
// names, whose names match. The directory's own name is not a pattern.
func matching(dir, pattern string) ([]string, error) {
	dir, pattern = filepath.Join(dir, filepath.Dir(pattern)), filepath.Base(pattern)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		if ok, err := filepath.Match(pattern, e.Name()); err != nil {
			return nil, err
		} else if ok && e.Type().IsRegular() {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all, nil
}

// stat is a file as the file system has it.
func stat(role filewise.Role, volume, path string) (filewise.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return filewise.File{}, err
	}
	f := filewise.File{Role: role, Volume: volume, Path: path, Bytes: info.Size()}
	if held, ok := filesystem.Allocated(path, info); ok {
		f.Allocated = &held
	}
	return f, nil
}

// OpenFiles are the files that a process has open; nil where the system does
// not tell.
func OpenFiles(pid int) (map[string]bool, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	open := map[string]bool{}
	for _, e := range entries {
		if path, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(path, "/") {
			open[path] = true
		}
	}
	return open, nil
}
