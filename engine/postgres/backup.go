package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"filewise"
	"filewise/engine/internal/server"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/installed"
	"filewise/internal/filesystem"
	"filewise/internal/sqlfile"
)

// mostStripes is Filewise's own limit on backup files, and on jobs of a dump.
const mostStripes = 64

var errExternalBackup = fmt.Errorf("a backup of an external server takes a role with REPLICATION or its superuser, and what it is "+
	"restored to is a separate server, "+
	"which Filewise starts only for managed ones: %w", filewise.ErrUnsupported)

// checkBackup refuses layouts with which the workloads backup and dump cannot run.
func (d *design) checkBackup() error {
	l := d.layout
	switch {
	case d.target.Mode == filewise.External:
		return filewise.Errorf(filewise.CodeUsage, "use a managed server (--engine postgres)", "%w", errExternalBackup)
	case l.Discard:
		return refuse("leave it out", "a backup that is thrown away on postgres: pgBackRest, pg_basebackup and pg_dump write files")
	case l.Backup.Files < 0 || l.Backup.Files > mostStripes:
		return refuse(fmt.Sprintf("give 1 to %d", mostStripes), "a backup by %d processes on postgres", l.Backup.Files)
	case !d.program.Dumps() && toolOf(l) == toolBase && l.Backup.Files > 1:
		return refuse("use --files 1 with it, or tool=pgbackrest",
			"%d backup files by pg_basebackup: the server sends it one stream", l.Backup.Files)
	}
	if err := l.CheckBackupVolumes(d.target.Volumes); err != nil {
		return err
	}
	options := fileOptions
	if d.program.Dumps() {
		options = dumpOptions
	}
	if err := l.BackupOptions.Check(options); err != nil {
		return err
	}
	if !d.archives() {
		return nil
	}
	for _, name := range []string{"archive_mode", "archive_command", "archive_library", "wal_level"} {
		if _, set := d.target.Settings[name]; set {
			return refuse("leave it out", "--set %s: pgBackRest needs the WAL archived, which Filewise sees to", name)
		}
	}
	remedy := "none is needed"
	if l.Data.Files < l.Backup.Files {
		remedy = fmt.Sprintf("use more data files: --data-files %d", l.Backup.Files)
	}
	d.warn("backup-processes", remedy,
		"The number of backup files counts pgBackRest's processes (process-max), which write into one repository on one volume: each copies "+
			"whole files of the database, at most 1 GB of a table at a time")
	return nil
}

// backuper makes backups of a build on a managed server, and restores them to a
// second one next to it.
type backuper struct {
	server   *managedServer
	instance *instance
	build    *build

	mu       sync.Mutex
	dir      string // the last backup's directory; "" if there is none
	files    []filewise.File
	restored *instance
}

// backupDir is the name of the directory for backups within a build's directory on a volume.
const backupDir = "backup"

// Backup writes the backup files of the layout.
func (b *backuper) Backup(ctx context.Context) ([]filewise.File, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.discard(); err != nil {
		return nil, err
	}
	err := b.makeDir()
	if err == nil {
		err = b.take(ctx)
	}
	if err != nil {
		return nil, errors.Join(client.Classify(client.Failed("backup", err)), b.discard())
	}
	return slices.Clone(b.files), nil
}

// take makes the backup with the layout's tool.
func (b *backuper) take(ctx context.Context) error {
	d := b.build.design
	switch {
	case d.program.Dumps():
		return b.dump(ctx)
	case d.archives():
		return b.backRest(ctx)
	}
	return b.base(ctx)
}

// backupVolume returns the index of the volume for backups. There is only one, as no tool writes to several.
func (d *design) backupVolume() int {
	v := d.layout.BackupVolumeOf(0, d.target.Volumes)
	return slices.IndexFunc(d.target.Volumes, func(o filewise.Volume) bool { return o.Name == v.Name })
}

// makeDir makes the directory for the backup, and gives it to the server's user.
func (b *backuper) makeDir() error {
	at := b.instance.sites.dirs[b.build.design.backupVolume()]
	dir := b.instance.repository()
	err := filesystem.In(at, dir, func(root *os.Root, rel string) error { return root.Mkdir(rel, 0o700) })
	if err != nil {
		return err
	}
	b.dir = dir
	return b.instance.account.Give(at, dir)
}

// addFiles records the files below a directory as files of the backup.
func (b *backuper) addFiles(dir string) error {
	files, err := server.BackupFiles(b.build.design.target.Volumes[b.build.design.backupVolume()].Name, dir)
	b.files = files
	return err
}

