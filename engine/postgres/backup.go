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

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/internal/server"
	"filewise/engine/internal/sqlfile"
	"filewise/engine/postgres/internal/client"
	"filewise/engine/postgres/internal/installed"
)

// mostStripes is Filewise's own bound of backup files, and of jobs of a dump.
const mostStripes = 64

var errExternalBackup = fmt.Errorf("a backup of an external server takes a role with REPLICATION or its superuser, and what it is "+
	"restored to is a server of its own, "+
	"which Filewise starts only for managed ones: %w", filewise.ErrUnsupported)

// checkBackup refuses what the workloads backup and dump cannot do.
func (d *design) checkBackup() error {
	l := d.layout
	switch {
	case d.target.Mode == filewise.External:
		return filewise.Errorf(filewise.CodeUsage, "use a managed server (--engine postgres)", "%w", errExternalBackup)
	case l.Discard && d.program.Restores():
		return refuse("leave the restore out, as --discard does", "a backup that is thrown away on postgres cannot be restored")
	case l.Discard && (d.program.Dumps() || l.Backup.Files == 0):
		return refuse("leave it out", "pg_dump by several jobs, and pg_basebackup, write files: neither can be thrown away")
	case l.Backup.Files < 0 || l.Backup.Files > mostStripes:
		return refuse(fmt.Sprintf("give 1 to %d", mostStripes), "a backup in %d files on postgres", l.Backup.Files)
	}
	if err := l.CheckBackupVolumes(d.target.Volumes); err != nil {
		return err
	}
	options := stripeOptions
	if d.program.Dumps() {
		options = dumpOptions
	}
	if err := l.BackupOptions.Check(options); err != nil {
		return err
	}
	if !d.program.Dumps() && l.Backup.Files > 1 {
		d.warn("backup-streams", "compare with what your backup tool does",
			"PostgreSQL's own pg_basebackup writes one stream: backups in several files are copied by Filewise, a stream for each file, between "+
				"pg_backup_start and pg_backup_stop, as backup tools with several processes do; a file of the database goes whole into one of them")
	}
	return nil
}

// backuper makes backups of a build on a managed server, and restores them to a
// second one beside it.
type backuper struct {
	server   *managedServer
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
		return nil, errors.Join(client.Classify(client.Failed("backup", err)), b.discard())
	}
	return slices.Clone(b.files), nil
}

// take makes the backup: by pg_dump, by the low-level interface where the layout
// says how many files there are, else by pg_basebackup.
func (b *backuper) take(ctx context.Context) error {
	d := b.build.design
	switch {
	case d.program.Dumps():
		return b.dump(ctx)
	case d.layout.Backup.Files > 0:
		return b.stripes(ctx)
	}
	return b.base(ctx)
}

// volumeOf is the number of the volume that backup file n lies on.
func (b *backuper) volumeOf(n int) int {
	t := b.build.design.target
	v := b.build.design.layout.BackupVolumeOf(n, t.Volumes)
	return slices.IndexFunc(t.Volumes, func(o filewise.Volume) bool { return o.Name == v.Name })
}

// makeDirs makes the directories that the backup files lie in, for the server's
// user as well.
func (b *backuper) makeDirs() error {
	for n := range max(b.build.design.layout.Backup.Files, 1) {
		at := b.instance.sites.dirs[b.volumeOf(n)]
		dir := filepath.Join(at, backupDir)
		if slices.Contains(b.dirs, dir) {
			continue
		}
		err := server.In(at, dir, func(root *os.Root, rel string) error { return root.Mkdir(rel, 0o700) })
		if err != nil {
			return err
		}
		b.dirs = append(b.dirs, dir)
		if err := b.instance.account.Give(at, dir); err != nil {
			return err
		}
	}
	return nil
}

// addFile notes a file of the backup.
func (b *backuper) addFile(volume int, path string) error {
	f, err := server.Stat(filewise.RoleBackup, b.build.design.target.Volumes[volume].Name, path)
	b.files = append(b.files, f)
	return err
}

// client runs one of PostgreSQL's own programs against a server, as its user. What
// it says when it fails is in the error.
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

// Restore restores the last backup to a server of its own, on new files on the same
// volumes, and starts it: only what has recovered is restored.
func (b *backuper) Restore(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.files) == 0 || b.restored != nil {
		return filewise.Errorf(filewise.CodeInternal, "", "restore of %s: there is no backup, or it is restored already",
			b.build.design.layout.Name)
	}
	i, err := b.server.beside(b.instance)
	if err != nil {
		return client.Failed("restore", err)
	}
	b.restored = i
	if b.build.design.program.Dumps() {
		err = b.undump(ctx)
	} else {
		err = b.unpack(ctx)
	}
	return client.Classify(client.Failed("restore", err))
}

// restoredSuffix names the directories of a restored server beside the original's.
const restoredSuffix = ".restored"

// beside makes the directories of a server beside another one's. It counts as a
// build, so that Close ends it.
func (s *managedServer) beside(of *instance) (*instance, error) {
	at := of.sites
	at.dirs = nil
	for _, dir := range of.sites.dirs {
		at.dirs = append(at.dirs, dir+restoredSuffix)
	}
	return s.builds.Register(func(int) (*instance, error) { return bareInstance(of.install, of.account, of.design, at) })
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

// amcheck has PostgreSQL look at every page of tables and indexes.
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
	errs = append(errs, server.RemoveDirs(b.dirs))
	b.dirs, b.files = nil, nil
	return errors.Join(errs...)
}

// stripeOptions are the parameters of backups that Filewise copies, dumpOptions
// those of pg_dump.
var (
	stripeOptions = []filewise.BackupOption{
		{Name: "buffer", Words: "the bytes that are read at once, 8KiB to 64MiB, 1MiB being usual",
			Check: func(v string) error { _, err := bufferOf(v); return err }},
		{Name: "compression", Words: "none, as usual, or gzip, at its fastest level", Check: filewise.OneOf("none", "gzip")},
	}
	dumpOptions = []filewise.BackupOption{
		{Name: "compress", Words: "a level from 0 to 9, pg_dump's own being usual",
			Check: filewise.OneOf("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")},
	}
)

const usualBuffer = 1 << 20

func bufferOf(v string) (int, error) {
	n, err := humanize.ParseBytes(v)
	if err != nil || n < 8<<10 || n > 64<<20 {
		return 0, errors.New("it is no size from 8KiB to 64MiB")
	}
	return int(n), nil
}

// buffer is what a stream of a backup reads at once, in bytes.
func (d *design) buffer() int {
	if v, ok := d.layout.BackupOptions.Get("buffer"); ok {
		if n, err := bufferOf(v); err == nil { // checked by checkBackup
			return n
		}
	}
	return usualBuffer
}

// compresses tells whether a backup's files are compressed.
func (d *design) compresses() bool {
	v, _ := d.layout.BackupOptions.Get("compression")
	return v == "gzip"
}

// dumpLevel is pg_dump's argument for compression.
func (d *design) dumpLevel() []string {
	v, ok := d.layout.BackupOptions.Get("compress")
	if _, err := strconv.Atoi(v); !ok || err != nil {
		return nil
	}
	return []string{"-Z", v}
}
