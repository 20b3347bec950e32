//go:build !linux

package machine

import "filewise"

// CoreLimits binds processes to processors; nothing does on this system.
type CoreLimits struct{}

// LimitCores refuses: processes are bound on Linux alone.
func LimitCores(int) (*CoreLimits, error) {
	return nil, filewise.Errorf(filewise.CodePreflight, "leave --cores out", "a server is bound to processors on Linux alone: %w",
		filewise.ErrUnsupported)
}

// Add does nothing.
func (*CoreLimits) Add(int) error { return nil }
