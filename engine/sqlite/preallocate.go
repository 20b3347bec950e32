package sqlite

import (
	"errors"
	"io/fs"
	"os"

	"filewise/internal/filesystem"
)

// preallocate gives a file its full size, with the blocks for it.
func preallocate(f *os.File, size int64) error {
	err := filesystem.Preallocate(f, size)
	if errors.Is(err, errors.ErrUnsupported) {
		return writeZeros(f, size)
	}
	return err
}

// writeZeros extends a file to size bytes by writing them, where the file system
// cannot preallocate.
func writeZeros(f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	zeros := make([]byte, 1<<20)
	for at := info.Size(); at < size; {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at)
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

// allocated is what the storage holds of a file, in bytes; nil: the system does
// not tell.
func allocated(path string, info fs.FileInfo) *int64 {
	n, ok := filesystem.Allocated(path, info)
	if !ok {
		return nil
	}
	return &n
}
