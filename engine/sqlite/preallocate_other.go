//go:build !linux

package sqlite

import "os"

// preallocate gives a file its full size, with the blocks for it.
func preallocate(f *os.File, size int64) error { return writeZeros(f, size) }
