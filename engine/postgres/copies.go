package postgres

import (
	"context"
	"fmt"

	"filewise/engine/postgres/client"
)

// keeper returns the function that stores a copy of a loaded build's directories, on which no server is started. It
// returns nil if each build of the layout must be loaded. A build restored from a dump already has a snapshot, which is
// shared in its place.
func (s *managedServer) keeper(i *instance) func(context.Context) error {
	if i.design.program.Preload == 0 && !i.design.program.Restored() || i.design.layout.AddedLater != "" {
		return nil
	}
	return func(ctx context.Context) error { return s.keep(ctx, i) }
}

func (s *managedServer) keep(ctx context.Context, i *instance) error {
	d := i.design
	if d.program.Restored() {
		s.kept.Share(d.loadedKey(), i)
		return nil
	}
	i.loading = false
	err := s.kept.Keep(ctx, d.loadedKey(), i, i.life, func() (*instance, error) {
		return s.register(ctx, d.target, d.layout, d.program, func(*instance) error { return nil })
	})
	return client.Failed("keeping what is loaded", err)
}

// fill gives a new build the files of a loaded build of its layout, or else the files of a new server.
func (s *managedServer) fill(ctx context.Context, i *instance) error {
	_, kept, err := s.kept.Copy(ctx, i.design.loadedKey(), i)
	switch {
	case err != nil:
		return err
	case !kept:
		i.loading = i.design.loads() || i.design.program.Preload > 0 || i.design.program.Restored()
		return i.fill(ctx, s.template)
	}
	i.copied = true
	i.handles.Close() // Copy has made the directories again
	if i.handles, err = i.account.Open(i.sites.dirs); err != nil {
		return err
	}
	return i.give()
}

// loadedKey returns all that a loaded build depends on among the builds of one target.
func (d *design) loadedKey() string { return fmt.Sprintf("%+v %d", d.layout, d.program.Preload) }

// sectionFill is the section that replaces a call while a server is loaded.
const sectionFill = "fill-insert"

// fills reports whether the connections are loading the rows to which the workload then adds.
func (b *build) fills() bool {
	i, managed := b.host.(*instance)
	return managed && i.loading && b.design.program.Appends()
}
