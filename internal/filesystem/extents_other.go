//go:build !linux

package filesystem

// Extents is unknown on this system.
func Extents(string) (n int, ok bool) { return 0, false }
