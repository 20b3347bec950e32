package fake

import (
	"context"
	"slices"

	"filewise"
)

// keeper keeps what a build is loaded with. It implements filewise.Copier.
type keeper struct{ d *database }

// Keep keeps the accounts as they are.
func (k keeper) Keep(ctx context.Context) error {
	if err := k.d.stage(ctx, filewise.StageCreate); err != nil {
		return err
	}
	k.d.e.mu.Lock()
	defer k.d.e.mu.Unlock()
	if k.d.e.kept == nil {
		k.d.e.kept = map[string][]rows{}
	}
	k.d.e.kept[k.d.l.Name] = copied(k.d.committed)
	return nil
}

// fromKept tells whether the accounts are those of a build that was kept.
func (d *database) fromKept() bool {
	d.e.mu.Lock()
	defer d.e.mu.Unlock()
	kept, ok := d.e.kept[d.l.Name]
	if ok {
		d.committed = copied(kept)
	}
	return ok
}

func copied(all []rows) []rows {
	out := make([]rows, len(all))
	for w := range all {
		out[w].ranges = slices.Clone(all[w].ranges)
	}
	return out
}
