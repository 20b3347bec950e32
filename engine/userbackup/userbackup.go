// Package userbackup holds what engines share to back up a user's database (filewise.Target.Database). They only read
// the database. The package makes directories, runs programs, and supplies a build that builds nothing.
package userbackup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"filewise"
	"filewise/engine/internal/server"
	"filewise/host/machine"
	"filewise/internal/filesystem"
	"filewise/internal/findings"
)

// Tool makes the backups of one layout.
type Tool interface {
	// Dump writes a backup to the directory to, which it makes.
	Dump(ctx context.Context, to string) error
	// Read reads what a backup would contain, and stores nothing.
	Read(context.Context) error
	// Fill makes a marked database and restores the backup in from to it.
	Fill(ctx context.Context, from string) error
	// Compare compares the restored database with what was backed up.
	Compare(context.Context) error
	// Drop drops the restored database, and ends whatever was held for the comparison.
	Drop(context.Context) error
}

// Database returns a build that offers nothing except backups.
func Database(t filewise.Target, l filewise.Layout, tool Tool, probes []filewise.Probe) *filewise.Database {
	b := &backuper{tool: tool, volume: Volume(t, l), discard: l.Discard}
	return &filewise.Database{Build: b, Backup: b, Probes: probes}
}

// NoWork is the part of a build that has no connections and no rows: it only makes backups.
type NoWork struct{}

// Connect returns ErrUnsupported.
func (NoWork) Connect(context.Context, int, int) (filewise.Session, error) {
	return nil, filewise.ErrUnsupported
}

// Query returns ErrUnsupported.
func (NoWork) Query(context.Context, string) ([][]any, error) { return nil, filewise.ErrUnsupported }

// Volume returns the volume that a layout's backups go to.
func Volume(t filewise.Target, l filewise.Layout) filewise.Volume {
	name, _ := l.BackupOptions.Get(filewise.OptionVolume)
	return t.Volumes[max(slices.IndexFunc(t.Volumes, func(v filewise.Volume) bool { return v.Name == name }), 0)]
}

// CheckSpace adds findings on whether the volumes have space for a backup of so many bytes.
func CheckSpace(e *findings.Examination, volumes []filewise.Volume, bytes int64) {
	for _, v := range volumes {
		if free, err := filesystem.Free(v.Dir); err == nil {
			e.FreeSpace("free space of "+v.Name, v.Dir, bytes, free, "free some space, or name another --volume")
		}
	}
}

// SizeOf returns how much a backup reads. parts has the bytes of each part of the database: a table, filegroup or
// tablespace. whole is the database's size.
func SizeOf(t filewise.Target, parts map[string]int64, whole int64) (filewise.BackupSize, error) {
	size := filewise.BackupSize{Bytes: whole, Whole: whole}
	if t.Part == nil {
		return size, nil
	}
	size.Bytes = 0
	for _, p := range t.Part {
		n, ok := parts[p]
		if !ok {
			all := slices.SortedFunc(maps.Keys(parts), func(a, b string) int {
				return cmp.Or(cmp.Compare(parts[b], parts[a]), cmp.Compare(a, b))
			})
			return size, filewise.Errorf(filewise.CodeUsage, "name one of its parts; the largest are "+strings.Join(all[:min(len(all), 5)], ", "),
				"database %s has no part %q to back up", t.Database, p)
		}
		size.Bytes += n
	}
	return size, nil
}

// ReadAll hands the tables, or only the target's part of them, to one reader for each of the layout's jobs. Each reader
// takes the next table when it has read one.
func ReadAll(ctx context.Context, t filewise.Target, l filewise.Layout, tables []string,
	read func(ctx context.Context, next <-chan string) error) error {
	next := make(chan string, len(tables))
	for _, name := range tables {
		if t.Part == nil || slices.Contains(t.Part, name) {
			next <- name
		}
	}
	close(next)
	all, ctx := errgroup.WithContext(ctx)
	for range l.Backup.Files {
		all.Go(func() error { return read(ctx, next) })
	}
	return all.Wait()
}

// Check refuses backups that cannot be made of a user's database. Each of the layout's jobs needs each bytes of memory;
// together they can take a quarter of the machine's memory.
func Check(t filewise.Target, l filewise.Layout, p filewise.Program, options []filewise.BackupOption, most int, each uint64) error {
	names := filewise.Each(t.Volumes, func(v filewise.Volume) string { return v.Name })
	volume := filewise.BackupOption{Name: filewise.OptionVolume, Words: "the name of a --volume", Check: filewise.OneOf(names...)}
	jobs := uint64(max(l.Backup.Files, 1))
	memory, known := machine.Memory()
	switch {
	case !p.Dumps():
		return filewise.Errorf(filewise.CodeUsage, "use filewise run dump --database NAME, or measure scenario backup on a server that "+
			"Filewise starts", "a backup of the files of your database: a running server's files are its own: %w", filewise.ErrUnsupported)
	case l.Backup.Files < 1 || l.Backup.Files > most:
		return filewise.Errorf(filewise.CodeUsage, "give 1 to "+strconv.Itoa(most), "a dump by %d jobs: %w", l.Backup.Files,
			filewise.ErrUnsupported)
	case known && jobs*each > memory/4:
		return filewise.Errorf(filewise.CodeUsage, "give fewer --files, or a lower level of compression",
			"%d jobs of %s each take more than a quarter of this machine's memory, %s: %w", jobs, humanize.IBytes(each),
			humanize.IBytes(memory), filewise.ErrUnsupported)
	}
	return l.BackupOptions.Check(append(slices.Clone(options), volume))
}

