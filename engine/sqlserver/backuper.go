package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"filewise"
	"filewise/internal/marker"
)

// checkBackup refuses layouts that workload backup cannot use on any server.
func (d *design) checkBackup() error {
	l := d.layout
	if _, err := readBackupOptions(l.BackupOptions); err != nil {
		return err
	}
	switch {
	case l.Backup.Files < 0 || l.Backup.Files > maxStripes:
		return unsupported(fmt.Sprintf("give 1 to %d", maxStripes), "a backup to %d files on sqlserver", l.Backup.Files)
	case len(l.BackupVolumes(d.target.Volumes)) == 0:
		return usage("name a volume for backups with --volume NAME=DIR", "every volume holds data files, and backups are to lie apart")
	}
	return nil
}

// transfer returns the options for backups of the layout.
func (d *design) transfer(stripes []string) transfer {
	t, _ := readBackupOptions(d.layout.BackupOptions) // checkBackup has checked them
	t.stripes = stripes
	return t
}

// firstBackup returns the name of a build's first backup.
func (d *design) firstBackup() string { return d.name + "_backup_1" }

// stripes returns the files of one backup of the layout.
func (d *design) stripes(name string) ([]filewise.File, error) {
	volumes := d.layout.BackupVolumes(d.target.Volumes)
	return d.stripesOn(name, max(d.layout.Backup.Files, 1), func(i int) filewise.Volume {
		return d.layout.Backup.VolumeOf(i, volumes)
	})
}

// stripesOn returns n files of a backup, whose places volume returns.
func (d *design) stripesOn(name string, n int, volume func(i int) filewise.Volume) (all []filewise.File, err error) {
	for i := range n {
		f := filewise.File{Role: filewise.RoleBackup, Volume: volume(i).Name, Path: null}
		if !d.layout.Discard {
			if f.Path, err = d.where[f.Volume].Join(fmt.Sprintf("%s_%02d.bak", name, i+1)); err != nil {
				return nil, usage("name a shorter --volume", "volume %s: %w", f.Volume, err)
			}
		}
		all = append(all, f)
	}
	return all, nil
}

func pathsOf(files []filewise.File) []string {
	return filewise.Each(files, func(f filewise.File) string { return f.Path })
}

// backedUp describes the database that a backuper backs up: a build, or a user's database.
type backedUp struct {
	database, prefix string // the names of backup files begin with prefix
	discard, keep    bool   // discard the backup; allow it to stay
	layout           string // layout whose backups share names if they stay
	file             string // a file of the database itself; "" if not known
	custom           bool   // the database can hold anything
	stripes          func(name string) ([]filewise.File, error)
	transfer         func(stripes []string) transfer
	dirOf            func(logical string, log bool) joiner // the place to which a file is restored
	compare          func(ctx context.Context, copied *sql.DB) error
}

// backuper makes backups, and restores them under a new name.
type backuper struct {
	server *externalServer
	of     backedUp
	// removes is true if Filewise sees the server's directories and removes backup files itself. SQL Server has no
	// statement for that.
	removes bool

	mu       sync.Mutex
	number   int64
	stay     *staying        // the name of backups that stay; nil if there is none yet
	written  []filewise.File // files of the last backup
	restored string          // the restored database; "" if there is none
	marker   string          // the restored database's marker
	// session is the session of the last backup or restore. It stays in the build's database, where the waits of its
	// sessions are read.
	session *long
}

// Took returns how long the statement of the last backup or restore took. It leaves out the login and the questions
// about files, whose number grows with the files.
func (k *backuper) Took() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session.took
}

// begin closes the previous session and opens a new one.
func (k *backuper) begin(ctx context.Context) (err error) {
	if err := k.end(); err != nil {
		return err
	}
	k.session, err = k.server.openLong(ctx, k.of.database)
	return err
}

func (k *backuper) end() error {
	l := k.session
	k.session = nil
	return l.close()
}

// newBackuper checks that backup files can be removed, before anything is built.
func newBackuper(b *build) (*backuper, error) {
	d := b.design
	if err := b.server.mayBackup(d.transfer([]string{null})); err != nil {
		return nil, err
	}
	k := &backuper{server: b.server, of: backedUp{database: d.name, prefix: d.name, discard: d.layout.Discard, keep: d.settings.keepBackups,
		layout: d.layout.Name, file: d.files()[0].Path, stripes: d.stripes, transfer: d.transfer, dirOf: d.dirOf, compare: b.compareCopy}}
	return k, k.checkVolumes(d.layout.BackupVolumes(d.target.Volumes))
}

