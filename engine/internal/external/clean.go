package external

import (
	"context"
	"errors"
	"time"

	"filewise"
	"filewise/internal/marker"
)

// Catalogue lists, examines and drops what runs have left on a server.
type Catalogue interface {
	// Names lists the objects whose names begin as Filewise's do.
	Names(context.Context) ([]Name, error)
	// Look asks the server for the object with a name; ok is false if there is none.
	Look(context.Context, Name) (o Object, ok bool, err error)
	// Drop drops an object that Look returned. It reads the marker again right before dropping; if the marker differs from
	// Object.Marker, nothing is dropped.
	Drop(context.Context, Object) error
}

// Leftovers lists the objects that carry Filewise's marker, were about to be marked, or cannot be examined. All other
// objects are left alone, whatever their names look like.
func Leftovers(ctx context.Context, c Catalogue) ([]filewise.Leftover, error) {
	names, err := c.Names(ctx)
	if err != nil {
		return nil, err
	}
	var all []filewise.Leftover
	for _, n := range names {
		if !marker.IsName(n.Name) {
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

// Remove examines a leftover again, and drops it only if nothing speaks against it any more.
func Remove(ctx context.Context, c Catalogue, l filewise.Leftover) error {
	refuse := func(code filewise.Code, remedy, why string) error {
		return filewise.Errorf(code, remedy, "%s %s is not removed: %s", l.Kind, l.Name, why)
	}
	if !marker.IsName(l.Name) {
		return refuse(filewise.CodePreflight, "drop it yourself if it is not needed", "Filewise gives no such names")
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
		return refuse(filewise.CodePreflight, "check it, and drop it yourself if it is not needed", "it does not carry Filewise's marker")
	case v.busy:
		return refuse(filewise.CodeBusy, "end what uses it, or wait for its end", v.leftover.Kept)
	case v.leftover.Kept != "":
		return refuse(filewise.CodePreflight, "check it, and drop it yourself if it is not needed", v.leftover.Kept)
	case v.leftover.Unmarked != l.Unmarked:
		return refuse(filewise.CodePreflight, "list what is left again", "its marker has changed since it was listed")
	}
	return c.Drop(ctx, o)
}

// Undo removes what a failure has left, even if the context has ended, within patience. It returns failure joined with
// the error of undo.
func Undo(ctx context.Context, patience time.Duration, failure error, undo func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return errors.Join(failure, undo(ctx))
}
