package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"filewise"
	"filewise/engine/internal/managed"
	"filewise/engine/internal/sqlfile"
)

// mostStripes is Filewise's own bound of backup files, and of jobs of a dump.
const mostStripes = 64

var errForeignBackup = fmt.Errorf("a backup of an external server takes a role with REPLICATION or its superuser, and what it is restored to is a server of its own, "+
	"which Filewise starts only for managed ones: %w", filewise.ErrUnsupported)

// checkBackup refuses what the workloads backup and dump cannot do.
func (d *design) checkBackup() error {
	l := d.layout
	refuse := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "%s: %w", fmt.Sprintf(format, args...), filewise.ErrUnsupported)
	}
	switch {
	case d.target.Mode == filewise.External:
		return filewise.Errorf(filewise.CodeUsage, "use a managed server (--engine postgres)", "%w", errForeignBackup)
	case l.Discard && d.program.Restores():
		return refuse("leave the restore out, as --discard does", "a backup that is thrown away on postgres cannot be restored")
	case l.Discard && (d.program.Workload == workloadDump || l.Backup.Files == 0):
		return refuse("leave it out", "pg_dump by several jobs, and pg_basebackup, write files: neither can be thrown away")
	case l.Backup.Files < 0 || l.Backup.Files > mostStripes:
		return refuse(fmt.Sprintf("give 1 to %d", mostStripes), "a backup in %d files on postgres", l.Backup.Files)
	}
	options := stripeOptions
	if d.program.Workload == workloadDump {
		options = dumpOptions
	}
	if err := l.BackupOptions.Check(options); err != nil {
		return err
	}
	if d.program.Workload == workloadBackup && l.Backup.Files > 1 {
		d.warn("backup-streams", "compare with what your backup tool does",
			"PostgreSQL's own pg_basebackup writes one stream: backups in several files are copied by Filewise, a stream for each file, between "+
				"pg_backup_start and pg_backup_stop, as backup tools with several processes do; a file of the database goes whole into one of them")
	}
	return nil
}

// backuper makes backups of a build on a private server, and restores them to a
// second one beside it.
type backuper struct {
	server   *privateServer
	instance *instance
	build    *build

	mu       sync.Mutex
	dirs     []string // that the last backup lies in
	files    []filewise.File
	restored *instance
}

// backupDir is the directory of backups within that of a build on a volume.
const backupDir = "backup"

// Backup writes the backup files of the layout.
func (b *backuper) Backup(ctx context.Context) ([]filewise.File, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.discard(); err != nil {
		return nil, err
	}
	err := b.makeDirs()
	if err == nil {
		err = b.take(ctx)
	}
	if err != nil {
		return nil, errors.Join(classify(failed("backup", err)), b.discard())
	}
	return slices.Clone(b.files), nil
}

// take makes the backup: by pg_dump, by the low-level interface where the layout
// says how many files there are, else by pg_basebackup.
func (b *backuper) take(ctx context.Context) error {
	d := b.build.design
	switch {
	case d.program.Workload == workloadDump:
		return b.dump(ctx)
	case d.layout.Backup.Files > 0:
		return b.stripes(ctx)
	}
	return b.base(ctx)
}

// volumeOf is the number of the volume that backup file n lies on.
func (b *backuper) volumeOf(n int) int {
	t := b.build.design.target
	v := b.build.design.layout.Backup.VolumeOf(n, t.Volumes)
	return slices.IndexFunc(t.Volumes, func(o filewise.Volume) bool { return o.Name == v.Name })
}

