//go:build unix

package sqlite

import (
	"io/fs"
	"syscall"
)

// allocated is what the storage holds of a file, in bytes: st_blocks counts
// units of 512 bytes (stat(2)).
func allocated(info fs.FileInfo) *int64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	n := st.Blocks * 512
	return &n
}
