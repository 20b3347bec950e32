package managed

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
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
)

// Observe asks the server and the file system for the files, and compares both with the layout. If they differ, the
// error wraps filewise.ErrLayout.
func (i *instance) Observe(ctx context.Context) ([]filewise.File, error) {
	p, control, err := i.running()
	if err != nil {
		return nil, err
	}
	sizes, err := i.design.reported(ctx, control)
	if err != nil {
		return nil, i.why(p, err)
	}
	open, err := OpenFiles(p.PID())
	if err != nil {
		return nil, p.Why(err)
	}
	var files []filewise.File
	for _, f := range i.design.Files {
		found, err := server.Stat(filewise.RoleData, f.Volume, f.Path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", filewise.ErrLayout, err)
		}
		if err := verify(f, found, i.design.isSystem(), open); err != nil {
			return nil, err
		}
		size := sizes[f.Path]
		found.EngineBytes = &size
		if f.Bytes > 0 && i.design.Layout.Data.Allocation != filewise.Growing {
			found.Grew = found.Bytes - f.Bytes
		}
		files = append(files, found)
	}
	if i.settled.Load() { // before that, the descriptors on the storage are outdated
		if err := i.design.readUse(files); err != nil {
			return nil, err
		}
	} else if i.design.isSystem() {
		files[len(files)-1].EngineBytes = nil // only known together with the use
	}
	temps, err := i.design.foundTemps(open)
	if err != nil {
		return nil, err
	}
	return i.design.withServerFiles(append(files, temps...))
}

// verify compares a file with what the layout demands. The server keeps every file of its system tablespace open. It
// opens and closes the files of tables as it likes.
func verify(f dialect.File, found filewise.File, system bool, open map[string]bool) error {
	if f.Bytes > 0 && (found.Bytes < f.Bytes || found.Bytes > f.Bytes && !f.Grows) {
		return fmt.Errorf("%w: %s has %d bytes, not %d", filewise.ErrLayout, f.Path, found.Bytes, f.Bytes)
	}
	if system && open != nil && !open[found.Path] {
		return fmt.Errorf("%w: the server does not have %s open", filewise.ErrLayout, f.Path)
	}
	return nil
}

// reported returns the files with their sizes as the server reports them. If there are more or fewer than the layout
// demands, the error wraps filewise.ErrLayout.
func (d *design) reported(ctx context.Context, control *sql.DB) (map[string]int64, error) {
	if d.isSystem() {
		return d.toldSystem(ctx, control)
	}
	return d.toldTables(ctx, control)
}

func (d *design) toldSystem(ctx context.Context, control *sql.DB) (map[string]int64, error) {
	var spec, home string
	if err := control.QueryRowContext(ctx, "SELECT @@innodb_data_file_path, COALESCE(@@innodb_data_home_dir, '')").Scan(&spec,
		&home); err != nil {
		return nil, err
	}
	reported, err := dialect.ParseDataFiles(spec, home)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", filewise.ErrLayout, err)
	}
	if len(reported) != len(d.Files) {
		return nil, fmt.Errorf("%w: the server has %s, not %d", filewise.ErrLayout, filewise.FilesName(len(reported)), len(d.Files))
	}
	sizes := map[string]int64{}
	for i, t := range reported {
		f := d.Files[i]
		if t.Path != f.Path || t.Bytes != f.Bytes || t.Grows != f.Grows {
			return nil, fmt.Errorf("%w: file %d of the server is %s (%d bytes, growing: %v), not %s (%d bytes, growing: %v)",
				filewise.ErrLayout, i+1, t.Path, t.Bytes, t.Grows, f.Path, f.Bytes, f.Grows)
		}
		sizes[t.Path] = t.Bytes
	}
	return sizes, nil
}

// toldTables reads the files from information_schema, which names files of the first volume relative to the data
// directory.
func (d *design) toldTables(ctx context.Context, control *sql.DB) (map[string]int64, error) {
	for _, t := range d.Tables { // MariaDB lists a table's files only after it was opened
		if _, err := control.ExecContext(ctx, "SELECT 1 FROM "+dialect.Ident(Database)+"."+dialect.Ident(t.Name)+" LIMIT 0"); err != nil {
			return nil, err
		}
	}
	reported, err := d.TableFiles(ctx, control, func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(d.dataDir(), path)
	})
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, f := range d.Files {
		t, ok := reported[f.Path]
		if !ok {
			return nil, fmt.Errorf("%w: the server does not have %s", filewise.ErrLayout, f.Path)
		}
		sizes[f.Path] = t.Bytes
	}
	// The user's own set-up can create more tables than the layout spreads.
	if len(reported) != len(d.Files) && d.Program.Custom == nil {
		return nil, fmt.Errorf("%w: the server has %s, not %d", filewise.ErrLayout, filewise.FilesName(len(reported)), len(d.Files))
	}
	return sizes, nil
}

// readUse adds how much of each file is in use.
func (d *design) readUse(files []filewise.File) error {
	if !d.isSystem() {
		for i := range files {
			use, err := dialect.ReadUse([]string{files[i].Path}, d.Page)
			if err != nil {
				return fmt.Errorf("use of %s: %w", files[i].Path, err)
			}
			files[i].Used = &use.Used[0]
		}
		return nil
	}
	paths := filewise.Each(files, func(f filewise.File) string { return f.Path })
	use, err := dialect.ReadUse(paths, d.Page)
	if err != nil {
		return fmt.Errorf("use of the system tablespace: %w", err)
	}
	// The server reports the sizes of the fixed files. The last file has the rest of the tablespace.
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

// verifyEngine compares the engine's sizes with the files' sizes. While the last file grows, it can be larger than the
// engine reports.
func verifyEngine(files []filewise.File) error {
	for i, f := range files {
		if *f.EngineBytes > f.Bytes || *f.EngineBytes < f.Bytes && i < len(files)-1 {
			return fmt.Errorf("%w: %s has %d bytes, by the server's account %d", filewise.ErrLayout, f.Path, f.Bytes, *f.EngineBytes)
		}
	}
	return nil
}

// withServerFiles adds the logs and the server's own files.
func (d *design) withServerFiles(files []filewise.File) ([]filewise.File, error) {
	own, err := d.serverFiles()
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(own)) {
		f, err := server.Stat(own[path], d.log.volume, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the server creates and removes its own files as it likes
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// serverFiles returns the files of the server that are not the layout's, with their roles.
func (d *design) serverFiles() (map[string]filewise.Role, error) {
	own := map[string]filewise.Role{}
	if !d.isSystem() {
		own[d.systemFiles()[0].Path] = filewise.RoleSystem
		if d.Program.Loads() {
			own[filepath.Join(d.dataDir(), Database, dialect.LoadedFile)] = filewise.RoleSystem
		}
	}
	logs, err := d.binlogFiles()
	if err != nil {
		return nil, err
	}
	for _, path := range logs {
		own[path] = filewise.RoleLog
	}
	redo, err := matching(d.dataDir(), d.Product.Files.RedoPattern)
	if err != nil {
		return nil, err
	}
	for _, path := range redo {
		own[path] = filewise.RoleLog
	}
	for _, pattern := range d.Product.Files.System {
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

// matching returns the files in a directory, or in the sub-directory that the pattern names, whose names match. The
// directory's own name is not part of the pattern.
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

// OpenFiles returns the files that a process has open, or nil if the system does not report them.
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
