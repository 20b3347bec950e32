//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package target

// disableEcho leaves it to term.ReadPassword.
func disableEcho(int) error { return nil }
