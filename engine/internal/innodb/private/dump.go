package private

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"filewise"
	"filewise/engine/internal/managed"
)

// mydumper dumps tables as rows by several threads, and myloader loads them by
// several; the servers' own programs write one stream. Both come in one package.
// Tried: 0.10.0 of Debian 12.
var (
	mydumper = managed.Binary{Names: []string{"mydumper"}, Places: []string{"/usr/bin", "/usr/local/bin"}, Package: dumpPackage}
	myloader = managed.Binary{Names: []string{"myloader"}, Places: mydumper.Places, Package: dumpPackage}
)

const dumpPackage = "mydumper"

// mostJobs is Filewise's own bound of the jobs of a dump: each is a connection.
const mostJobs = 64

// checkDump refuses dumps that mydumper cannot make of the layout, or that cannot be
// restored beside the original.
func (d *design) checkDump() error {
	for _, program := range []managed.Binary{mydumper, myloader} {
		if _, err := program.Find(""); err != nil {
			return filewise.Errorf(filewise.CodePreflight, "apt-get install "+dumpPackage,
				"dumps by several jobs are made by mydumper, as %s's own program writes one stream: %w: %w", d.product.Title, err, filewise.ErrUnsupported)
		}
	}
	l := d.layout
	switch {
	case l.Discard:
		return refuse("leave --discard out", "a dump that is thrown away: mydumper writes files")
	case l.Backup.Files < 0 || l.Backup.Files > mostJobs:
		return refuse("give 1 to "+strconv.Itoa(mostJobs), "a dump by %d jobs", l.Backup.Files)
	case l.Backup.Placement == filewise.PlaceRoundRobin && len(d.target.Volumes) > 1:
		return refuse("use one volume for the dump", "mydumper writes into one directory, not to %d volumes", len(d.target.Volumes))
	case d.isSystem():
		return refuse("use --kind partitions or per-table",
			"a dump of the system tablespace: it is restored beside the original, and the files of a layout have room for its rows once")
	}
	return l.BackupOptions.Check(dumpOptions)
}

// dumpOptions are the parameters of mydumper that can be varied.
var dumpOptions = []filewise.BackupOption{
	{Name: "compress", Words: "no, as usual, or yes, by gzip", Check: filewise.OneOf("no", "yes")},
	{Name: "rows", Words: "the rows in a piece of a table, 1000 to 1000000000, about; each piece is a job's, and usually a table is one", Check: func(v string) error {
		n, err := strconv.Atoi(v)
		if err == nil && (n < 1000 || n > 1_000_000_000) {
			err = errors.New("it is not between 1000 and 1000000000")
		}
		return err
	}},
}

// warnDump says what the number of jobs means here.
func (d *design) warnDump() {
	d.warn("dump-jobs", "none is needed", "the jobs are threads of mydumper, which reads all tables as of one moment, and of myloader, "+
		"which restores into a database of the same server, past its binary log")
	if _, pieces := d.layout.BackupOptions.Get("rows"); !pieces && d.threads() > len(d.schema.Tables) {
		d.warn("fewer-tables-than-jobs", "use --backup-option rows=10000: pieces of a table are several jobs' work",
			"%d jobs share %d tables: unless told otherwise, mydumper gives a whole table, with its partitions, to one job", d.threads(), len(d.schema.Tables))
	}
}

// dumpArgs and undumpArgs are the command lines. The option file is the server's own,
// which tells clients nothing: without one the machine's would be read. The password
// is in the environment.
func (d *design) dumpArgs() []string {
	args := append(d.dumpTarget(), "--database="+Database, "--outputdir="+d.dumpDir())
	if v, ok := d.layout.BackupOptions.Get("rows"); ok {
		args = append(args, "--rows="+v)
	}
	if v, _ := d.layout.BackupOptions.Get("compress"); v == "yes" {
		args = append(args, "--compress")
	}
	return args
}

func (d *design) undumpArgs() []string {
	return append(d.dumpTarget(), "--database="+restoredDatabase, "--directory="+d.dumpDir())
}

func (d *design) dumpTarget() []string {
	return []string{"--defaults-file=" + d.optionPath(), "--user=" + account, "--socket=" + socketName, "--threads=" + strconv.Itoa(d.threads())}
}

// dumpDir is the dump within the backup's directory: mydumper makes it.
func (d *design) dumpDir() string {
	_, dir := d.backupDir()
	return filepath.Join(dir, "dump")
}

// dumper has mydumper dump the build's database, and myloader restore it into another
// one. It implements filewise.Backuper.
type dumper struct{ beside }

// Backup writes and syncs the dump.
func (b dumper) Backup(ctx context.Context) (_ []filewise.File, err error) {
	defer func() { err = failed("dump", err) }()
	d := b.instance.design
	if _, _, err := b.instance.running(); err != nil {
		return nil, err
	}
	volume, dir := d.backupDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := b.run(ctx, mydumper, d.dumpArgs()); err != nil {
		return nil, err
	}
	return filesIn(volume, d.dumpDir())
}

// Restore loads the dump. Its rows are restored when their last transaction is
// committed, as durably as the layout's durability says.
func (b dumper) Restore(ctx context.Context) error {
	d := b.instance.design
	if _, err := os.Stat(d.dumpDir()); err != nil {
		return failed("restore of a dump", err)
	}
	return failed("restore of a dump", b.run(ctx, myloader, d.undumpArgs()))
}

func (b dumper) run(ctx context.Context, program managed.Binary, args []string) error {
	path, err := program.Find("")
	if err != nil {
		return err
	}
	return b.instance.client(ctx, path, args)
}

// scriptDump adds the command lines of a dump and its restore.
func (d *design) scriptDump(add func(stage, on string, texts ...string)) error {
	dump, err := mydumper.Find("")
	if err != nil {
		return err
	}
	add(filewise.StageMeasure, "shell", commandLine(dump, d.dumpArgs()))
	if !d.program.Restores() {
		return nil
	}
	load, err := myloader.Find("")
	if err != nil {
		return err
	}
	add(filewise.StageMeasure, "shell", commandLine(load, d.undumpArgs()))
	return nil
}

var dumpVersion = regexp.MustCompile(`\b\d+\.\d+[\w.-]*`)

// dumpFacts are the versions of the programs that make the program's dumps.
func (d *design) dumpFacts(ctx context.Context) ([]filewise.Fact, error) {
	if d.program.Workload != workloadDump {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var facts []filewise.Fact
	for _, program := range []managed.Binary{mydumper, myloader} {
		path, err := program.Find("")
		if err != nil {
			return nil, err
		}
		out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
		if err != nil {
			return nil, filewise.Errorf(filewise.CodePreflight, "apt-get install --reinstall "+dumpPackage, "%s --version: %w", path, err)
		}
		facts = append(facts, filewise.Fact{Name: program.Names[0], Value: dumpVersion.FindString(string(out)) + ", " + path})
	}
	return facts, nil
}

var _ filewise.Backuper = dumper{}
