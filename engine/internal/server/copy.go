package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filewise/internal/filesystem"
)

// copyBuffer is the most bytes read and written at a time.
const copyBuffer = 1 << 20

// copyTo copies an open file to a path in a server's directory. It never makes reflinks, whose copy-on-write would be
// measured later. Neither io.Copy nor copy_file_range(2) promises that, so copyTo reads and writes. Ranges that are
// holes, or preallocated and never written, stay so.
//
// An existing destination is overwritten in place, so that it keeps its place on the storage. The destination is
// synced, and its pages are dropped from the operating system's cache.
func copyTo(ctx context.Context, in *os.File, dir, to string) error {
	return copyThen(ctx, in, dir, to, func(out *os.File) error {
		if err := out.Sync(); err != nil {
			return fmt.Errorf("syncing %s: %w", to, err)
		}
		return filesystem.Evict(out)
	})
}

// copyThen copies an open file to a path in a server's directory, and calls then with the copy.
func copyThen(ctx context.Context, in *os.File, dir, to string, then func(out *os.File) error) (err error) {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := filesystem.OpenFileIn(dir, to, os.O_RDWR|os.O_CREATE, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := copyRanges(ctx, in, out, info.Size()); err != nil {
		return fmt.Errorf("copying %s to %s: %w", in.Name(), to, err)
	}
	return then(out)
}

// copyRanges copies the ranges of in that hold data, and clears the other ranges of out.
func copyRanges(ctx context.Context, in, out *os.File, size int64) error {
	if err := out.Truncate(size); err != nil {
		return err
	}
	buf := make([]byte, min(size, copyBuffer)) // most files of a database are small
	for at := int64(0); at < size; {
		data, end, err := nextData(in, at, size)
		if err != nil {
			return err
		}
		if err := clearRange(out, at, data); err != nil {
			return err
		}
		for at = data; at < end; {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			n, err := in.ReadAt(buf[:min(int64(len(buf)), end-at)], at)
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			if n == 0 {
				return io.ErrUnexpectedEOF
			}
			if _, err := out.WriteAt(buf[:n], at); err != nil {
				return err
			}
			at += int64(n)
		}
	}
	return nil
}

// allocate reserves storage for the whole file without writing to it. If the file system cannot, the file is written
// with zeros.
func allocate(f *os.File, size int64) error {
	err := filesystem.Preallocate(f, size)
	if errors.Is(err, errors.ErrUnsupported) {
		return writeZeros(f, 0, size)
	}
	if err != nil {
		return fmt.Errorf("allocating %d bytes: %w", size, err)
	}
	return nil
}

// writeZeros clears a range by writing zeros, where the system offers no better way.
func writeZeros(f *os.File, from, to int64) error {
	zeros := make([]byte, min(copyBuffer, max(to-from, 0)))
	for from < to {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), to-from)], from)
		if err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}

// SyncTree syncs the directories of a tree, so that the names in it are durable.
func SyncTree(root string) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		d, err := os.Open(path)
		if err != nil {
			return err
		}
		defer d.Close()
		return d.Sync()
	})
}