// makeDirs makes the directories that the backup files lie in, for the server's
// user as well.
func (b *backuper) makeDirs() error {
	for n := range max(b.build.design.layout.Backup.Files, 1) {
		dir := filepath.Join(b.instance.sites.dirs[b.volumeOf(n)], backupDir)
		if slices.Contains(b.dirs, dir) {
			continue
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		b.dirs = append(b.dirs, dir)
		if err := b.instance.account.own(dir); err != nil {
			return err
		}
	}
	return nil
}

// addFile notes a file of the backup.
func (b *backuper) addFile(volume int, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	b.files = append(b.files, filewise.File{Role: filewise.RoleBackup, Volume: b.build.design.target.Volumes[volume].Name, Path: path, Bytes: info.Size()})
	return nil
}

// client runs one of PostgreSQL's own programs against a server, as its user. What
// it says when it fails is in the error.
func (i *instance) client(ctx context.Context, name string, args ...string) error {
	path := i.install.program(name)
	all := append([]string{"-h", i.doors.path(i.sites.dataDir()), "-p", "5432", "-U", superuser, "-w"}, args...)
	p, err := managed.Start(i.account.spec(path, all, i.doors, filepath.Join(i.sites.dirs[i.sites.home], name+".log"), i.design.target.OnStart))
	if err != nil {
		return err
	}
	return p.Wait(ctx)
}

// program is one of PostgreSQL's own programs.
func (in install) program(name string) string { return filepath.Join(in.bin, name) }

// has tells whether one of them is installed.
func (in install) has(name string) bool {
	info, err := os.Stat(in.program(name))
	return err == nil && info.Mode()&0o111 != 0
}

// backups are why backups cannot be made by the programs that are installed; nil:
// they can.
func (in install) backups(workload string) error {
	need := []string{"pg_basebackup"}
	if workload == workloadDump {
		need = []string{"pg_dump", "pg_restore"}
	}
	for _, name := range need {
		if !in.has(name) {
			return filewise.Errorf(filewise.CodeUsage, "apt-get install "+server.Package, "there is no %s beside %s: %w", name, in.postgres(), filewise.ErrUnsupported)
		}
	}
	return nil
}

// Restore restores the last backup to a server of its own, on new files on the same
// volumes, and starts it: only what has recovered is restored.
func (b *backuper) Restore(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.files) == 0 || b.restored != nil {
		return filewise.Errorf(filewise.CodeInternal, "", "restore of %s: there is no backup, or it is restored already", b.build.design.layout.Name)
	}
	i, err := b.server.beside(b.instance)
	if err != nil {
		return failed("restore", err)
	}
	b.restored = i
	if b.build.design.program.Workload == workloadDump {
		err = b.undump(ctx)
	} else {
		err = b.unpack(ctx)
	}
	return classify(failed("restore", err))
}

// restoredSuffix names the directories of a restored server beside the original's.
const restoredSuffix = ".restored"

// beside makes the directories of a server beside another one's. It counts as a
// build, so that Close ends it.
func (s *privateServer) beside(of *instance) (*instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := of.sites
	at.dirs = nil
	for _, dir := range of.sites.dirs {
		at.dirs = append(at.dirs, dir+restoredSuffix)
	}
	i, err := bareInstance(of.install, of.account, of.design, at)
	if err == nil {
		s.lives[i] = s.lives[of]
	}
	return i, err
}

// Verify compares the restored database with the original: by pg_amcheck, where it
// is installed, and by the workload's sums.
func (b *backuper) Verify(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.restored == nil {
		return filewise.Errorf(filewise.CodeInternal, "", "verifying %s: nothing is restored", b.build.design.layout.Name)
	}
	if err := b.amcheck(ctx); err != nil {
		return failed("verifying the restored database", err)
	}
	statements, err := b.build.design.statements(sectionCheck, b.build.design.tables[0])
	if err != nil {
		return err
	}
	for _, s := range statements {
		want, err := b.build.link.rows(ctx, s)
		if err != nil {
			return err
		}
		got, err := b.restored.link.rows(ctx, s)
		if err != nil {
			return failed("verifying the restored database", err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("%w: the restored database has %v, the original %v: %s", filewise.ErrCheck, got, want, sqlfile.Short(s))
		}
	}
	return nil
}

// amcheck has PostgreSQL look at every page of tables and indexes.
func (b *backuper) amcheck(ctx context.Context) error {
	if !b.instance.install.has("pg_amcheck") {
		return nil
	}
	var there int64
	if err := b.restored.link.scan(ctx, "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'", nil, &there); err != nil || there == 0 {
		return err
	}
	err := b.restored.client(ctx, "pg_amcheck", "-d", maintenance, "--install-missing")
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
	errs = append(errs, removeAll(b.dirs))
	b.dirs, b.files = nil, nil
	return errors.Join(errs...)
}
