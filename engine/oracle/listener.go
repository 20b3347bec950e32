package oracle

import (
	"context"
	"slices"
	"time"
)

// full lists the errors with which a listener refuses because it has no handler (12516, 12518, 12519, 12520). It counts
// the connections that it hands out as processes. It learns only within a minute from the instance that sessions have
// ended. So it refuses long before the limit if many connections come and go.
var full = []int{12516, 12518, 12519, 12520}

// Limits for waiting for a listener that hands out no connections. An instance reports to it at least every 60 s.
const (
	listenerPatience = 90 * time.Second
	listenerPause    = 50 * time.Millisecond // at first; doubled after each refusal
	longestPause     = 2 * time.Second
)

// patiently repeats connect while the listener has no handler, until patience runs out or the context ends.
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