// client runs one of PostgreSQL's client programs against the server, as the server's user. If the program fails, the
// error contains its output.
func (i *instance) client(ctx context.Context, name string, args ...string) error {
	path := i.install.Program(name)
	all := append([]string{"-h", i.handles.Path(i.sites.dataDir()), "-p", "5432", "-U", installed.Superuser, "-w"}, args...)
	p, err := server.Start(i.account.Spec(append([]string{path}, all...), i.handles, filepath.Join(i.sites.dirs[i.sites.home], name+".log"),
		i.design.target.OnStart))
	if err != nil {
		return err
	}
	return p.Wait(ctx)
}

// Restore restores the last backup to a second server, on new files on the same volumes, and starts that server. A
// restore is complete only after recovery.
func (b *backuper) Restore(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.files) == 0 || b.restored != nil {
		return filewise.Errorf(filewise.CodeInternal, "", "restore of %s: there is no backup, or it is restored already",
			b.build.design.layout.Name)
	}
	i, err := b.server.secondInstance(b.instance)
	if err != nil {
		return client.Failed("restore", err)
	}
	b.restored = i
	switch {
	case b.build.design.program.Dumps():
		err = b.undump(ctx)
	case b.build.design.archives():
		err = b.backRestored(ctx)
	default:
		err = b.unpack(ctx)
	}
	return client.Classify(client.Failed("restore", err))
}

// restoredSuffix names the directories of a restored server next to the original's.
const restoredSuffix = ".restored"

// secondInstance makes the directories of a second server next to an instance's. The second server is registered as a
// build, so that Close ends it.
func (s *managedServer) secondInstance(of *instance) (*instance, error) {
	at := of.sites
	at.dirs = nil
	for _, dir := range of.sites.dirs {
		at.dirs = append(at.dirs, dir+restoredSuffix)
	}
	return s.builds.Register(func(int) (*instance, error) { return bareInstance(of.install, of.account, of.design, at) })
}

// Verify compares the restored database with the original: by pg_amcheck, if it
// is installed, and by the workload's sums.
func (b *backuper) Verify(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.restored == nil {
		return filewise.Errorf(filewise.CodeInternal, "", "verifying %s: nothing is restored", b.build.design.layout.Name)
	}
	if err := b.amcheck(ctx); err != nil {
		return client.Failed("verifying the restored database", err)
	}
	statements, err := b.build.design.statements(sectionCheck, b.build.design.tables[0])
	if err != nil {
		return err
	}
	for _, s := range statements {
		want, err := b.build.link.Rows(ctx, s)
		if err != nil {
			return err
		}
		got, err := b.restored.link.Rows(ctx, s)
		if err != nil {
			return client.Failed("verifying the restored database", err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("%w: the restored database has %v, the original %v: %s", filewise.ErrCheck, got, want, sqlfile.Short(s))
		}
	}
	return nil
}

// amcheck runs pg_amcheck, which checks every page of tables and indexes.
func (b *backuper) amcheck(ctx context.Context) error {
	if !b.instance.install.Has("pg_amcheck") {
		return nil
	}
	var there int64
	if err := b.restored.link.Scan(ctx, "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'", nil, &there); err != nil ||
		there == 0 {
		return err
	}
	err := b.restored.client(ctx, "pg_amcheck", "-d", client.Maintenance, "--install-missing")
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", filewise.ErrCheck, err)
	}
	return err
}

// Discard ends and removes the restored server, and removes the backup.
func (b *backuper) Discard(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.discard()
}

func (b *backuper) discard() error {
	var errs []error
	if b.restored != nil {
		errs = append(errs, b.server.drop(b.restored))
		b.restored = nil
	}
	if b.dir != "" {
		errs = append(errs, server.RemoveDirs([]string{b.dir}))
	}
	b.dir, b.files = "", nil
	return errors.Join(errs...)
}

// fileOptions are the parameters for backups of files, and dumpOptions for pg_dump.
var (
	fileOptions = []filewise.BackupOption{
		{Name: "tool", Words: "pgbackrest, as usual, or pg_basebackup, which writes one stream", Check: filewise.OneOf(toolPgBackRest, toolBase)},
		{Name: "buffer", Words: "the bytes that pgBackRest reads at once: 16KiB, 32KiB, … 16MiB, 1MiB being usual",
			Check: func(v string) error { _, err := installed.BufferOf(v); return err }},
		{Name: "compression", Words: "of pgBackRest: none, as usual, gz, lz4, zst or bz2, each at its usual level",
			Check: filewise.OneOf("none", "gz", "lz4", "zst", "bz2")},
	}
	dumpOptions = []filewise.BackupOption{
		{Name: "compress", Words: "a level from 0 to 9, pg_dump's own being usual",
			Check: filewise.OneOf("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")},
	}
)

// dumpLevel returns pg_dump's arguments for compression.
func (d *design) dumpLevel() []string {
	v, ok := d.layout.BackupOptions.Get("compress")
	if _, err := strconv.Atoi(v); !ok || err != nil {
		return nil
	}
	return []string{"-Z", v}
}
