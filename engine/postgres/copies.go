package postgres

import (
	"context"
	"fmt"

	"filewise"
	"filewise/engine/postgres/internal/client"
)

// copier keeps a loaded build. It implements filewise.Copier.
type copier struct {
	server   *managedServer
	instance *instance
}

// copier of a build. Nil means the builds of its layout are loaded each.
func (s *managedServer) copier(i *instance) filewise.Copier {
	if i.design.program.Preload == 0 && !i.design.program.Restored() || i.design.layout.AddedLater != "" {
		return nil
	}
	return copier{s, i}
}

// Keep makes directories like another build's, which no server is started on. Of what a dump has filled there is a
// snapshot already.
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

// fill gives a new build the files of a loaded one of its layout, or of a new server.
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
	i.handles.Close() // the directories are others than when they were opened
	if i.handles, err = i.account.Open(i.sites.dirs); err != nil {
		return err
	}
	return i.give()
}

// loadedKey returns what a loaded build depends on, of the builds of one target.
func (d *design) loadedKey() string { return fmt.Sprintf("%+v %d", d.layout, d.program.Preload) }

// sectionFill names what comes in the place of a call while a server is loaded.
const sectionFill = "fill-insert"

// fills reports whether the connections load what the workload then adds to.
func (b *build) fills() bool {
	i, managed := b.host.(*instance)
	return managed && i.loading && b.design.program.Appends()
}
