package postgres

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// lowLevel are the statements that begin and end a backup whose files are copied by
// somebody else (PostgreSQL's documentation, 26.3.3 “Making a Base Backup Using the
// Low Level API”).
func lowLevel(version int) (start, stop string) {
	if version >= 150000 {
		return "SELECT pg_walfile_name(pg_backup_start('filewise', true))", "SELECT pg_walfile_name(lsn), labelfile FROM pg_backup_stop(false)"
	}
	return "SELECT pg_walfile_name(pg_start_backup('filewise', true, false))", "SELECT pg_walfile_name(lsn), labelfile FROM pg_stop_backup(false, false)"
}

// stripe is one file of a backup, which a stream of its own writes.
type stripe struct {
	path    string
	volume  int
	out     *os.File
	tar     *tar.Writer
	zip     io.Closer // before it closes out: what compresses; nil: nothing
	members []member
	bytes   int64
}

// member is a file or directory of the server in a backup.
type member struct {
	name, path string
	info       fs.FileInfo
}

// stripes copies the running server's files into the layout's backup files.
func (b *backuper) stripes(ctx context.Context) (err error) {
	all, err := b.openStripes()
	defer func() {
		for _, s := range all {
			err = errors.Join(err, s.out.Close())
		}
	}()
	if err != nil {
		return err
	}
	// The session that begins the backup must end it, and its end without that undoes
	// it.
	err = b.build.link.with(ctx, func(conn *pgx.Conn) error {
		start, stop := lowLevel(b.instance.install.number)
		var first, last, label string
		if err := b.build.link.done(ctx, start, conn.QueryRow(ctx, start).Scan(&first)); err != nil {
			return err
		}
		if err := b.copyStripes(ctx, all); err != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
			return err
		}
		if err := b.build.link.done(ctx, stop, conn.QueryRow(ctx, stop).Scan(&last, &label)); err != nil {
			return err
		}
		return b.complete(all[0], first, last, label)
	})
	if err != nil {
		return err
	}
	eg := errgroup.Group{}
	for _, s := range all {
		eg.Go(s.finish)
	}
	if err := eg.Wait(); err != nil || b.build.design.layout.Discard {
		return err
	}
	for _, s := range all {
		if err := b.addFile(s.volume, s.path); err != nil {
			return err
		}
	}
	return nil
}

// finish writes what is left, and brings the file to the storage where it is one.
func (s *stripe) finish() error {
	err := s.tar.Close()
	if s.zip != nil {
		err = errors.Join(err, s.zip.Close())
	}
	if s.path != os.DevNull {
		err = errors.Join(err, s.out.Sync())
	}
	return err
}

// openStripes makes the backup files; of a backup that is thrown away it opens what
// takes it.
func (b *backuper) openStripes() (all []*stripe, err error) {
	for n := range b.build.design.layout.Backup.Files {
		volume := b.volumeOf(n)
		s := &stripe{volume: volume, path: filepath.Join(b.instance.sites.dirs[volume], backupDir, fmt.Sprintf("stripe-%d.tar", n+1))}
		mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
		switch d := b.build.design; {
		case d.layout.Discard:
			s.path, mode = os.DevNull, os.O_WRONLY
		case d.compresses():
			s.path += gzipped
		}
		if s.out, err = os.OpenFile(s.path, mode, 0o600); err != nil {
			return all, err
		}
		all = append(all, s)
		to, zip, err := b.build.design.compressed(s.out)
		if err != nil {
			return all, err
		}
		s.tar, s.zip = tar.NewWriter(to), zip
	}
	return all, nil
}

// copyStripes divides the server's files over the stripes by size, and writes all
// stripes at the same time.
func (b *backuper) copyStripes(ctx context.Context, all []*stripe) error {
	members, err := b.instance.members()
	if err != nil {
		return err
	}
	slices.SortStableFunc(members, func(x, y member) int { return cmp.Compare(y.info.Size(), x.info.Size()) })
	for _, m := range members {
		least := slices.MinFunc(all, func(x, y *stripe) int { return cmp.Compare(x.bytes, y.bytes) })
		least.members = append(least.members, m)
		least.bytes += m.info.Size() + 1024 // with its head, and what fills its last block
	}
	eg, ctx := errgroup.WithContext(ctx)
	for _, s := range all {
		eg.Go(func() error {
			buf := make([]byte, b.build.design.buffer())
			for _, m := range s.members {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := s.add(m, buf); err != nil {
					return fmt.Errorf("%s: %w", m.path, err)
				}
			}
			return nil
		})
	}
	return eg.Wait()
}

// members are what a backup holds: the data directory and the tablespaces.
func (i *instance) members() ([]member, error) {
	spaces, err := i.tablespaces()
	if err != nil {
		return nil, err
	}
	all, err := membersOf(i.sites.dataDir(), "")
	for number, n := range spaces {
		if err == nil {
			var more []member
			more, err = membersOf(i.sites.spaceDir(n), spacesDir+"/"+number)
			all = append(all, more...)
		}
	}
	return all, err
}

// membersOf walks a tree. What is gone when it is looked at was dropped meanwhile.
func membersOf(root, prefix string) ([]member, error) {
	var all []member
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		rel, relErr := filepath.Rel(root, path)
		if err = errors.Join(err, relErr); err != nil || rel == "." {
			return err
		}
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist) || skips(e.Name()):
			return nil
		case err != nil:
			return err
		}
		name := filepath.ToSlash(filepath.Join(prefix, rel))
		if e.IsDir() || e.Type().IsRegular() {
			all = append(all, member{name, path, info})
		}
		if e.IsDir() && prefix == "" && slices.Contains(skippedIn, rel) {
			return fs.SkipDir
		}
		return nil
	})
	return all, err
}

// add writes a file as long as it was when it was listed: what it has grown by is
// in the WAL, and so is that it was cut.
func (s *stripe) add(m member, buf []byte) error {
	if m.info.IsDir() {
		return s.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: m.name + "/", Mode: 0o700})
	}
	in, err := os.Open(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	size := m.info.Size()
	if err := s.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: m.name, Size: size, Mode: 0o600}); err != nil {
		return err
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{s.tar}, io.LimitReader(in, size), buf)
	if err != nil {
		return err
	}
	clear(buf)
	for n < size {
		wrote, err := s.tar.Write(buf[:min(size-n, int64(len(buf)))])
		if err != nil {
			return err
		}
		n += int64(wrote)
	}
	return nil
}

// complete adds what makes the copy consistent: the label from which recovery
// begins, and the WAL from the backup's begin to its end.
func (b *backuper) complete(s *stripe, first, last, label string) error {
	if err := s.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: labelFile, Size: int64(len(label)), Mode: 0o600}); err != nil {
		return err
	}
	if _, err := io.WriteString(s.tar, label); err != nil {
		return err
	}
	segments, err := os.ReadDir(b.instance.sites.walDir())
	if err != nil {
		return err
	}
	buf := make([]byte, 1<<20)
	found := false
	for _, e := range segments {
		if name := e.Name(); len(name) != len(first) || name < first || name > last {
			continue
		}
		found = found || e.Name() == first
		info, err := e.Info()
		if err == nil {
			err = s.add(member{logDir + "/" + e.Name(), filepath.Join(b.instance.sites.walDir(), e.Name()), info}, buf)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("the WAL segment %s, in which the backup begins, is gone", first)
	}
	return nil
}
