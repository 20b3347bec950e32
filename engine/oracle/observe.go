package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"filewise"
	"filewise/engine/internal/session"
	"filewise/engine/oracle/dialect"
)

// Observe reads the files from the server's dictionary and compares them with the layout. If they differ, the error
// wraps filewise.ErrLayout. If the server names the files, only the server has their paths.
func (b *build) Observe(ctx context.Context) ([]filewise.File, error) {
	b.mu.Lock()
	want := b.design.atFirst()
	if b.extended {
		want = b.design.files
	}
	b.mu.Unlock()
	files, err := b.observe(ctx, want)
	if err != nil || !b.design.apart() {
		return files, err
	}
	index, err := b.observe(ctx, b.design.index)
	return append(files, index...), err
}

func (b *build) observe(ctx context.Context, want []datafile) ([]filewise.File, error) {
	free, err := b.server.freeBlocks(ctx, b.server.control, want[0].tablespace)
	if err != nil {
		return nil, err
	}
	return b.design.observe(ctx, b.conn, want, free)
}

// observe reads the files of the tablespace to which the requested files belong. free holds the free blocks by file; nil
// if not known.
func (d *design) observe(ctx context.Context, c client, want []datafile, free map[int64]int64) ([]filewise.File, error) {
	name := want[0].tablespace
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: tablespace %s: %s", filewise.ErrLayout, name, fmt.Sprintf(format, args...))
	}
	there, err := rows(ctx, c, 3, "tablespace", nil, name)
	if err != nil {
		return nil, err
	}
	if len(there) != 1 {
		return nil, wrong("it is not there")
	}
	block, ok := number(there[0][2])
	if !ok || block <= 0 {
		return nil, wrong("a block of %q bytes", text(there[0][2]))
	}
	if big := text(there[0][1]) == "YES"; big != (d.bigfile() && want[0].role == filewise.RoleData) {
		return nil, wrong("bigfile: %v", big)
	}
	found, err := rows(ctx, c, 7, "files", nil, name)
	if err != nil {
		return nil, err
	}
	if len(found) != len(want) {
		return nil, wrong("the server has %s, not %d", filewise.FilesName(len(found)), len(want))
	}
	var files []filewise.File
	for i, r := range found { // file_id follows the order of adding, unless a number was freed
		f, err := matching(want, text(r[0]), i)
		if err != nil {
			return nil, wrong("%v", err)
		}
		blocks, ok := number(r[2])
		if !ok {
			return nil, wrong("%s has %q blocks", text(r[0]), text(r[2]))
		}
		file := filewise.File{Role: f.role, Volume: f.volume, Path: text(r[0]), Bytes: blocks * block}
		if grows := text(r[3]) == "YES"; !grows || file.Bytes < f.bytes {
			return nil, wrong("%s has %d bytes (autoextend: %v), not %d bytes and autoextend", file.Path, file.Bytes, grows, f.bytes)
		}
		if f.full {
			file.Grew = file.Bytes - f.bytes
		}
		size := file.Bytes
		file.EngineBytes = &size
		id, ok := number(r[1])
		if usable, ok2 := number(r[6]); ok && ok2 && free != nil { // without the file's header
			used := max(usable-free[id], 0) * block
			file.Used = &used
		}
		files = append(files, file)
	}
	return files, nil
}

// parallelWorkers returns how many coordinators of parallel servers the plan of a phase's query has, or 0 if the plan is not
// parallel. How many servers each would use stands in no plan.
func (b *build) parallelWorkers(ctx context.Context, phase int) (int, error) {
	queries, err := session.Render(b.design.program.Phases[phase], func(section string) (statement, error) {
		return b.design.statement(section, b.design.tableOf(0))
	})
	n := int64(0)
	for _, q := range queries {
		var coordinators int64
		if err = exec(ctx, b.conn, "plan", nil, q.text, sql.Out{Dest: &coordinators}); err != nil {
			break
		}
		n += coordinators
	}
	return int(n), err
}

// matching returns the requested file that has this path. If the server chooses the paths, it returns the i-th added
// file, provided that the path lies in the place requested for that file.
func matching(want []datafile, path string, i int) (datafile, error) {
	for _, f := range want {
		if f.path != "" && f.place.Same(f.path, path) {
			return f, nil
		}
	}
	if f := want[i]; f.path == "" && f.place.Holds(path) {
		return f, nil
	}
	for _, f := range want { // freed file numbers are given again
		if f.path == "" && f.place.Kind == dialect.PlaceASM && f.place.Holds(path) {
			return f, nil
		}
	}
	return datafile{}, fmt.Errorf("no one asked for %s", path)
}

// freePatience limits reading DBA_FREE_SPACE. The view looks through the recycle bins of all users, and takes minutes
// if they are full.
const freePatience = time.Second

var errSlow = errors.New("DBA_FREE_SPACE takes too long")

// freeBlocks returns the free blocks of a tablespace by file; full files are absent. It returns nil if the account
// cannot read them, or if an earlier reading took longer than freePatience.
func (s *server) freeBlocks(ctx context.Context, c client, name string) (map[int64]int64, error) {
	if s.missing["DBA_FREE_SPACE"] || s.slowFree.Load() {
		return nil, nil
	}
	within, cancel := context.WithTimeoutCause(ctx, freePatience, errSlow)
	defer cancel()
	found, err := rows(within, c, 2, "free", nil, name)
	if errors.Is(context.Cause(within), errSlow) {
		s.slowFree.Store(true)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	free := map[int64]int64{}
	for _, r := range found {
		id, ok := number(r[0])
		blocks, ok2 := number(r[1])
		if ok && ok2 {
			free[id] = blocks
		}
	}
	return free, nil
}
