package installed

import (
	"bytes"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"filewise/internal/filesystem"
)

// DropSegment has the kernel remove the server's one System V shared memory segment when the server's last process
// ends. By these 56 bytes a server sees that its data directory is in use. Without this the segment would stay for good
// after a kill. If removal is not permitted, the segment stays.
func DropSegment(dir, dataDir string) {
	f, err := filesystem.OpenIn(dir, filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		return
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return
	}
	lines := bytes.Split(b, []byte("\n"))
	if len(lines) < 7 {
		return
	}
	fields := strings.Fields(string(lines[6])) // key and id (src/include/utils/pidfile.h)
	if len(fields) != 2 {
		return
	}
	if id, err := strconv.Atoi(fields[1]); err == nil {
		_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
}
