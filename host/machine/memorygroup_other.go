//go:build !linux

package machine

import "filewise"

// MemoryLimits limits the memory of processes. This system does not support that.
type MemoryLimits struct{}

// LimitMemory returns an error: only Linux has groups with a limit.
func LimitMemory(int64) (*MemoryLimits, error) {
	return nil, filewise.Errorf(filewise.CodePreflight, "leave --memory out", "memory can be limited on Linux alone: %w",
		filewise.ErrUnsupported)
}

// Add does nothing.
func (*MemoryLimits) Add(int) error { return nil }

// Close does nothing.
func (*MemoryLimits) Close() error { return nil }
