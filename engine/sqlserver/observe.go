package sqlserver

import (
	"context"
	"fmt"

	"filewise"
)

const page = 8 * kib

// Observe reads the files from the server's catalogue and compares them with the layout. If they differ, the error
// wraps filewise.ErrLayout. The file system is the server's own, so it is not read.
func (b *build) Observe(ctx context.Context) ([]filewise.File, error) {
	rows, err := b.ask(ctx, "files", "files of "+b.design.name)
	if err != nil {
		return nil, err
	}
	asked := b.design.until(b.count())
	if len(rows) != len(asked) && !b.design.program.Restored() {
		return nil, fmt.Errorf("%w: the server has %s, not %d", filewise.ErrLayout, filewise.FilesName(len(rows)), len(asked))
	}
	byName := map[string]row{}
	for _, r := range rows {
		byName[r.Text("logical")] = r
	}
	var files []filewise.File
	for _, f := range asked {
		found, err := b.compare(f, byName[f.Logical])
		if err != nil {
			return nil, err
		}
		files = append(files, found)
	}
	return append(files, b.others(rows, byName)...), nil
}

// others returns the files that come from the backup that a build was restored from.
func (b *build) others(rows []row, asked map[string]row) (all []filewise.File) {
	for _, f := range b.design.until(b.count()) {
		delete(asked, f.Logical)
	}
	for _, r := range rows {
		if _, other := asked[r.Text("logical")]; other {
			bytes := r.Int("pages") * page
			all = append(all, filewise.File{Role: filewise.RoleSystem, Volume: b.design.target.Volumes[0].Name, Path: r.Text("path"), Bytes: bytes,
				EngineBytes: &bytes})
		}
	}
	return all
}

// count returns how many data files there should be now.
func (b *build) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if (b.later || b.design.program.Restored()) && b.design.layout.AddedLater != filewise.LaterUntouched {
		return len(b.design.data)
	}
	return b.design.first
}

// kind returns a file's type in sys.database_files.
func (f file) kind() string {
	if f.role == filewise.RoleLog {
		return "LOG"
	}
	return "ROWS"
}

// compare compares a file with its row in the catalogue, and returns it.
func (b *build) compare(f file, r row) (filewise.File, error) {
	if r == nil {
		return filewise.File{}, fmt.Errorf("%w: the server does not have file %s", filewise.ErrLayout, f.Logical)
	}
	differs := func(format string, args ...any) (filewise.File, error) {
		return filewise.File{}, fmt.Errorf("%w: %s "+format, append([]any{filewise.ErrLayout, f.Path}, args...)...)
	}
	pages, sized := r.Number("pages")
	growth, _ := r.Number("growth")
	bytes := pages * page
	dir := serverDir{System: b.server.identity.data.System}
	switch {
	case !dir.Same(r.Text("path"), f.Path):
		return differs("is %s on the server", r.Text("path"))
	case r.Text("type") != f.kind() || r.Text("filegroup") != f.group:
		return differs("has type %s in filegroup %q, not %s in %q", r.Text("type"), r.Text("filegroup"), f.kind(), f.group)
	case !sized || bytes < f.KB*kib:
		return differs("has %d bytes, not %d", bytes, f.KB*kib)
	case r.Yes("percent_growth") || growth*page != f.GrowthKB*kib:
		return differs("grows by %d pages (percent: %v), not by %d KiB", growth, r.Yes("percent_growth"), f.GrowthKB)
	}
	found := filewise.File{Role: f.role, Volume: f.volume, Path: f.Path, Bytes: bytes, EngineBytes: &bytes}
	if used, ok := r.Number("used"); ok && f.role != filewise.RoleLog {
		if used *= page; f.Logical != b.design.data[0].Logical || b.design.program.Restored() { // its own pages hold no rows
			used = max(used-fileExtents*extent, 0)
		}
		found.Used = &used
	}
	if f.role == filewise.RoleLog { // the log has the size that the work should need
		found.Grew = bytes - f.KB*kib
	}
	if f.role == filewise.RoleData && b.design.layout.Data.Allocation != filewise.Growing {
		found.Grew = bytes - f.KB*kib
	}
	return found, nil
}

// Extend adds the layout's further files, and rebuilds the tables if the layout demands that.
func (b *build) Extend(ctx context.Context) error {
	steps := b.steps.At(filewise.StageExtend)
	if b.count() == b.design.first {
		if err := steps.On(onServer).Run(ctx, b.do); err != nil {
			return b.server.login.explain(fmt.Errorf("adding files: %w", err))
		}
	}
	b.mu.Lock()
	b.later = true
	b.mu.Unlock()
	if err := steps.On(b.design.on()).Run(ctx, b.do); err != nil {
		return b.server.login.explain(fmt.Errorf("rebuilding: %w", err))
	}
	return nil
}
