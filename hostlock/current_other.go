//go:build !linux

package hostlock

import (
	"context"
	"errors"
	"fmt"
)

// Current is who holds the lock now: only Linux tells.
func Current(context.Context) (Holder, bool, error) {
	return Holder{}, false, fmt.Errorf("who measures on this host: %w", errors.ErrUnsupported)
}
