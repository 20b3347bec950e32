package external

import (
	"context"
	"errors"
	"time"

	"filewise"
	"filewise/internal/mark"
)

// Catalogue is a server's knowledge of what runs have left.
type Catalogue interface {
	// Names lists what has a name that begins as Filewise's do.
	Names(context.Context) ([]Name, error)
	// Look asks the server what stands under a name; ok is false when nothing does.
	Look(context.Context, Name) (o Object, ok bool, err error)
	// Drop drops an object that was looked at. It reads the mark once more, right before
	// it drops: if that is another than Object.Mark, nothing is dropped.
	Drop(context.Context, Object) error
}

// Leftovers lists what carries the mark, was about to be marked, or cannot be looked
// at. Everything else is left alone, whatever its name looks like.
func Leftovers(ctx context.Context, c Catalogue) ([]filewise.Leftover, error) {
	names, err := c.Names(ctx)
	if err != nil {
		return nil, err
	}
	var all []filewise.Leftover
	for _, n := range names {
		if !mark.IsName(n.Name) {
			continue
		}
		o, ok, err := c.Look(ctx, n)
		if err != nil {
			return nil, err
		}
		if v := o.judge(); ok && v.marked {
			all = append(all, v.leftover)
		}
	}
	return all, nil
}

// Remove drops a leftover, after all has been looked at again.
func Remove(ctx context.Context, c Catalogue, l filewise.Leftover) error {
	refuse := func(code filewise.Code, remedy, why string) error {
		return filewise.Errorf(code, remedy, "%s %s is not removed: %s", l.Kind, l.Name, why)
	}
	if !mark.IsName(l.Name) {
		return refuse(filewise.CodePreflight, "drop it yourself if it is of no use", "Filewise gives no such names")
	}
	o, ok, err := c.Look(ctx, Name{l.Kind, l.Name})
	if err != nil {
		return err
	}
	v := o.judge()
	switch {
	case !ok:
		return refuse(filewise.CodeNotFound, "list what is left again", "it is gone")
	case o.Offline:
		return refuse(filewise.CodeBusy, "clean again", "it is offline still")
	case !v.marked:
		return refuse(filewise.CodePreflight, "look at it, and drop it yourself if it is of no use", "it does not carry Filewise's mark")
	case v.busy:
		return refuse(filewise.CodeBusy, "end what uses it, or wait until it has ended", v.leftover.Kept)
	case v.leftover.Kept != "":
		return refuse(filewise.CodePreflight, "look at it, and drop it yourself if it is of no use", v.leftover.Kept)
	case v.leftover.Unmarked != l.Unmarked:
		return refuse(filewise.CodePreflight, "list what is left again", "its mark has changed since it was listed")
	}
	return c.Drop(ctx, o)
}

// Undo removes what a failure has left, also when the context has ended, and returns
// both errors.
func Undo(ctx context.Context, patience time.Duration, failure error, undo func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return errors.Join(failure, undo(ctx))
}
