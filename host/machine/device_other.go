//go:build !linux && !darwin && !windows

package machine

import (
	"errors"
	"fmt"
)

// deviceAt returns an error: this system is not supported.
func (roots) deviceAt(string) (Device, error) {
	return Device{}, fmt.Errorf("not reported by this system: %w", errors.ErrUnsupported)
}
