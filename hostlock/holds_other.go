//go:build !linux

package hostlock

import "errors"

// Holds would be nil if the process has the lock: only Linux tells.
func Holds(int) error { return errors.ErrUnsupported }
