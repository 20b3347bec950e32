package server

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// nextData returns the next range of f, from at on, that holds data; (size, size) if there is none. Preallocated ranges
// that were never written count as holes.
func nextData(f *os.File, at, size int64) (from, to int64, err error) {
	fd := int(f.Fd())
	from, err = unix.Seek(fd, at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return size, size, nil
	case errors.Is(err, unix.EINVAL):
		return at, size, nil // the file system reports no holes
	case err != nil:
		return 0, 0, fmt.Errorf("looking for data: %w", err)
	}
	if to, err = unix.Seek(fd, from, unix.SEEK_HOLE); err != nil {
		return 0, 0, fmt.Errorf("looking for the end of data: %w", err)
	}
	return min(from, size), min(to, size), nil
}

// clearRange makes a range read as zeros. Parts without data are left as they are. Allocated storage stays allocated,
// marked as never written.
func clearRange(f *os.File, from, to int64) error {
	for from < to {
		data, end, err := nextData(f, from, to)
		if err != nil {
			return err
		}
		if data >= to {
			return nil
		}
		err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_ZERO_RANGE|unix.FALLOC_FL_KEEP_SIZE, data, end-data)
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
			err = writeZeros(f, data, end)
		}
		if err != nil {
			return fmt.Errorf("clearing a range: %w", err)
		}
		from = end
	}
	return nil
}
