package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/engine/internal/script"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/installed"
	"filewise/internal/shell"
)

// baseArguments returns the arguments of pg_basebackup. It writes a tar file of the data directory with the WAL that it
// needs, one for each tablespace, and a list of checksums.
func baseArguments(to string) []string {
	return []string{"-D", to, "-Ft", "-X", "fetch", "-c", "fast"}
}

// base makes a backup with pg_basebackup, to which the server sends a single stream.
func (b *backuper) base(ctx context.Context) error {
	if err := b.instance.client(ctx, "pg_basebackup", baseArguments(b.instance.handles.Path(b.dir))...); err != nil {
		return err
	}
	return b.addFiles(b.dir)
}

// tablespaces maps the names of the links to the server's tablespaces, which are their OIDs, to the numbers of the
// volumes.
func (i *instance) tablespaces() (map[string]int, error) {
	dir := filepath.Join(i.sites.dataDir(), spacesDir)
	links, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := map[string]int{}
	for _, l := range links {
		to, err := os.Readlink(filepath.Join(dir, l.Name()))
		if err != nil {
			return nil, err
		}
		for n := range i.sites.dirs {
			if to == i.handles.Path(i.sites.spaceDir(n)) {
				all[l.Name()] = n
			}
		}
		if _, known := all[l.Name()]; !known {
			return nil, fmt.Errorf("tablespace %s lies in %s, which is not of this build", l.Name(), to)
		}
	}
	return all, nil
}

// Names within a data directory.
const (
	spacesDir = "pg_tblspc"
	logDir    = "pg_wal"
	mapFile   = "tablespace_map" // names the originals' places; the restored tablespaces lie elsewhere
)

// unpack fills the restored server's directories from the backup files, all in parallel, and starts the server.
func (b *backuper) unpack(ctx context.Context) error {
	i := b.restored
	spaces, err := b.instance.tablespaces()
	if err != nil {
		return err
	}
	if err := i.furnish(spaces); err != nil {
		return err
	}
	eg, ctx2 := errgroup.WithContext(ctx)
	for _, f := range b.files {
		prefix := ""
		if name := strings.TrimSuffix(filepath.Base(f.Path), ".tar"); name != filepath.Base(f.Path) {
			if _, err := strconv.Atoi(name); err == nil { // pg_basebackup named it after a tablespace
				prefix = spacesDir + "/" + name
			}
			eg.Go(func() error {
				return client.Failed(f.Path, unpack(ctx2, f.Path, prefix, func(name string) (string, error) { return i.placeOf(name, spaces) }))
			})
		}
	}
	if err := eg.Wait(); err != nil {
		return err
	}
	return b.startRestored(ctx)
}

// startRestored gives the files to the server's user, syncs them, and starts the server on them.
func (b *backuper) startRestored(ctx context.Context) error {
	i := b.restored
	if err := i.settleFiles(); err != nil {
		return err
	}
	return i.life.Start(ctx)
}

// furnish makes the directories for a backup's files: the data directory, the WAL's place, and the tablespaces.
func (i *instance) furnish(spaces map[string]int) error {
	data := i.sites.dataDir()
	dirs := []string{data, i.sites.walDir(), filepath.Join(data, spacesDir)}
	for _, n := range spaces {
		dirs = append(dirs, i.sites.spaceDir(n))
	}
	for _, dir := range dirs {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	for number, n := range spaces {
		if err := os.Symlink(i.handles.Path(i.sites.spaceDir(n)), filepath.Join(data, spacesDir, number)); err != nil {
			return err
		}
	}
	return nil
}

// placeOf returns where a file of a backup goes, or "" if the file is not restored.
func (i *instance) placeOf(name string, spaces map[string]int) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("the backup holds %q, which lies outside", name)
	}
	parts := strings.Split(name, "/")
	switch {
	case name == mapFile:
		return "", nil
	case parts[0] == spacesDir && len(parts) > 1:
		n, known := spaces[parts[1]]
		if !known {
			return "", fmt.Errorf("the backup holds tablespace %s, which is not of this build", parts[1])
		}
		return filepath.Join(append([]string{i.sites.spaceDir(n)}, parts[2:]...)...), nil
	}
	return filepath.Join(i.sites.dataDir(), name), nil
}

