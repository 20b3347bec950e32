package filesystem

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Evict asks the kernel to drop every page of the file from its cache (posix_fadvise(2)). The file must have been
// synced, since only pages that are written can be dropped.
func Evict(f *os.File) error {
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("dropping %s from the cache: %w", f.Name(), err)
	}
	return nil
}
