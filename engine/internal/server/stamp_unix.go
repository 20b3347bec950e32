//go:build unix

package server

import (
	"fmt"
	"os"
	"syscall"
)

func stampOf(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, fmt.Errorf("%s: this system does not say when a file was changed", path)
	}
	return stamp{size: uint64(info.Size()), inode: uint64(s.Ino), changed: changeTime(s)}, nil
}
