package managed

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/server"
	"filewise/host/machine"
)

// mydumper dumps tables as rows with several threads, and myloader loads them with several. The servers' own programs
// write one stream. Both programs come in one package. Tested with 0.10.0 of Debian 12.
var mydumper, myloader = dialect.Mydumper, dialect.Myloader

// mostJobs is Filewise's own limit on a dump's jobs, each of which is a connection.
const mostJobs = 64

// checkDump refuses dumps that mydumper cannot make of the layout, or that cannot be restored next to the original.
func (d *design) checkDump() error {
	for _, program := range []server.Binary{mydumper, myloader} {
		if _, err := program.Find(""); err != nil {
			return filewise.Errorf(filewise.CodePreflight, machine.Install(mydumper.Package),
				"dumps by several jobs are made by mydumper, as %s's own program writes one stream: %w: %w", d.Product.Title, err,
				filewise.ErrUnsupported)
		}
	}
	l := d.Layout
	switch {
	case l.Discard:
		return refuse("leave --discard out", "a dump that is thrown away: mydumper writes files")
	case l.Backup.Files < 0 || l.Backup.Files > mostJobs:
		return refuse("give 1 to "+strconv.Itoa(mostJobs), "a dump by %d jobs", l.Backup.Files)
	case l.Backup.Placement == filewise.PlaceRoundRobin && len(l.BackupVolumes(d.Target.Volumes)) > 1:
		return refuse("use one volume for the dump", "mydumper writes into one directory, not to %d volumes", len(d.Target.Volumes))
	case d.isSystem():
		return refuse("use --kind partitions or per-table",
			"a dump of the system tablespace: it is restored next to the original, and the files of a layout have space for its rows once")
	}
	if err := l.CheckBackupVolumes(d.Target.Volumes); err != nil {
		return err
	}
	return l.BackupOptions.Check(dumpOptions)
}

// dumpOptions lists the options of mydumper that can be varied.
var dumpOptions = []filewise.BackupOption{
	{Name: "compress", Words: "no, as usual, or yes, by gzip", Check: filewise.OneOf("no", "yes")},
	{Name: "rows", Words: "about how many rows a piece of a table has, 1000 to 1000000000; a job takes a piece, usually a whole table",
		Check: func(v string) error {
			n, err := strconv.Atoi(v)
			if err == nil && (n < 1000 || n > 1_000_000_000) {
				err = errors.New("it is not between 1000 and 1000000000")
			}
			return err
		}},
}

// warnDump warns what the number of jobs means for this product.
func (d *design) warnDump() {
	d.Warn("dump-jobs", "none is needed", "The jobs are threads of mydumper, which reads all tables as of one moment, and of myloader, "+
		"which restores into a database of the same server, past its binary log")
	if _, pieces := d.Layout.BackupOptions.Get("rows"); !pieces && d.threads() > len(d.Tables) {
		d.Warn("fewer-tables-than-jobs", "use --backup-option rows=10000: pieces of a table are several jobs' work",
			"%d jobs share %d tables: by default mydumper gives a whole table, with its partitions, to one job", d.threads(),
			len(d.Tables))
	}
}

// dumpCommand returns the command line of a dump or its restore. It names the server's own option file, which has
// nothing for clients, because otherwise the machine's would be read. The password is in the environment.
func (d *design) dumpCommand(act filewise.Act) ([]string, error) {
	program := mydumper
	args := []string{"--database=" + Database, "--outputdir=" + d.contentDir()}
	if v, ok := d.Layout.BackupOptions.Get("rows"); ok {
		args = append(args, "--rows="+v)
	}
	if v, _ := d.Layout.BackupOptions.Get("compress"); v == "yes" {
		args = append(args, "--compress")
	}
	if act == filewise.ActRestore {
		program = myloader
		args = []string{"--database=" + restoredDatabase, "--directory=" + d.contentDir()}
	}
	path, err := program.Find("")
	return append([]string{path, "--defaults-file=" + d.optionPath(), "--user=" + account, "--socket=" + socketName,
		"--threads=" + strconv.Itoa(d.threads())}, args...), err
}

var dumpVersion = regexp.MustCompile(`\b\d+\.\d+[\w.-]*`)

// dumpFacts returns the versions of the programs that make the dumps.
func (d *design) dumpFacts(ctx context.Context) ([]filewise.Fact, error) {
	if !d.Program.Dumps() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var facts []filewise.Fact
	for _, program := range []server.Binary{mydumper, myloader} {
		path, err := program.Find("")
		if err != nil {
			return nil, err
		}
		out, err := machine.Command(ctx, path, "--version").CombinedOutput()
		if err != nil {
			return nil, filewise.Errorf(filewise.CodePreflight, "apt-get install --reinstall "+mydumper.Package, "%s --version: %w", path, err)
		}
		facts = append(facts, filewise.Fact{Name: program.Names[0], Value: dumpVersion.FindString(string(out)) + ", " + path})
	}
	return facts, nil
}
