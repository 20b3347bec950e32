//go:build !linux && !darwin && !windows

package machine

import (
	"errors"
	"fmt"
)

// deviceAt is unsupported.
func (roots) deviceAt(string) (Device, error) {
	return Device{}, fmt.Errorf("this system does not tell: %w", errors.ErrUnsupported)
}
