// Package archive copies a server's files into tar files, several streams at a time, as
// backup tools with several processes do, and unpacks them. What is copied may change
// meanwhile, and is made consistent by the server's log.
package archive

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"filewise/engine/internal/server"
)

// Gzipped is the ending of compressed files.
const Gzipped = ".gz"

// head is what a file takes in an archive besides its content: its head, and what fills
// its last block.
const head = 1024

// Member is a file or directory in an archive, of a directory of a server.
type Member struct {
	Name, Dir, Path string
	Info            fs.FileInfo
}

// Stripe is one file of a backup, which a stream of its own writes.
type Stripe struct {
	Path    string
	out     *os.File
	tar     *tar.Writer
	zip     io.Closer // before it closes out: what compresses; nil: nothing
	members []Member
	bytes   int64
}

// Create makes a file in a server's directory, which must not exist, or opens os.DevNull.
// A path with the ending Gzipped is compressed, at the fastest level.
func Create(dir, path string) (*Stripe, error) {
	out, err := create(dir, path)
	if err != nil {
		return nil, err
	}
	s := &Stripe{Path: path, out: out}
	var to io.Writer = out
	if filepath.Ext(path) == Gzipped {
		z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
		if err != nil {
			return nil, errors.Join(err, out.Close())
		}
		to, s.zip = z, z
	}
	s.tar = tar.NewWriter(to)
	return s, nil
}

func create(dir, path string) (*os.File, error) {
	if path == os.DevNull {
		return os.OpenFile(path, os.O_WRONLY, 0)
	}
	return server.MakeIn(dir, path)
}

// Copy divides the members over the stripes by size, and writes all stripes at the same
// time, each by buffers of so many bytes.
func Copy(ctx context.Context, members []Member, stripes []*Stripe, buffer int) error {
	slices.SortStableFunc(members, func(x, y Member) int { return cmp.Compare(y.Info.Size(), x.Info.Size()) })
	for _, m := range members {
		least := slices.MinFunc(stripes, func(x, y *Stripe) int { return cmp.Compare(x.bytes, y.bytes) })
		least.members = append(least.members, m)
		least.bytes += m.Info.Size() + head
	}
	eg, ctx := errgroup.WithContext(ctx)
	for _, s := range stripes {
		eg.Go(func() error { return s.copy(ctx, make([]byte, buffer)) })
	}
	return eg.Wait()
}

func (s *Stripe) copy(ctx context.Context, buf []byte) error {
	for _, m := range s.members {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.Add(m, buf); err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
	}
	return nil
}

// Add writes a file as long as it was when it was listed: what it has grown by is
// in the log, and so is that it was cut. One that is gone was dropped meanwhile.
func (s *Stripe) Add(m Member, buf []byte) error {
	if m.Info.IsDir() {
		return s.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: m.Name + "/", Mode: 0o700})
	}
	in, err := server.OpenIn(m.Dir, m.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	size := m.Info.Size()
	if err := s.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: m.Name, Size: size, Mode: 0o600}); err != nil {
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

// AddText writes a file of that content.
func (s *Stripe) AddText(name, content string) error {
	if err := s.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o600}); err != nil {
		return err
	}
	_, err := io.WriteString(s.tar, content)
	return err
}

// Finish writes what is left, and brings the file to the storage where it is one.
func (s *Stripe) Finish() error {
	err := s.tar.Close()
	if s.zip != nil {
		err = errors.Join(err, s.zip.Close())
	}
	if s.Path != os.DevNull {
		err = errors.Join(err, s.out.Sync())
	}
	return err
}

// Close closes the file.
func (s *Stripe) Close() error { return s.out.Close() }

// Walk lists the directories and files of a tree, which lies in a server's directory,
// under names that begin with a prefix.
// What is gone when it is looked at was dropped meanwhile. Skip leaves out a file or
// directory, empty what is in a directory.
func Walk(dir, root, prefix string, skip, empty func(rel string) bool) ([]Member, error) {
	var all []Member
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
		case errors.Is(err, fs.ErrNotExist) || skip(rel):
			return nil
		case err != nil:
			return err
		}
		if e.IsDir() || e.Type().IsRegular() {
			all = append(all, Member{filepath.ToSlash(filepath.Join(prefix, rel)), dir, path, info})
		}
		if e.IsDir() && empty(rel) {
			return fs.SkipDir
		}
		return nil
	})
	return all, err
}
