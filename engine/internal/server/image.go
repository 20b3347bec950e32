package server

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filewise/internal/filesystem"
)

// Image is a copy of a stopped server's directories in memory. Most of what a new server writes is zeros, and the rest
// compresses well: 130 MiB take some MiB.
type Image struct {
	items []item
	bytes int64
}

// item is a directory or a file of an image.
type item struct {
	root      int    // index of the root directory
	rel       string // path relative to the root
	mode      fs.FileMode
	size      int64
	allocated bool // storage is allocated for the whole file, written or not
	extents   []extent
	content   []byte // the non-zero extents one after the other, compressed
}

// extent is a range of a file that was written. Ranges between extents were not.
type extent struct {
	from, to int64
	zeros    bool
}

// imageBlock is the granularity at which zeros are distinguished from other content, in bytes.
const imageBlock = 16 << 10

// ErrImageSize reports that the directories hold more than an image may read.
var ErrImageSize = errors.New("larger than an image may be")

// TakeImage reads the directories, except for paths that skip accepts. If they hold more than most bytes, it returns
// ErrImageSize before it reads anything.
func TakeImage(ctx context.Context, roots []string, most int64, skip func(path string) bool) (*Image, error) {
	m := &Image{}
	var whole int64
	for n, root := range roots {
		err := walk(ctx, root, func(rel string, e fs.DirEntry) error {
			info, err := e.Info()
			if err != nil {
				return err
			}
			if rel == "." || skip(filepath.Join(root, rel)) {
				return nil
			}
			it := item{root: n, rel: rel, mode: info.Mode()}
			if !e.IsDir() {
				it.size, it.allocated = info.Size(), isAllocated(filepath.Join(root, rel), info)
				whole += it.size
			}
			m.items = append(m.items, it)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("image of %s: %w", root, err)
		}
	}
	if whole > most {
		return nil, fmt.Errorf("%s with %d bytes: %w", roots[0], whole, ErrImageSize)
	}
	for i := range m.items {
		it := &m.items[i]
		if it.mode.IsDir() {
			continue
		}
		if err := it.read(ctx, filepath.Join(roots[it.root], it.rel)); err != nil {
			return nil, fmt.Errorf("image of %s: %w", it.rel, err)
		}
		m.bytes += int64(len(it.content))
	}
	return m, nil
}

// Bytes returns how much memory the image takes.
func (m *Image) Bytes() int64 { return m.bytes }

func isAllocated(path string, info fs.FileInfo) bool {
	held, ok := filesystem.Allocated(path, info)
	return ok && held >= info.Size()
}

// read stores a file's content in the item.
func (it *item) read(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var content bytes.Buffer
	packed, err := flate.NewWriter(&content, flate.BestSpeed)
	if err != nil {
		return err
	}
	buf, none := make([]byte, imageBlock), make([]byte, imageBlock)
	for at := int64(0); at < it.size; {
		data, end, err := nextData(f, at, it.size)
		if err != nil {
			return err
		}
		for at = data; at < end; {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			part := buf[:min(imageBlock, end-at)]
			if _, err := f.ReadAt(part, at); err != nil {
				return err
			}
			zeros := bytes.Equal(part, none[:len(part)])
			if !zeros {
				if _, err := packed.Write(part); err != nil {
					return err
				}
			}
			it.add(extent{at, at + int64(len(part)), zeros})
			at += int64(len(part))
		}
	}
	if err := packed.Close(); err != nil {
		return err
	}
	it.content = bytes.Clone(content.Bytes())
	return nil
}

// add appends an extent, or extends the last one.
func (it *item) add(e extent) {
	if n := len(it.extents); n > 0 && it.extents[n-1].to == e.from && it.extents[n-1].zeros == e.zeros {
		it.extents[n-1].to = e.to
		return
	}
	it.extents = append(it.extents, e)
}

// Lay writes the image below other roots, as many as it was taken of. Existing directories and files stay as they are.
// Written zeros are written again, and storage that was only allocated is allocated. So the files lie on the storage as
// if a server had made them itself. Nothing is synced.
func (m *Image) Lay(ctx context.Context, roots []string) error {
	for _, it := range m.items {
		path := filepath.Join(roots[it.root], it.rel)
		var err error
		if it.mode.IsDir() {
			if err = os.Mkdir(path, it.mode.Perm()); errors.Is(err, fs.ErrExist) {
				err = nil
			}
		} else {
			err = it.lay(ctx, path)
		}
		if err != nil {
			return fmt.Errorf("laying %s from an image: %w", path, err)
		}
	}
	return nil
}

func (it *item) lay(ctx context.Context, path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, it.mode.Perm())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(it.size); err != nil {
		return err
	}
	if it.allocated && !it.written() {
		if err := allocate(f, it.size); err != nil {
			return err
		}
	}
	content := flate.NewReader(bytes.NewReader(it.content))
	none := zeroes{}
	for _, e := range it.extents {
		var from io.Reader = content
		if e.zeros {
			from = none
		}
		if err := write(ctx, f, from, e); err != nil {
			return err
		}
	}
	return nil
}

// written reports whether every byte of the file was written.
func (it *item) written() bool {
	at := int64(0)
	for _, e := range it.extents {
		if e.from != at {
			return false
		}
		at = e.to
	}
	return at == it.size
}

// zeroes is a reader that returns zeros without end.
type zeroes struct{}

func (zeroes) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// write fills an extent. It writes as much at a time as servers do when they create files.
func write(ctx context.Context, f *os.File, from io.Reader, e extent) error {
	buf := make([]byte, min(copyBuffer, e.to-e.from))
	for at := e.from; at < e.to; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part := buf[:min(int64(len(buf)), e.to-at)]
		if _, err := io.ReadFull(from, part); err != nil {
			return err
		}
		if _, err := f.WriteAt(part, at); err != nil {
			return err
		}
		at += int64(len(part))
	}
	return nil
}
