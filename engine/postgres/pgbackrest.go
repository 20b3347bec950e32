package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/server"
	"filewise/engine/postgres/installed"
	"filewise/internal/shell"
)

// Tools for physical backups. pgBackRest's processes copy whole files in parallel (segments of 1 GB of a table, an
// index, …). The server sends pg_basebackup a single stream.
const (
	toolPgBackRest = "pgbackrest"
	toolBase       = "pg_basebackup"
)

// toolOf returns the name of the program that makes a layout's backups.
func toolOf(l filewise.Layout) string {
	if v, ok := l.BackupOptions.Get("tool"); ok {
		return v
	}
	return toolPgBackRest
}

// archives reports whether the build's server archives its WAL with pgBackRest.
func (d *design) archives() bool {
	return d.program.BacksUp() && !d.program.Dumps() && toolOf(d.layout) == toolPgBackRest
}

// archiveSettings returns the settings of a server that pgBackRest backs up. Until the first backup begins there is no
// repository, and WAL is not kept.
func (i *instance) archiveSettings() string {
	if !i.design.archives() {
		return ""
	}
	path, err := installed.PgBackRest.Find("")
	if err != nil {
		return "" // Build has reported the error
	}
	repository := i.handles.Path(i.repository())
	push := shell.Quoted(append([]string{path}, installed.RestArguments("archive-push", repository,
		i.handles.Path(i.sites.dataDir()))...)) + ` "%p"`
	command := fmt.Sprintf("test ! -d %s/archive || %s", repository, push)
	return fmt.Sprintf("archive_mode = 'on'\narchive_command = '%s'\n", strings.ReplaceAll(command, "'", "''"))
}

// repository returns the directory of a build's backups.
func (i *instance) repository() string {
	return filepath.Join(i.sites.dirs[i.design.backupVolume()], backupDir)
}

// restoreArguments returns the arguments of pgBackRest for a restore to another server's places. The restored server
// recovers from the WAL in the backup.
func (b *backuper) restoreArguments(repository string, path func(string) string, spaces map[string]int) []string {
	to := b.restored.sites
	more := []string{"--type=preserve", "--process-max=" + strconv.Itoa(b.build.design.jobs())}
	for number, n := range spaces {
		more = append(more, "--tablespace-map="+number+"="+path(to.spaceDir(n)))
	}
	return installed.RestArguments("restore", repository, path(to.dataDir()), more...)
}

// pgBackRest runs pgBackRest as the server's user, with inherited handles of the directories.
func (i *instance) pgBackRest(ctx context.Context, h *server.Handles, args []string) error {
	path, err := installed.PgBackRest.Find("")
	if err != nil {
		return err
	}
	s := i.account.Spec(append([]string{path}, args...), h, filepath.Join(i.sites.dirs[i.sites.home], "pgbackrest.log"),
		i.design.target.OnStart)
	s.Tells = func(line string) bool { return strings.Contains(line, "ERROR:") || strings.Contains(line, "HINT:") }
	p, err := server.Start(s)
	if err != nil {
		return err
	}
	return p.Wait(ctx)
}

// backRest creates a stanza and backs up the running server with pgBackRest.
func (b *backuper) backRest(ctx context.Context) error {
	i := b.instance
	repository, data := i.handles.Path(i.repository()), i.handles.Path(i.sites.dataDir())
	if err := i.pgBackRest(ctx, i.handles, installed.RestArguments("stanza-create", repository, data, "--no-online")); err != nil {
		return err
	}
	if err := i.pgBackRest(ctx, i.handles, installed.RestBackup(b.build.design.layout, repository, data)); err != nil {
		return err
	}
	return b.addFiles(filepath.Join(i.repository(), "backup", installed.Stanza))
}

// backRestored fills the restored server's directories with pgBackRest.
func (b *backuper) backRestored(ctx context.Context) error {
	spaces, err := b.instance.tablespaces()
	if err != nil {
		return err
	}
	i := b.restored
	for _, n := range spaces {
		if err := os.Mkdir(i.sites.spaceDir(n), 0o700); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Mkdir(i.sites.dataDir(), 0o700), i.give()); err != nil {
		return err
	}
	both := i.handles.With(b.instance.handles)
	if err := i.pgBackRest(ctx, both, b.restoreArguments(both.Path(b.instance.repository()), both.Path, spaces)); err != nil {
		return fmt.Errorf("%w: %w", filewise.ErrCheck, err)
	}
	return b.startRestored(ctx)
}
