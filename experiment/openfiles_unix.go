//go:build unix

package experiment

import "golang.org/x/sys/unix"

// raiseOpenFiles raises the soft limit of open files to the hard one, and returns
// what holds then; known is false where it cannot be asked.
func raiseOpenFiles() (limit uint64, known bool) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return 0, false
	}
	if r.Cur < r.Max {
		raised := r
		raised.Cur = r.Max
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil { // else the old one holds
			r = raised
		}
	}
	return uint64(r.Cur), true
}
