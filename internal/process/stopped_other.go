//go:build !linux

package process

// ChildStopped returns false: this system does not show stopped processes.
func ChildStopped() bool { return false }

// StoppedAt returns false: this system does not show stopped processes.
func StoppedAt(int) bool { return false }
