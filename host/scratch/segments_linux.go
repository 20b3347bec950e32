package scratch

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// largestSegment is the size in bytes above which no server's segment only marks a directory as in use.
const largestSegment = 4096

// removeSegments removes the System V shared memory by which servers mark a directory below dir as in use. It holds the
// directory's device and inode. A killed server leaves it for good.
func removeSegments(dir string) {
	segments := smallSegments()
	if len(segments) == 0 {
		return
	}
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // what cannot be looked at has no server's files
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it has just gone
		}
		at := info.Sys().(*syscall.Stat_t)
		name := binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, at.Dev), at.Ino)
		for id, holds := range segments {
			if bytes.Contains(holds, name) {
				_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) // without the right to remove it, it stays
			}
		}
		return nil
	})
}

// smallSegments returns the contents of small segments by ID.
func smallSegments() map[int][]byte {
	list, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return nil
	}
	all := map[int][]byte{}
	for line := range strings.Lines(string(list)) {
		f := strings.Fields(line) // key, id, permissions, size
		if len(f) < 4 {
			continue
		}
		id, err := strconv.Atoi(f[1])
		size, wrong := strconv.Atoi(f[3])
		if err != nil || wrong != nil || size > largestSegment {
			continue
		}
		if b, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY); err == nil { // other users' segments may not be read
			all[id] = bytes.Clone(b)
			_ = unix.SysvShmDetach(b)
		}
	}
	return all
}
