//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// openFilesLimit is how many files this process may have open. Go has raised it
// to what the user may have (os, rlimit.go).
func openFilesLimit() (limit uint64, known bool, err error) {
	var r unix.Rlimit
	err = unix.Getrlimit(unix.RLIMIT_NOFILE, &r)
	return uint64(r.Cur), true, err
}
