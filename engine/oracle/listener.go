package oracle

import (
	"context"
	"slices"
	"time"
)

// full are the listener's refusals for lack of a handler. It counts the instance's processes by what it hands out, and
// learns from the instance, within a minute, that sessions have ended: it refuses long before the limit if many
// connections come and go (12516, 12518, 12519, 12520).
var full = []int{12516, 12518, 12519, 12520}

// Patience with a listener that hands out no more connections: an instance reports it every 60 s at the latest.
const (
	listenerPatience = 90 * time.Second
	listenerPause    = 50 * time.Millisecond // at first, and twice as long after each refusal
	longestPause     = 2 * time.Second
)

// patiently repeats a connect while the listener has no handler, until patience or the context ends.
func patiently(ctx context.Context, patience, pause time.Duration, connect func(context.Context) error) error {
	for deadline := time.Now().Add(patience); ; pause = min(2*pause, longestPause) {
		err := connect(ctx)
		if err == nil || !slices.Contains(full, codeOf(err)) || time.Now().Add(pause).After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
