package enginetest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"filewise"
)

// testDiskFull fills a small volume in the middle of the work, and builds what
// does not fit. Both must end in an error, with a true ledger and nothing left.
func testDiskFull(t *testing.T, s Subject) {
	if s.DiskFull == 0 {
		t.Skip("disk full is NOT tested: " + s.NoDiskFull)
	}
	if os.Geteuid() != 0 {
		t.Skip("disk full is NOT tested: mounting a small tmpfs needs root")
	}
	dir, err := os.MkdirTemp("", "fw")
	fatal(t, err)
	if err := unix.Mount("filewise-test", dir, "tmpfs", 0, fmt.Sprintf("size=%d", s.DiskFull)); err != nil {
		fatal(t, os.Remove(dir))
		t.Skipf("disk full is NOT tested: mounting a small tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("a file of %s is still open: %v", dir, err)
			_ = unix.Unmount(dir, unix.MNT_DETACH)
		}
		fatal(t, os.Remove(dir))
	})
	b := benchAt(t, s, dir)
	t.Run("Work", func(t *testing.T) { fillByWork(t, b) })
	t.Run("Build", func(t *testing.T) { tooLarge(t, b) })
}

func fillByWork(t *testing.T, b *bench) {
	p := params()
	p.RowBytes = 4000
	w := b.workload(p)
	ctx := context.Background()
	l := b.layout(2)
	l.Data.Bytes = min(l.Data.Bytes, b.s.DiskFull/4)
	db, err := b.server.Build(ctx, l, w.Program())
	fatal(t, err)
	// Twice as much as fits.
	ledger, errs := b.work(ctx, db, w.Program(), nil, 2*b.s.DiskFull/4000/int64(p.Connections))
	if !slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
		t.Errorf("%d bytes went into a volume of %d", ledger.Total()*4000, b.s.DiskFull)
	}
	t.Logf("%d rows, then: %v", ledger.Total(), errs)
	b.t = t
	b.check(db, w, ledger)
	fatal(t, db.Drop(ctx))
}

func tooLarge(t *testing.T, b *bench) {
	l := b.layout(2)
	if l.Data.Allocation == filewise.Growing {
		t.Skip("a build that does not fit is NOT tested: the engine does not preallocate")
	}
	l.Data.Bytes = 2 * b.s.DiskFull
	b.as(t).leftAsIs("a build that does not fit", func() {
		if _, err := b.tried(context.Background(), l, b.workload(params()).Program()); err == nil {
			t.Errorf("%d bytes were preallocated in a volume of %d", l.Data.Bytes, b.s.DiskFull)
		}
	})
}
