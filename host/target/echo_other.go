//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package target

// disableEcho does nothing: term.ReadPassword disables the echo.
func disableEcho(int) error { return nil }
