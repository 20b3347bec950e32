package managed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
)

// tool makes backups with programs. The product's own program restores each to a second managed server. Dumps of
// mydumper are restored into another database of the same server. It implements filewise.Backuper.
type tool struct {
	sameServer
	server   *openServer
	restored *instance
}

// logInterval is the time between two looks of the product's tool for new redo log, in milliseconds. At the default of a second,
// backups of small databases would all take that second.
const logInterval = "20"

// backupDir returns the backup's directory and its volume.
func (d *design) backupDir() (volume, dir string) {
	v := d.Layout.BackupVolumeOf(0, d.Target.Volumes).Name
	return v, d.backupDirs()[v]
}

// contentDir returns the directory of the backup itself, within backupDir. The program creates it.
func (d *design) contentDir() string {
	_, dir := d.backupDir()
	if d.copiesFiles() {
		return filepath.Join(dir, "files")
	}
	return filepath.Join(dir, "dump")
}

// commands returns the command lines of a backup, or of its restore to the places of another design.
func (d *design) commands(act filewise.Act, to *design) ([][]string, error) {
	if !d.copiesFiles() {
		command, err := d.dumpCommand(act)
		return [][]string{command}, err
	}
	path, err := d.Product.Managed.BackupTool(d.Target.ServerBin)
	if err != nil {
		return nil, err
	}
	if act == filewise.ActBackup {
		return [][]string{append([]string{path}, d.backupArgs()...)}, nil
	}
	spec, err := dialect.FormatDataFiles(to.systemFiles())
	files := d.contentDir()
	return [][]string{
		{path, "--defaults-file=" + filepath.Join(files, "backup-my.cnf"), "--prepare", "--target-dir=" + files,
			"--use-memory=" + strconv.FormatInt(d.poolBytes(), 10)},
		{path, "--no-defaults", "--copy-back", "--target-dir=" + files, "--parallel=" + strconv.Itoa(d.threads()),
			"--datadir=" + to.dataDir(), "--innodb-data-home-dir=", "--innodb-data-file-path=" + spec,
			"--innodb-log-group-home-dir=" + to.dataDir()},
	}, err
}

// backupArgs returns the arguments of the product's tool. The password is in the tool's environment.
func (d *design) backupArgs() []string {
	args := []string{"--no-defaults", "--backup", "--target-dir=" + d.contentDir(), "--parallel=" + strconv.Itoa(d.threads()),
		"--log-copy-interval=" + logInterval, "--user=root", "--socket=" + socketName}
	if d.Layout.Discard {
		args = append(args, "--stream=mbstream") // to its standard output, which is discarded
	}
	return append(args, d.optionArgs()...)
}

// Backup makes a backup and syncs it.
func (b *tool) Backup(ctx context.Context) (_ []filewise.File, err error) {
	d := b.instance.design
	defer func() { err = failed(d.noun(), err) }()
	if _, _, err := b.instance.running(); err != nil {
		return nil, err
	}
	volume, dir := d.backupDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := b.run(ctx, filewise.ActBackup, d); err != nil || d.Layout.Discard {
		return nil, err
	}
	return server.BackupFiles(volume, d.contentDir())
}

// noun returns the word for a backup in messages.
func (d *design) noun() string {
	if d.copiesFiles() {
		return "backup"
	}
	return "dump"
}

// Restore restores the backup. A dump is restored when its last transaction is committed, as durably as the layout
// demands. Files are restored when the server that they were copied to answers.
func (b *tool) Restore(ctx context.Context) (err error) {
	d := b.instance.design
	if !d.copiesFiles() {
		if _, err = os.Stat(d.contentDir()); err == nil {
			err = b.run(ctx, filewise.ActRestore, d)
		}
		return failed("restore of a dump", err)
	}
	b.restored, err = b.server.register(func(n int) (*design, error) { return newDesign(d.Product, d.Target, d.Layout, d.Program, n) })
	if err != nil {
		return failed("restore", err)
	}
	b.restored.password = b.instance.password // the account's password is in the backup
	if err = b.run(ctx, filewise.ActRestore, b.restored.design); err == nil {
		err = b.restored.life.Start(ctx)
	}
	return failed("restore", err)
}

// Verify checks what was restored.
func (b *tool) Verify(ctx context.Context) error {
	switch {
	case !b.instance.design.copiesFiles():
		return b.sameServer.Verify(ctx)
	case b.restored == nil:
		return failed("verifying the restore", errors.New("nothing is restored"))
	}
	return failed("verifying the restore", b.instance.verify(ctx, b.restored, Database))
}

// Discard removes the backup and what was restored. A second server is removed with its files.
func (b *tool) Discard(ctx context.Context) error {
	if !b.instance.design.copiesFiles() {
		return b.sameServer.Discard(ctx)
	}
	var errs []error
	if b.restored != nil {
		errs = append(errs, b.server.drop(b.restored))
		b.restored = nil
	}
	_, dir := b.instance.design.backupDir()
	return errors.Join(append(errs, os.RemoveAll(dir))...)
}

// run runs the programs of an act to their end.
func (b *tool) run(ctx context.Context, act filewise.Act, to *design) error {
	commands, err := b.instance.design.commands(act, to)
	for _, c := range commands {
		if err != nil {
			break
		}
		err = b.instance.client(ctx, c[0], c[1:])
	}
	return err
}

// client runs a program against the server to its end. It runs in the data directory, where the server's socket is,
// because the socket's full path can be too long. The program's log is in the backup's directory.
func (i *instance) client(ctx context.Context, path string, args []string) error {
	d := i.design
	_, dir := d.backupDir()
	p, err := server.Start(server.Spec{
		Discard: d.Layout.Discard, Path: path, Args: args, Dir: d.dataDir(), Env: append(d.environment(), "MYSQL_PWD="+i.password),
		Log: filepath.Join(dir, "log"), Register: d.Target.OnStart,
		Tells: func(line string) bool {
			return strings.Contains(line, "rror") || strings.Contains(line, "ail") || strings.Contains(line, "CRITICAL") || explains(line)
		},
	})
	if err != nil {
		return err
	}
	return i.explain(p.Wait(ctx))
}
