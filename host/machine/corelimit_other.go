//go:build !linux

package machine

import "filewise"

// CoreLimits binds processes to processors. This system does not support that.
type CoreLimits struct{}

// LimitCores returns an error: only Linux binds processes.
func LimitCores(int) (*CoreLimits, error) {
	return nil, filewise.Errorf(filewise.CodePreflight, "leave --cores out", "a server is bound to processors on Linux alone: %w",
		filewise.ErrUnsupported)
}

// Add does nothing.
func (*CoreLimits) Add(int) error { return nil }