// Backup writes the layout's backup files and returns them. None of the files exists before.
func (k *backuper) Backup(ctx context.Context) ([]filewise.File, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := errors.Join(k.discard(ctx), k.begin(ctx)); err != nil {
		return nil, err
	}
	if err := k.seen(); err != nil {
		return nil, err
	}
	name, again := k.next()
	files, err := k.of.stripes(name)
	if err != nil {
		return nil, err
	}
	if !k.of.discard {
		k.written = files
	}
	t := k.of.transfer(pathsOf(files))
	t.again = again
	if err = k.session.backup(ctx, k.of.database, t); err != nil {
		err = errors.Join(err, k.removeFiles())
	} else if !k.of.discard {
		err = errors.Join(k.there(), k.size(ctx, t))
	}
	for i := range files {
		files[i].Stays = !k.removes
	}
	return slices.Clone(files), err
}

// size reads the size of the backup. Its files share it equally, because the server writes them in turns.
func (k *backuper) size(ctx context.Context, t transfer) error {
	s := k.server
	r, err := ask(ctx, s.control, "backup-header", t.first())
	if denied(err) && k.removes { // it needs the right to create databases; here the files are visible
		for i, f := range k.written {
			if info, err := os.Stat(f.Path); err == nil {
				k.written[i].Bytes = info.Size()
			}
		}
		return nil
	}
	if err != nil {
		return s.login.explain(fmt.Errorf("size of the backup: %w", err))
	}
	n, ok := r.Whole("CompressedBackupSize")
	if !ok {
		n, ok = r.Whole("BackupSize")
	}
	for i := range k.written {
		if ok {
			k.written[i].Bytes = n / int64(len(k.written))
		}
	}
	return nil
}

// Restore restores the last backup under a new name. Each file is placed next to its original.
func (k *backuper) Restore(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of.discard {
		return unsupported("leave the restore out", "restoring a backup to NUL")
	}
	if len(k.written) == 0 {
		return filewise.Errorf(filewise.CodeInternal, "", "there is no backup to restore")
	}
	if err := errors.Join(k.dropRestored(ctx), k.begin(ctx)); err != nil {
		return err
	}
	name := marker.NewName()
	text, err := marker.NewText(name, k.of.custom)
	if err != nil {
		return filewise.Errorf(filewise.CodeInternal, "", "%w", err)
	}
	if err := k.session.restore(ctx, k.of.transfer(pathsOf(k.written)), name, text, k.of.dirOf); err != nil {
		return err
	}
	k.restored, k.marker = name, text
	return nil
}

// dirOf returns the directory of a build's file, by the file's name in the database.
func (d *design) dirOf(logical string, log bool) joiner {
	if log {
		return d.logDir
	}
	for _, f := range d.files() {
		if f.Logical == logical {
			return d.where[f.volume]
		}
	}
	return d.where[d.data[0].volume]
}

// Verify has the server check the restored database, and compares the database with the original.
func (k *backuper) Verify(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.restored == "" {
		return filewise.Errorf(filewise.CodeInternal, "", "there is no restored database to verify")
	}
	s := k.server
	return s.within(k.restored, func(copied *sql.DB) error {
		if err := do(ctx, copied, "check-database", map[string]any{"Name": k.restored}); err != nil {
			if ctx.Err() == nil && !broken(err) {
				err = fmt.Errorf("%w: %w", filewise.ErrCheck, err)
			}
			return s.login.explain(fmt.Errorf("checking the restored database: %w", err))
		}
		return s.login.explain(k.of.compare(ctx, copied))
	})
}

// compareCopy compares the sums of the copy's tables with the original's.
func (b *build) compareCopy(ctx context.Context, copied *sql.DB) error {
	sums, err := b.design.batches("check", b.design.vars())
	if err != nil {
		return err
	}
	for _, text := range sums {
		want, err := query(ctx, b.inside, text)
		if err != nil {
			return err
		}
		got, err := query(ctx, copied, text)
		if err != nil {
			return err
		}
		if w, g := fmt.Sprint(want), fmt.Sprint(got); w != g {
			return fmt.Errorf("%w: the restored tables have %s, the original's %s (%s)", filewise.ErrCheck, g, w, short(text))
		}
	}
	return nil
}

// Discard removes the restored database and the backup files. Calling Discard twice is harmless.
func (k *backuper) Discard(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.discard(ctx)
}

func (k *backuper) discard(ctx context.Context) error {
	return errors.Join(k.end(), k.dropRestored(ctx), k.removeFiles())
}

func (k *backuper) dropRestored(ctx context.Context) error {
	if k.restored == "" {
		return nil
	}
	err := k.server.drop(ctx, k.restored, k.marker)
	if err == nil {
		k.restored = ""
	}
	return err
}

// warnBackup adds warnings about the layout's backups.
func (d *design) warnBackup(add func(code, message, remedy string)) {
	if !d.program.BacksUp() {
		return
	}
	if d.settings.keepBackups {
		add("backups-kept", "Backup files stay on the server, out of Filewise's sight: SQL Server has no statement that removes a file.",
			"Remove the files filewise_*_backup_1_* afterwards: one set for each layout.")
	}
	if d.layout.Discard {
		add("backup-discarded", "A backup to NUL is read, compressed and thrown away: it shows what the server could do at most, and cannot "+
			"be restored.", "")
	}
}

var _ joiner = serverDir{}
