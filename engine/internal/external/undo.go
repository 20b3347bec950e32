package external

import (
	"context"
	"errors"
	"time"
)

// Undo removes what a failure has left, also when the context has ended, and returns
// both errors.
func Undo(ctx context.Context, patience time.Duration, failure error, undo func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return errors.Join(failure, undo(ctx))
}
