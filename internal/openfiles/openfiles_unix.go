//go:build unix

package openfiles

import "golang.org/x/sys/unix"

// Limits returns the soft limit, which is in force, and the hard limit, to which the soft one can be raised. known is
// false if they cannot be read.
func Limits() (soft, hard uint64, known bool) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return 0, 0, false
	}
	return uint64(r.Cur), uint64(r.Max), true // the fields' types differ by system
}

// Raise raises the soft limit to the hard one, and returns the limit that is then in force.
func Raise() (limit uint64, known bool) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return 0, false
	}
	if r.Cur < r.Max {
		raised := r
		raised.Cur = r.Max
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil { // otherwise the old limit stays in force
			r = raised
		}
	}
	return uint64(r.Cur), true
}
