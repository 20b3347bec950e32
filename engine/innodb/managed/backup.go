package managed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// backupSuffix ends the name of a backup's directory. The directory lies next to the build, on the volumes for backups.
const backupSuffix = ".backup"

// copiesFiles reports whether the product's own tool makes the backups by copying files.
func (d *design) copiesFiles() bool {
	return d.Program.BacksUp() && !d.Program.Dumps()
}

// refuse returns an error about what a managed server cannot do.
var refuse = filewise.Unsupported

// mostThreads limits how many threads copy at the same time.
const mostThreads = 128

// checkBackup returns an error if the product can make no backups on this target.
func checkBackup(p *dialect.Product, t filewise.Target) error {
	if p.Managed.BackupTool == nil {
		return refuse("use scenario dump, which mydumper makes, or mariadb",
			"%s comes with no program that copies a running server's files", p.Title)
	}
	if _, err := p.Managed.BackupTool(t.ServerBin); err != nil {
		return filewise.Errorf(filewise.CodePreflight, filewise.RemedyOf(err), "%w: %w", err, filewise.ErrUnsupported)
	}
	return nil
}

// checkBackup refuses backups that the product cannot make of the layout, or cannot restore without touching the
// original.
func (d *design) checkBackup() error {
	if !d.Program.BacksUp() {
		return nil
	}
	if d.Program.Dumps() {
		return d.checkDump()
	}
	if err := checkBackup(d.Product, d.Target); err != nil {
		return err
	}
	if err := d.Layout.BackupOptions.Check(toolOptions); err != nil {
		return err
	}
	if err := d.Layout.CheckBackupVolumes(d.Target.Volumes); err != nil {
		return err
	}
	b := d.Layout.Backup
	if b.Files < 0 || b.Files > mostThreads {
		return refuse(fmt.Sprintf("give 1 to %d", mostThreads), "a backup by %d threads", b.Files)
	}
	switch system := d.isSystem(); {
	case b.Placement == filewise.PlaceRoundRobin && len(d.Layout.BackupVolumes(d.Target.Volumes)) > 1:
		return refuse("use one volume for the backup", "%s's backup tool writes into one directory, not to %d volumes", d.Product.Title,
			len(d.Layout.BackupVolumes(d.Target.Volumes)))
	case !system && min(len(d.data), d.Layout.Data.Files) > 1 && d.Layout.Data.Placement == filewise.PlaceRoundRobin:
		return refuse("use --kind system, or one volume for the data",
			"%s's backup tool restores tables of other directories (DATA DIRECTORY) over the originals", d.Product.Title)
	}
	return nil
}

// toolOptions lists the options of MariaDB's backup tool that can be varied.
var toolOptions = []filewise.BackupOption{
	{Name: "read-buffer-size", Words: "bytes, 64KiB to 1GiB, such as 10MiB", Check: func(v string) error {
		n, err := humanize.ParseBytes(v)
		if err == nil && (n < 64<<10 || n > 1<<30) {
			err = errors.New("it is not between 64KiB and 1GiB")
		}
		return err
	}},
	{Name: "throttle", Words: "how many chunks of 10 MiB to copy a second at most, 1 to 100000", Check: func(v string) error {
		n, err := strconv.Atoi(v)
		if err == nil && (n < 1 || n > 100_000) {
			err = errors.New("it is not between 1 and 100000")
		}
		return err
	}},
}

// optionArgs returns the backup options as arguments of the tool.
func (d *design) optionArgs() []string {
	var args []string
	if v, ok := d.Layout.BackupOptions.Get("read-buffer-size"); ok {
		n, _ := humanize.ParseBytes(v) // checkBackup has checked it
		args = append(args, "--read-buffer-size="+strconv.FormatUint(n, 10))
	}
	if v, ok := d.Layout.BackupOptions.Get("throttle"); ok {
		args = append(args, "--throttle="+v)
	}
	return args
}

// threads returns how many files are copied at the same time.
func (d *design) threads() int { return max(d.Layout.Backup.Files, 1) }

// backupDirs returns the backup's directories by volume.
func (d *design) backupDirs() map[string]string {
	dirs := map[string]string{}
	for i := range d.threads() {
		v := d.Layout.BackupVolumeOf(i, d.Target.Volumes)
		n := slices.IndexFunc(d.Target.Volumes, func(o filewise.Volume) bool { return o.Name == v.Name })
		dirs[v.Name] = d.dirs[n] + backupSuffix
	}
	return dirs
}

// warnBackup warns what the number of backup files means for this product.
func (d *design) warnBackup() {
	switch {
	case d.Program.Dumps():
		d.warnDump()
		return
	case !d.Program.BacksUp():
		return
	}
	d.Warn("backup-threads", "vary the data files as well: a thread copies whole files",
		"%s's backups are not striped: a backup has a file for each data file, and a layout's number of backup files counts the copying "+
			"threads (mariadb-backup --parallel)", d.Product.Title)
	if n := len(d.Files); n < d.threads() {
		d.Warn("fewer-files-than-threads", "use more data files",
			"%d threads share %s: no more threads copy data than there are data files", d.threads(), filewise.FilesName(n))
	}
}

// backuper returns the backuper of a build, or nil if its program makes no backups.
func (s *openServer) backuper(i *instance) filewise.Backuper {
	if !i.design.Program.BacksUp() {
		return nil
	}
	return &tool{sameServer: sameServer{i}, server: s}
}

// verify compares a restored database with the original, by the server's check of each table and by the workload's
// sums.
func (i *instance) verify(ctx context.Context, restored *instance, database string) error {
	copied := restored.design.Schema
	copied.Database = database
	link, err := restored.Link()
	if err != nil {
		return err
	}
	if err := copied.Check(ctx, link); err != nil {
		return fmt.Errorf("%w: restored: %w", filewise.ErrCheck, err)
	}
	want, err := dialect.Querier{Host: i, Schema: i.design.Schema}.Query(ctx, dialect.SectionCheck)
	if err != nil {
		return err
	}
	got, err := dialect.Querier{Host: restored, Schema: copied}.Query(ctx, dialect.SectionCheck)
	if err != nil {
		return err
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("%w: restored tables have %v, the original %v", filewise.ErrCheck, got, want)
	}
	return nil
}

// backupSpace adds the space of the backup and of the restored copy.
func (d *design) backupSpace(space map[string]int64) {
	if !d.Program.BacksUp() {
		return
	}
	var build int64
	for _, bytes := range space {
		build += bytes
	}
	dirs := d.backupDirs()
	for volume := range dirs {
		space[volume] += build / int64(len(dirs))
	}
	if d.copiesFiles() { // restored to a second server
		space[d.data[0].volume] += build
		return
	}
	space[d.data[0].volume] += int64(d.need())
}
