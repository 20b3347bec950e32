package hostlock

import (
	"context"
	"errors"
	"syscall"
	"time"

	"filewise"
)

// Current returns the lock's present holder, as the kernel reports it. ok is false if there is none.
func Current(ctx context.Context) (h Holder, ok bool, err error) {
	addr, err := address()
	if err != nil {
		return Holder{}, false, err
	}
	h, err = ask(ctx, addr, time.Now().Add(answerWithin))
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Holder{}, false, nil
	case err != nil && h.PID == 0:
		return h, false, filewise.Errorf(filewise.CodeBusy, "try again", "who measures on this host does not answer: %w", err)
	}
	return h, true, nil
}
