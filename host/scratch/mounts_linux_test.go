package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"filewise"
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

// The remedy is for the system's fault: a full volume, not one without rights; a marker that could not be read, not
// another one.
func TestFaultsOfTheSystem(t *testing.T) {
	r, volume := setup(t)
	if err := syscall.Mount("tmpfs", volume, "tmpfs", 0, "nr_inodes=1"); err != nil {
		t.Skipf("needs the right to mount: %v", err)
	}
	defer syscall.Unmount(volume, syscall.MNT_DETACH)
	if _, err := r.Create(volume, ""); !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(filewise.RemedyOf(err), "free space there") {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
	if err := badMarker(&fs.PathError{Op: "open", Err: syscall.EMFILE}); !strings.HasPrefix(err.Error(), "its marker cannot be read") {
		t.Error(err)
	}
}

// A volume may go away while a scratch directory is made on it: once it is back, a sweep
// leaves nothing on it, and nothing is left in the empty mount point.
func TestVolumeGoesWhileADirectoryIsMade(t *testing.T) {
	r, volume := setup(t)
	away := t.TempDir()
	if err := syscall.Mount("tmpfs", away, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("needs the right to mount: %v", err)
	}
	defer syscall.Unmount(away, syscall.MNT_DETACH)
	made, failed := 0, 0
	for i := range 100 {
		must(t, syscall.Mount(away, volume, "", syscall.MS_BIND, ""))
		unmounted := make(chan error)
		go func() {
			time.Sleep(time.Duration(i) * 4 * time.Microsecond)
			unmounted <- syscall.Unmount(volume, syscall.MNT_DETACH)
		}()
		d, err := r.Create(volume, "")
		must(t, <-unmounted)
		if err == nil && present(d.Path) { // it was away before
			must(t, d.Remove())
		}
		if beneath, err := os.ReadDir(volume); err != nil || len(beneath) > 0 {
			t.Fatalf("in the empty mount point: %v %v", beneath, err)
		}
		must(t, syscall.Mount(away, volume, "", syscall.MS_BIND, ""))
		if err == nil {
			made++
			must(t, d.Remove())
		} else {
			failed++
			_, err := r.Sweep(t.Context())
			must(t, err)
		}
		if left, err := os.ReadDir(volume); err != nil || len(left) > 0 || entries(t, r) > 0 {
			t.Fatalf("left: %v %v, %d registered", left, err, entries(t, r))
		}
		must(t, syscall.Unmount(volume, 0))
	}
	t.Logf("%d made, %d not", made, failed)
}
