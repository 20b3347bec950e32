package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"filewise"
	"filewise/internal/progress"
)

// Leftover is something that a killed run has left on a server, and whether it was removed.
type Leftover struct {
	filewise.Leftover
	Removed bool   `json:"removed"`
	Failed  string `json:"failed,omitempty"` // reason why it could not be removed
}

// removable reports whether the leftover may be removed and still exists.
func (l Leftover) removable() bool { return l.Kept == "" && !l.Removed }

// Words describes the leftover and whether it was removed, or would be if dry is set.
func (l Leftover) Words(dry bool) string {
	what := l.Kind + " " + l.Name
	switch {
	case l.Owner != "":
		what += ", made by " + l.Owner
	case l.Offline:
		what += ", offline: it is brought online, and removed if it carries the marker"
	case l.Unmarked:
		what += ", empty and not yet marked"
	}
	if !l.Created.IsZero() {
		what += " on " + l.Created.Local().Format(time.DateTime)
	}
	switch {
	case l.Kept != "":
		return "kept " + what + ": " + l.Kept
	case l.Removed:
		return "removed " + what
	case l.Failed != "":
		return "not removed: " + what + ": " + l.Failed
	case dry:
		return "would remove " + what
	}
	return what
}

// Leftovers returns what killed runs have left on an external server that was looked at.
func (env *Environment) Leftovers(ctx context.Context) ([]Leftover, error) {
	server, ok := env.Server.(filewise.ExternalServer)
	if !ok {
		return nil, filewise.Errorf(filewise.CodePreflight, "remove by hand what \"filewise doctor\" names",
			"leftovers on %s cannot be found: %w", env.Engine.Name(), filewise.ErrUnsupported)
	}
	found, err := leftovers(ctx, env.Target, server)
	if err != nil {
		return nil, env.unreachable(ctx, err)
	}
	all := filewise.Each(found, func(l filewise.Leftover) Leftover { return Leftover{Leftover: l} })
	return all, nil
}

// RemoveLeftovers removes leftovers, after agree has allowed it for their number. It looks again until nothing changes,
// since a tablespace can only be removed after its databases. all then shows what could not be removed.
func (env *Environment) RemoveLeftovers(ctx context.Context, all []Leftover, agree func(n int) error) error {
	server := env.Server.(filewise.ExternalServer) // it found the leftovers
	for {
		n := 0
		for _, l := range all {
			if l.removable() {
				n++
			}
		}
		if n == 0 {
			return nil
		}
		if err := agree(n); err != nil {
			return err
		}
		if changed, err := env.removeOnce(ctx, server, all); err != nil || !changed {
			return err
		}
	}
}

// removeOnce tries to remove each removable leftover, and then looks at what remains.
func (env *Environment) removeOnce(ctx context.Context, server filewise.ExternalServer, all []Leftover) (changed bool, err error) {
	for i := range all {
		if !all[i].removable() {
			continue
		}
		if err := all[i].remove(ctx, server); err != nil {
			return changed, err
		}
		changed = changed || all[i].Removed
	}
	if !changed {
		return false, nil
	}
	left, err := leftovers(ctx, env.Target, server)
	if err != nil {
		return changed, err
	}
	for i, c := range all {
		at := slices.IndexFunc(left, func(l filewise.Leftover) bool { return l.Kind == c.Kind && l.Name == c.Name })
		if at >= 0 && !c.Removed {
			all[i] = Leftover{Leftover: left[at]}
		}
	}
	return changed, nil
}

// remove removes the leftover. If that fails, l gets the reason. The returned error is only the context's.
func (l *Leftover) remove(ctx context.Context, server filewise.ExternalServer) error {
	limited, cancel := context.WithTimeout(ctx, dropPatience)
	defer cancel()
	defer progress.Begin(ctx, "removing "+l.Kind+" "+l.Name, 0, "").End()
	err := server.Remove(limited, l.Leftover)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && limited.Err() != nil {
		err = fmt.Errorf("the server has not dropped it within %v, and may go on: %w", dropPatience, err)
	}
	l.Removed = err == nil
	if err != nil {
		l.Failed = err.Error()
	}
	return nil
}
