package server

import (
	"context"
	"maps"
	"slices"

	"filewise"
)

// TryIt runs the smallest server with a user's settings, and returns what it
// tells of itself.
type TryIt func(ctx context.Context, settings map[string]string) ([]filewise.Fact, error)

// Try tries a user's settings before anything is built: what would fail later
// fails here. Servers often do not name the setting that they do not take ("Invalid
// page size=5120"), so it is found by leaving out each in turn, and blamed makes the
// error that names it. Where leaving out one of them does not help the error stands.
func Try(ctx context.Context, settings map[string]string, try TryIt, blamed func(name string, err error) error) ([]filewise.Fact, error) {
	facts, err := try(ctx, settings)
	if err == nil || filewise.CodeOf(err) == filewise.CodeUsage {
		return facts, err
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if ctx.Err() != nil {
			return nil, err
		}
		without := maps.Clone(settings)
		delete(without, name)
		if _, still := try(ctx, without); still == nil {
			return nil, blamed(name, err)
		}
	}
	return nil, err
}