// backupSteps adds the steps of a backup or its restore.
func (d *design) backupSteps(w *script.Writer, act filewise.Act) {
	const measure, somewhere = filewise.StageMeasure, "…"
	files := d.jobs()
	dump, restore := d.program.Dumps(), act == filewise.ActRestore
	switch {
	case dump && restore:
		w.Command(measure, append([]string{"pg_restore"}, restoreArguments(somewhere, files)...)...)
	case dump:
		w.Command(measure, append([]string{"pg_dump"}, dumpArguments(somewhere, files, d.dumpLevel())...)...)
	case restore && d.archives():
		w.Command(measure, append([]string{toolPgBackRest}, installed.RestArguments("restore", somewhere, somewhere, "--type=preserve",
			"--process-max="+strconv.Itoa(files))...)...)
	case restore:
		w.Add(measure, shell.Place, "unpack the backup files into a new data directory, and start a managed server on it")
	case d.archives():
		w.Command(measure, append([]string{toolPgBackRest}, installed.RestArguments("stanza-create", somewhere, somewhere, "--no-online")...)...)
		w.Command(measure, append([]string{toolPgBackRest}, installed.RestBackup(d.layout, somewhere, somewhere)...)...)
	default:
		w.Command(measure, append([]string{"pg_basebackup"}, baseArguments(somewhere)...)...)
	}
}

// dumpArguments returns the arguments of pg_dump for a directory with a file for each table, written by so many
// parallel jobs.
func dumpArguments(to string, jobs int, level []string) []string {
	return append([]string{"-d", client.Maintenance, "-Fd", "-j", strconv.Itoa(jobs), "-f", to}, level...)
}

func restoreArguments(from string, jobs int) []string {
	return []string{"-d", client.Maintenance, "-j", strconv.Itoa(jobs), "--exit-on-error", from}
}

// dumped returns the path of the dump within the backup's directory. pg_dump creates it.
func (b *backuper) dumped() string { return filepath.Join(b.dir, "dump") }

// jobs returns how many processes of pgBackRest, or jobs of pg_dump, run in parallel.
func (d *design) jobs() int { return max(d.layout.Backup.Files, 1) }

// dump has pg_dump write a logical dump.
func (b *backuper) dump(ctx context.Context) error {
	if err := b.instance.client(ctx, "pg_dump", dumpArguments(b.instance.handles.Path(b.dumped()), b.build.design.jobs(),
		b.build.design.dumpLevel())...); err != nil {
		return err
	}
	return b.addFiles(b.dumped())
}

// undump has pg_restore fill a new, empty server with the same tablespaces.
func (b *backuper) undump(ctx context.Context) error {
	i := b.restored
	if err := i.fill(ctx, b.server.template); err != nil {
		return err
	}
	if err := i.life.Start(ctx); err != nil {
		return err
	}
	if err := i.link.Exec(ctx, i.design.createSpaces(i.sites, i.handles.Path)...); err != nil {
		return err
	}
	// The dump lies in the other server's directories, so pg_restore gets access to them as well.
	if err := b.instance.restoreTo(ctx, i, b.dumped(), b.build.design.jobs()); err != nil {
		return err
	}
	return i.link.Exec(ctx, checkpoint)
}

// restoreTo runs pg_restore with access to this server's directories, and restores into another server.
func (i *instance) restoreTo(ctx context.Context, to *instance, from string, jobs int) error {
	both := to.handles.With(i.handles)
	target := instance{install: i.install, account: i.account, design: i.design, sites: to.sites, handles: both}
	return target.client(ctx, "pg_restore", restoreArguments(both.Path(from), jobs)...)
}

var _ filewise.Backuper = (*backuper)(nil)