// Run runs a program to its end. What the program prints is in the error. Its log is written to dir.
func Run(ctx context.Context, t filewise.Target, dir string, env, command []string) error {
	return Feed(ctx, t, dir, "", env, command)
}

// Feed does what Run does for a program that reads a text, which can contain secrets.
func Feed(ctx context.Context, t filewise.Target, dir, in string, env, command []string) error {
	log := filepath.Join(dir, filepath.Base(command[0])+".log")
	if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	spec := server.Spec{Path: command[0], Args: command[1:], Env: server.Environment([]string{Real(dir)}, env...), Log: log,
		Register: t.OnStart}
	var end func() error
	if in != "" {
		read, write, err := os.Pipe()
		if err != nil {
			return err
		}
		defer read.Close()
		spec.Stdin, end = read, write.Close
		if _, err := write.WriteString(in); err != nil { // the text fits into the pipe
			return errors.Join(err, end())
		}
	}
	p, err := server.Start(spec)
	if end != nil {
		err = errors.Join(err, end())
	}
	if err != nil {
		return err
	}
	if err = p.Wait(ctx); err != nil && dir != Real(dir) {
		err = fmt.Errorf("%w (in %s)", err, Real(dir))
	}
	return filewise.HideIn(err, t.Address.Hidden()...)
}

type backuper struct {
	NoWork
	tool    Tool
	volume  filewise.Volume
	discard bool

	mu   sync.Mutex
	home *os.Root // the volume's directory when the first backup was made
	held *os.File // the same directory, open
	dir  string   // the last backup's directory; "" if there is none
}

// descriptors is the directory in which Linux links to the files that this process holds open, even after they are
// renamed. Programs that this process starts can follow the links, too.
var descriptors = fmt.Sprintf("/proc/%d/fd/", os.Getpid())

// Real returns the real path behind a path through descriptors.
func Real(path string) string {
	if fd, rest, _ := strings.Cut(strings.TrimPrefix(path, descriptors), "/"); strings.HasPrefix(path, descriptors) {
		if real, err := os.Readlink(descriptors + fd); err == nil {
			return filepath.Join(real, rest)
		}
	}
	return path
}

// place returns the volume's directory, through its descriptor if the system has such links.
func (b *backuper) place() string {
	path := descriptors + strconv.Itoa(int(b.held.Fd()))
	there, err := os.Stat(path)
	if held, heldErr := b.held.Stat(); err == nil && heldErr == nil && os.SameFile(there, held) {
		return path
	}
	return b.volume.Dir
}

// Observe returns no files, because nothing is built.
func (*backuper) Observe(context.Context) ([]filewise.File, error) { return nil, nil }

// Settle does nothing: Filewise leaves nothing dirty, and the user's server manages its own writes.
func (*backuper) Settle(context.Context) error { return nil }

// Drop removes the last backup and the database that it was restored to.
func (b *backuper) Drop(ctx context.Context) error {
	err := b.Discard(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.home != nil {
		err = errors.Join(err, b.held.Close(), b.home.Close())
		b.home = nil
	}
	return err
}

// Backup makes a backup and returns once it is on the storage.
func (b *backuper) Backup(ctx context.Context) ([]filewise.File, error) {
	if err := b.Discard(ctx); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.discard {
		return nil, b.tool.Read(ctx)
	}
	if err := b.stay(); err != nil {
		return nil, err
	}
	place := b.place()
	b.dir = filepath.Join(place, "backup")
	if err := b.tool.Dump(ctx, b.dir); err != nil {
		return nil, err
	}
	files, err := server.BackupFiles(b.volume.Name, b.dir)
	for i := range files {
		files[i].Path = b.volume.Dir + strings.TrimPrefix(files[i].Path, place)
	}
	return files, err
}

// stay keeps the volume's directory open, and refuses another directory in its place. Otherwise a user who owns the
// directory above could lead a Filewise that runs as root elsewhere by a link.
func (b *backuper) stay() (err error) {
	if b.home == nil {
		if b.home, err = os.OpenRoot(b.volume.Dir); err != nil {
			return err
		}
		if b.held, err = b.home.Open("."); err != nil {
			err = errors.Join(err, b.home.Close())
			b.home = nil
			return err
		}
	}
	held, err := b.home.Stat(".")
	if err != nil {
		return err
	}
	there, err := os.Lstat(b.volume.Dir)
	if err == nil && !os.SameFile(held, there) {
		err = errors.New("another one is in its place")
	}
	if err != nil {
		return filewise.Errorf(filewise.CodeTrials, "check who can write to its parent directory", "the directory of backups %s: %w",
			b.volume.Dir, err)
	}
	return nil
}

// Restore restores the last backup to a marked database.
func (b *backuper) Restore(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tool.Fill(ctx, b.dir)
}

// Verify compares the restored database with what was backed up.
func (b *backuper) Verify(ctx context.Context) error { return b.tool.Compare(ctx) }

// Discard removes the backup, and drops the database that it was restored to.
func (b *backuper) Discard(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.tool.Drop(ctx)
	if b.dir != "" {
		err = errors.Join(err, b.home.RemoveAll(filepath.Base(b.dir)))
		b.dir = ""
	}
	return err
}
