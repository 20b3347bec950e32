//go:build !linux

package machine

import "filewise"

// MemoryLimits limits the memory of processes; there is none on this system.
type MemoryLimits struct{}

// LimitMemory refuses: groups with a limit are Linux's.
func LimitMemory(int64) (*MemoryLimits, error) {
	return nil, filewise.Errorf(filewise.CodePreflight, "leave --memory out", "memory can be limited on Linux alone: %w",
		filewise.ErrUnsupported)
}

// Add does nothing.
func (*MemoryLimits) Add(int) error { return nil }

// Close does nothing.
func (*MemoryLimits) Close() error { return nil }
