package scratch

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestMountInside(t *testing.T) {
	r, volume := setup(t)
	e := orphan(t, r, volume)
	outside, inside := t.TempDir(), filepath.Join(e.path(), "with space")
	write(t, filepath.Join(outside, "canary"), "x")
	mkdir(t, inside)
	if err := syscall.Mount(outside, inside, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("needs the right to mount: %v", err)
	}
	defer syscall.Unmount(inside, syscall.MNT_DETACH)
	mustKeep(t, sweepOne(t, r), "mounted at "+inside)
	if !present(filepath.Join(outside, "canary")) {
		t.Fatal("removed through a mount")
	}
	must(t, syscall.Unmount(inside, 0))
	if l := sweepOne(t, r); !l.Removed || present(e.path()) {
		t.Errorf("%+v", l)
	}
}
