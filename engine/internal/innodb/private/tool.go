package private

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/engine/internal/managed"
)

// tool makes backups by the product's own program, and restores each to a private
// server of its own. It implements filewise.Backuper.
type tool struct {
	server   *privateServer
	instance *instance
	restored *instance
}

// logInterval is how often the tool looks for new redo log, in milliseconds: at
// the usual second, backups of small databases would all take that second.
const logInterval = "20"

// dir is where the backup lies, and its volume.
func (d *design) backupDir() (volume, dir string) {
	v := d.layout.Backup.VolumeOf(0, d.target.Volumes).Name
	return v, d.backupDirs()[v]
}

// backupArgs, prepareArgs and copyBackArgs are the tool's command lines. The
// password is in its environment.
func (d *design) backupArgs() []string {
	_, dir := d.backupDir()
	args := []string{"--no-defaults", "--backup", "--target-dir=" + filepath.Join(dir, "files"), "--parallel=" + strconv.Itoa(d.threads()),
		"--log-copy-interval=" + logInterval, "--user=root", "--socket=" + socketName}
	if d.layout.Discard {
		args = append(args, "--stream=mbstream") // to its standard output, which is nowhere
	}
	return append(args, d.optionArgs()...)
}

func (d *design) prepareArgs() []string {
	_, dir := d.backupDir()
	files := filepath.Join(dir, "files")
	return []string{"--defaults-file=" + filepath.Join(files, "backup-my.cnf"), "--prepare", "--target-dir=" + files,
		"--use-memory=" + strconv.FormatInt(d.poolBytes(), 10)}
}

// copyBackArgs copy the backup of d to the places of another design.
func (d *design) copyBackArgs(to *design) ([]string, error) {
	spec, err := innodb.FormatDataFiles(to.systemFiles())
	if err != nil {
		return nil, err
	}
	_, dir := d.backupDir()
	return []string{"--no-defaults", "--copy-back", "--target-dir=" + filepath.Join(dir, "files"), "--parallel=" + strconv.Itoa(d.threads()),
		"--datadir=" + to.dataDir(), "--innodb-data-home-dir=", "--innodb-data-file-path=" + spec, "--innodb-log-group-home-dir=" + to.redoDir()}, nil
}

// Backup writes and syncs the backup.
func (b *tool) Backup(ctx context.Context) ([]filewise.File, error) {
	d := b.instance.design
	if _, _, err := b.instance.running(); err != nil {
		return nil, failed("backup", err)
	}
	volume, dir := d.backupDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, failed("backup", err)
	}
	if err := b.run(ctx, d.backupArgs()); err != nil || d.layout.Discard {
		return nil, failed("backup", err)
	}
	files, err := filesIn(volume, filepath.Join(dir, "files"))
	return files, failed("backup", err)
}

// Restore prepares the backup, copies it to the places of a new server, and starts
// that: it is restored when the server answers.
func (b *tool) Restore(ctx context.Context) (err error) {
	defer func() { err = failed("restore", err) }()
	d := b.instance.design
	if err := b.run(ctx, d.prepareArgs()); err != nil {
		return err
	}
	b.restored, err = b.server.register(func(n int) (*design, error) { return b.server.product.newDesign(d.target, d.layout, d.program, n) })
	if err != nil {
		return err
	}
	b.restored.password = b.instance.password // of the account in the backup
	args, err := d.copyBackArgs(b.restored.design)
	if err != nil {
		return err
	}
	if err := b.run(ctx, args); err != nil {
		return err
	}
	return b.restored.start(ctx)
}

// Verify checks the restored server's tables.
func (b *tool) Verify(ctx context.Context) error {
	if b.restored == nil {
		return failed("verifying the restore", errors.New("nothing is restored"))
	}
	return failed("verifying the restore", b.instance.verify(ctx, b.restored, Database))
}

// Discard ends the restored server and removes its files and the backup's.
func (b *tool) Discard(context.Context) error {
	var errs []error
	if b.restored != nil {
		errs = append(errs, b.server.drop(b.restored))
		b.restored = nil
	}
	_, dir := b.instance.design.backupDir()
	return errors.Join(append(errs, os.RemoveAll(dir))...)
}

// run runs the tool to its end.
func (b *tool) run(ctx context.Context, args []string) error {
	path, err := b.server.product.BackupTool(b.instance.design.target.ServerBin)
	if err != nil {
		return err
	}
	return b.instance.client(ctx, path, args)
}

// client runs a program against the server to its end, in the data directory, where
// the server's socket is: whole paths may be too long for a socket. Its log is in the
// backup's directory.
func (i *instance) client(ctx context.Context, path string, args []string) error {
	d := i.design
	_, dir := d.backupDir()
	p, err := managed.Start(managed.Spec{
		Discard: d.layout.Discard, Path: path, Args: args, Dir: d.dataDir(), Env: append(d.environment(), "MYSQL_PWD="+i.password),
		Log: filepath.Join(dir, "log"), Register: d.target.OnStart,
		Tells: func(line string) bool {
			return strings.Contains(line, "rror") || strings.Contains(line, "ail") || strings.Contains(line, "CRITICAL") || tells(line)
		},
	})
	if err != nil {
		return err
	}
	return i.explain(p.Wait(ctx))
}
