package main

import (
	"os"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// canMount reports whether this user may mount; most containers' root may not.
var canMount = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "filewise-can-mount")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k") != nil {
		return false
	}
	return syscall.Unmount(dir, 0) == nil
})

// tmpfs DIR SIZE [ro] mounts a file system of that size until the script ends.
func tmpfs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: tmpfs DIR SIZE [ro]")
	}
	dir, flags := ts.MkAbs(args[0]), uintptr(0)
	if len(args) == 3 && args[2] == "ro" {
		flags = syscall.MS_RDONLY
	}
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", flags, "size="+args[1]))
	ts.Defer(func() { ts.Check(syscall.Unmount(dir, syscall.MNT_DETACH)) })
}
