//go:build !linux

package process

// ChildStopped reports false: it cannot be seen on this system.
func ChildStopped() bool { return false }

// StoppedAt reports false: it cannot be seen on this system.
func StoppedAt(int) bool { return false }
