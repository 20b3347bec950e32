package postgres

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/internal/filesystem"
)

// baseArguments are those of pg_basebackup: a tar file of the data directory with
// the WAL that it needs, one for each tablespace, and a list of checksums.
func baseArguments(to string) []string {
	return []string{"-D", to, "-Ft", "-X", "fetch", "-c", "fast"}
}

// base has pg_basebackup write a backup, which the server sends in one stream.
func (b *backuper) base(ctx context.Context) error {
	i, home := b.instance, b.volumeOf(0)
	if err := i.client(ctx, "pg_basebackup", baseArguments(i.doors.path(b.dirs[0]))...); err != nil {
		return err
	}
	entries, err := os.ReadDir(b.dirs[0])
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := b.addFile(home, filepath.Join(b.dirs[0], e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// tablespaces are the numbers of the server's tablespaces, by those of the volumes.
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
			if to == i.doors.path(i.sites.spaceDir(n)) {
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
	labelFile = "backup_label"
	mapFile   = "tablespace_map" // where the originals are: the restored ones are elsewhere
)

// unpack fills the restored server's directories from the backup files, all at the
// same time, and starts it.
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
		if name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(f.Path), gzipped), ".tar"); name != filepath.Base(f.Path) {
			if _, err := strconv.Atoi(name); err == nil { // pg_basebackup's, of a tablespace
				prefix = spacesDir + "/" + name
			}
			eg.Go(func() error {
				return failed(f.Path, untar(ctx2, f.Path, prefix, func(name string) (string, error) { return i.placeOf(name, spaces) }))
			})
		}
	}
	if err := eg.Wait(); err != nil {
		return err
	}
	return b.startRestored(ctx)
}

// startRestored hands the files to the server's user, brings them to the storage and
// starts the server on them.
func (b *backuper) startRestored(ctx context.Context) error {
	i := b.restored
	for _, dir := range i.sites.dirs {
		if err := i.account.own(dir); err != nil {
			return err
		}
		if err := filesystem.SyncAround(dir); err != nil {
			return err
		}
	}
	return i.start(ctx)
}

// furnish makes what a backup's files are put into: the data directory, the WAL's
// place, and the tablespaces.
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
	if i.sites.log != i.sites.home {
		if err := os.Symlink(i.doors.path(i.sites.walDir()), filepath.Join(data, logDir)); err != nil {
			return err
		}
	}
	for number, n := range spaces {
		if err := os.Symlink(i.doors.path(i.sites.spaceDir(n)), filepath.Join(data, spacesDir, number)); err != nil {
			return err
		}
	}
	return nil
}

// placeOf is where a file of a backup goes; empty: nowhere.
func (i *instance) placeOf(name string, spaces map[string]int) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("the backup holds %q, which lies outside", name)
	}
	parts := strings.Split(name, "/")
	switch {
	case name == mapFile:
		return "", nil
	case parts[0] == logDir:
		return filepath.Join(append([]string{i.sites.walDir()}, parts[1:]...)...), nil
	case parts[0] == spacesDir && len(parts) > 1:
		n, known := spaces[parts[1]]
		if !known {
			return "", fmt.Errorf("the backup holds tablespace %s, which is not of this build", parts[1])
		}
		return filepath.Join(append([]string{i.sites.spaceDir(n)}, parts[2:]...)...), nil
	}
	return filepath.Join(i.sites.dataDir(), name), nil
}

// untar unpacks directories and files of a tar file; links it leaves out.
func untar(ctx context.Context, from, prefix string, place func(string) (string, error)) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	var packed io.Reader = in
	if strings.HasSuffix(from, gzipped) {
		if packed, err = gzip.NewReader(in); err != nil {
			return fmt.Errorf("%w: %w", filewise.ErrCheck, err)
		}
	}
	buf := make([]byte, 1<<20)
	for r := tar.NewReader(packed); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", filewise.ErrCheck, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		to, err := place(path.Join(prefix, h.Name))
		if err != nil {
			return err
		}
		switch {
		case to == "":
		case h.Typeflag == tar.TypeDir:
			err = os.MkdirAll(to, 0o700)
		case h.Typeflag == tar.TypeReg:
			err = unpackFile(to, r, buf)
		}
		if err != nil {
			return err
		}
	}
}

func unpackFile(to string, from io.Reader, buf []byte) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(writeOnly{out}, struct{ io.Reader }{from}, buf)
	return errors.Join(err, out.Close())
}

// backupSteps are what a backup and its restore execute, for plans.
func (d *design) backupSteps(act filewise.Act) []string {
	files := max(d.layout.Backup.Files, 1)
	dump, restore := d.program.Workload == workloadDump, act == filewise.ActRestore
	switch {
	case dump && restore:
		return []string{commandLine("pg_restore", restoreArguments("…", files))}
	case dump:
		return []string{commandLine("pg_dump", dumpArguments("…", files, d.dumpLevel()))}
	case restore:
		return []string{"unpack the backup files into a new data directory, and start a private server on it"}
	case d.layout.Backup.Files == 0:
		return []string{commandLine("pg_basebackup", baseArguments("…"))}
	}
	start, stop := lowLevel(d.version)
	how := ""
	if d.compresses() {
		how = ", compressed by gzip"
	}
	if d.layout.Discard {
		how += ", to " + os.DevNull
	}
	return []string{start, fmt.Sprintf("copy the data directory into %d tar files, a stream for each%s", files, how), stop}
}

// skipped are what a copy of a running server's data directory leaves out (PostgreSQL's
// documentation, 26.3.4 “Backing Up the Data Directory”): contents of directories,
// and files.
var (
	skippedIn = []string{logDir, spacesDir, "pg_dynshmem", "pg_notify", "pg_replslot", "pg_serial", "pg_snapshots", "pg_stat_tmp", "pg_subtrans"}
	skipped   = []string{"postmaster.pid", "postmaster.opts", labelFile, mapFile, "pg_internal.init"}
)

func skips(name string) bool {
	return slices.Contains(skipped, name) || strings.HasPrefix(name, "pgsql_tmp") || strings.HasPrefix(name, ".s.PGSQL")
}
