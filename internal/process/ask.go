package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Ask sends that very process a signal to end by, and waits until it has ended;
// it is never made to. The error says that it is another one by now, or that it
// still runs after patience.
func (id Identity) Ask(ctx context.Context, patience time.Duration) error {
	// On Linux this holds the process itself, not its number: what is verified
	// below is what is signalled.
	p, err := os.FindProcess(id.PID)
	if err != nil {
		return fmt.Errorf("process %d: %w", id.PID, err)
	}
	defer func() { _ = p.Release() }() // frees a descriptor, no more
	switch id.Status() {
	case Dead:
		return nil
	case Unknown:
		return fmt.Errorf("process %d runs on another host or in another container, or cannot be told from another one", id.PID)
	}
	if err := askToEnd(p); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("asking process %d to end: %w", id.PID, err)
	}
	ended, err := id.await(ctx, patience)
	if err == nil && !ended {
		err = fmt.Errorf("process %d was asked to end and still runs after %v", id.PID, patience)
	}
	return err
}
