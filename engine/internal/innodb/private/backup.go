package private

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/engine/internal/innodb"
	"filewise/internal/filesystem"
)

// A backup lies beside the build that it is of, on the volumes of its own
// placement.
const backupSuffix = ".backup"

// Workloads that make backups.
const (
	workloadBackup = "backup"
	workloadDump   = "dump"
)

// backsUp says whether the program makes backups of either sort.
func (d *design) backsUp() bool {
	return d.program.Workload == workloadBackup || d.program.Workload == workloadDump
}

func refuse(remedy, format string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "%s: %w", fmt.Sprintf(format, args...), filewise.ErrUnsupported)
}

// mostThreads is the most of what copies at the same time.
const mostThreads = 128

// checkBackup says why the product makes no backups here.
func (p *Product) checkBackup(t filewise.Target) error {
	if p.BackupTool == nil {
		return nil
	}
	if _, err := p.BackupTool(t.ServerBin); err != nil {
		return filewise.Errorf(filewise.CodePreflight, filewise.RemedyOf(err), "%w: %w", err, filewise.ErrUnsupported)
	}
	return nil
}

// checkBackup refuses backups that the product cannot make of the layout, or not
// restore without touching the original.
func (d *design) checkBackup() error {
	switch d.program.Workload {
	case workloadDump:
		return d.checkDump()
	case workloadBackup:
	default:
		return nil
	}
	if err := d.product.checkBackup(d.target); err != nil {
		return err
	}
	options := toolOptions
	if d.product.BackupTool == nil {
		options = nil
	}
	if err := d.layout.BackupOptions.Check(options); err != nil {
		return err
	}
	b := d.layout.Backup
	if b.Files < 0 || b.Files > mostThreads {
		return refuse(fmt.Sprintf("give 1 to %d", mostThreads), "a backup by %d threads", b.Files)
	}
	switch system := d.isSystem(); {
	case d.product.BackupTool == nil && system:
		return refuse("use --kind per-table or partitions",
			"%s exports tables that have files of their own, and none of its system tablespace; its clone plugin is not in every distribution of it", d.product.Title)
	case d.product.BackupTool == nil && d.program.WorksBeside():
		return refuse("leave --beside out, or use mariadb",
			"a load beside a backup on %s: FLUSH TABLES … FOR EXPORT, by which Filewise copies its tables, lets nobody write until the copy is done", d.product.Title)
	case d.product.BackupTool == nil:
	case b.Placement == filewise.PlaceRoundRobin && len(d.target.Volumes) > 1:
		return refuse("use one volume for the backup", "%s's backup tool writes into one directory, not to %d volumes", d.product.Title, len(d.target.Volumes))
	case !system && min(len(d.data), d.layout.Data.Files) > 1 && d.layout.Data.Placement == filewise.PlaceRoundRobin:
		return refuse("use --kind system, or one volume for the data",
			"%s's backup tool restores tables of other directories (DATA DIRECTORY) to the place of the originals", d.product.Title)
	}
	return nil
}

// toolOptions are the parameters of MariaDB's backup tool that can be varied.
var toolOptions = []filewise.BackupOption{
	{Name: "read-buffer-size", Words: "bytes, 64KiB to 1GiB, such as 10MiB", Check: func(v string) error {
		n, err := humanize.ParseBytes(v)
		if err == nil && (n < 64<<10 || n > 1<<30) {
			err = errors.New("it is not between 64KiB and 1GiB")
		}
		return err
	}},
	{Name: "throttle", Words: "the chunks of 10 MiB a second that are copied at most, 1 to 100000", Check: func(v string) error {
		n, err := strconv.Atoi(v)
		if err == nil && (n < 1 || n > 100_000) {
			err = errors.New("it is not between 1 and 100000")
		}
		return err
	}},
}

// optionArgs are the options on the tool's command line.
func (d *design) optionArgs() []string {
	var args []string
	if v, ok := d.layout.BackupOptions.Get("read-buffer-size"); ok {
		n, _ := humanize.ParseBytes(v) // checked by checkBackup
		args = append(args, "--read-buffer-size="+strconv.FormatUint(n, 10))
	}
	if v, ok := d.layout.BackupOptions.Get("throttle"); ok {
		args = append(args, "--throttle="+v)
	}
	return args
}

// threads is how many files are copied at the same time.
func (d *design) threads() int { return max(d.layout.Backup.Files, 1) }

// backupDirs are the backup's directories by volume.
func (d *design) backupDirs() map[string]string {
	dirs := map[string]string{}
	for i := range d.threads() {
		v := d.layout.Backup.VolumeOf(i, d.target.Volumes)
		n := slices.IndexFunc(d.target.Volumes, func(o filewise.Volume) bool { return o.Name == v.Name })
		dirs[v.Name] = d.dirs[n] + backupSuffix
	}
	return dirs
}

// warnBackup says what the number of backup files means here.
func (d *design) warnBackup() {
	switch d.program.Workload {
	case workloadDump:
		d.warnDump()
		return
	case workloadBackup:
	default:
		return
	}
	how := "the copying threads (mariadb-backup --parallel)"
	if d.product.BackupTool == nil {
		how = "the files that are copied at the same time under FLUSH TABLES … FOR EXPORT"
	}
	d.warn("backup-threads", "vary the data files as well: a thread copies whole files",
		"%s's backups are not striped: a backup has a file for each data file, and a layout's number of backup files is that of %s",
		d.product.Title, how)
	if n := len(d.files); n < d.threads() {
		d.warn("fewer-files-than-threads", "use more data files",
			"%d threads share %s: no more threads copy data than there are data files", d.threads(), filewise.FilesName(n))
	}
}

// backuper of a build; nil: its program makes no backups.
func (s *privateServer) backuper(i *instance) filewise.Backuper {
	switch {
	case !i.design.backsUp():
		return nil
	case i.design.program.Workload == workloadDump:
		return dumper{beside{i}}
	case s.product.BackupTool == nil:
		return exporter{beside{i}}
	default:
		return &tool{server: s, instance: i}
	}
}

// verify compares a restored database with the original: the server's own check
// of each table, and the workload's sums.
func (i *instance) verify(ctx context.Context, restored *instance, database string) error {
	copied := restored.design.schema
	copied.Database = database
	link, err := restored.Link()
	if err != nil {
		return err
	}
	if err := copied.Check(ctx, link); err != nil {
		return fmt.Errorf("%w: restored: %w", filewise.ErrCheck, err)
	}
	want, err := innodb.Querier{Host: i, Schema: i.design.schema}.Query(ctx, innodb.SectionCheck)
	if err != nil {
		return err
	}
	got, err := innodb.Querier{Host: restored, Schema: copied}.Query(ctx, innodb.SectionCheck)
	if err != nil {
		return err
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("%w: restored tables have %v, the original %v", filewise.ErrCheck, got, want)
	}
	return nil
}

// filesIn are the regular files below a directory, each synced to the storage.
func filesIn(volume, dir string) ([]filewise.File, error) {
	var files []filewise.File
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if err := filesystem.SyncFile(path); err != nil {
			return err
		}
		f, err := stat(filewise.RoleBackup, volume, path)
		files = append(files, f)
		return err
	})
	return files, err
}

// backupSpace adds what backup and restored copy take.
func (d *design) backupSpace(space map[string]int64) {
	if !d.backsUp() {
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
	if d.program.Workload == workloadBackup && d.product.BackupTool != nil { // a second server
		space[d.data[0].volume] += build
		return
	}
	space[d.data[0].volume] += int64(d.need())
}
