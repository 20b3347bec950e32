package scratch

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What a killed server has left of shared memory goes with its directory, and a segment of another directory stays.
func TestSegments(t *testing.T) {
	r, volume := setup(t)
	d, err := r.Create(volume, "test")
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(d.Path, "1", "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	segment := func(dir string) int {
		t.Helper()
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 56, unix.IPC_CREAT|0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
		b, err := unix.SysvShmAttach(id, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		at := info.Sys().(*syscall.Stat_t)
		binary.NativeEndian.PutUint64(b[40:], at.Dev)
		binary.NativeEndian.PutUint64(b[48:], at.Ino)
		if err := unix.SysvShmDetach(b); err != nil {
			t.Fatal(err)
		}
		return id
	}
	ours, theirs := segment(data), segment(volume)
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	all := smallSegments()
	if _, there := all[ours]; there {
		t.Error("the server's segment is left")
	}
	if _, there := all[theirs]; !there {
		t.Error("somebody else's segment was removed")
	}
}
