package postgres

import (
	"context"
	"io/fs"
	"path/filepath"
	"strconv"

	"filewise"
	"filewise/engine/postgres/internal/client"
)

// dumpArguments are those of pg_dump: a directory with a file for each table, which
// that many jobs write at the same time.
func dumpArguments(to string, jobs int, level []string) []string {
	return append([]string{"-d", client.Maintenance, "-Fd", "-j", strconv.Itoa(jobs), "-f", to}, level...)
}

func restoreArguments(from string, jobs int) []string {
	return []string{"-d", client.Maintenance, "-j", strconv.Itoa(jobs), "--exit-on-error", from}
}

// dumped is the dump within the backup's directory: pg_dump makes it.
func (b *backuper) dumped() string { return filepath.Join(b.dirs[0], "dump") }

func (b *backuper) jobs() int { return max(b.build.design.layout.Backup.Files, 1) }

// dump has pg_dump write a logical dump.
func (b *backuper) dump(ctx context.Context) error {
	if err := b.instance.client(ctx, "pg_dump", dumpArguments(b.instance.handles.Path(b.dumped()), b.jobs(),
		b.build.design.dumpLevel())...); err != nil {
		return err
	}
	return filepath.WalkDir(b.dumped(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return b.addFile(b.volumeOf(0), path)
	})
}

// undump has pg_restore fill a new, empty server with the same tablespaces.
func (b *backuper) undump(ctx context.Context) error {
	i := b.restored
	if err := i.fill(ctx, b.server.template); err != nil {
		return err
	}
	if err := i.life.Start(ctx); err != nil {
		return err
	}
	if err := i.link.Exec(ctx, i.design.createSpaces(i.sites, i.handles.Path)...); err != nil {
		return err
	}
	// The dump is the other server's: its directories are this program's as well.
	if err := b.instance.restoreTo(ctx, i, b.dumped(), b.jobs()); err != nil {
		return err
	}
	return i.link.Exec(ctx, checkpoint)
}

// restoreTo runs pg_restore in this server's directories against another one.
func (i *instance) restoreTo(ctx context.Context, to *instance, from string, jobs int) error {
	both := to.handles.With(i.handles)
	target := instance{install: i.install, account: i.account, design: i.design, sites: to.sites, handles: both}
	return target.client(ctx, "pg_restore", restoreArguments(both.Path(from), jobs)...)
}

var _ filewise.Backuper = (*backuper)(nil)
