package postgres

import (
	"context"
	"fmt"

	"filewise"
	"filewise/engine/postgres/internal/client"
)

// copier makes copies of a loaded build. It implements filewise.Copier.
type copier struct {
	server   *managedServer
	instance *instance
}

// copier returns the copier of a build, or nil if each build of its layout must be loaded.
func (s *managedServer) copier(i *instance) filewise.Copier {
	if i.design.program.Preload == 0 && !i.design.program.Restored() || i.design.layout.AddedLater != "" {
		return nil
	}
	return copier{s, i}
}

// Keep stores a copy of the build's directories, and starts no server on the copy. If the build was restored from a dump,
// later builds use its snapshot, so no copy is made.
func (c copier) Keep(ctx context.Context) error {
	i, d := c.instance, c.instance.design
	if d.program.Restored() {
		c.server.kept.Share(d.loadedKey(), i)
		return nil
	}
	i.loading = false
	err := c.server.kept.Keep(ctx, d.loadedKey(), i, i.life, func() (*instance, error) {
		return c.server.register(ctx, d.target, d.layout, d.program, func(*instance) error { return nil })
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
