package oracle

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/engine/internal/script"
)

// canary finds out once, before the first build, whether this server lets a tablespace be dropped. If there is a
// guaranteed restore point, even of another container, the server creates tablespaces and refuses to drop them
// (ORA-38881).
type canary struct {
	mu    sync.Mutex
	lives bool
}

func (c *canary) sing(ctx context.Context, s *server, d *design) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lives {
		return nil
	}
	small, err := d.canary(newNames(false))
	if err != nil {
		return err
	}
	conn, err := s.pool.connection(ctx, small.names.Tablespace, "build")
	if err != nil {
		return err
	}
	if err := errors.Join(markers{conn, s.about.account}.canary(ctx, small), conn.close()); err != nil {
		return err
	}
	c.lives = true
	return nil
}

// canary returns the smallest design at the first file's place: one marked, empty tablespace.
func (d *design) canary(n names) (*design, error) {
	small := *d
	small.layout = filewise.Layout{Kind: filewise.KindSmallfile, Data: filewise.Spread{Files: 1}}
	small.names, small.index = n, nil
	small.warnings = nil
	f, err := small.file(filewise.RoleData, n.Tablespace, 0, filewise.Volume{Name: d.files[0].volume, Dir: d.files[0].place.Dir},
		leastSmall(d.block), true)
	small.files = []datafile{f}
	return &small, err
}

// canary creates a tablespace and drops it again.
func (m markers) canary(ctx context.Context, d *design) error {
	w := script.NewWriter(onServer, nil)
	stepper{w, d}.files(markerText)
	all, err := w.Steps()
	if err == nil {
		err = all.Run(ctx, func(ctx context.Context, x script.Step) error {
			return m.exec(ctx, statement{section: x.Section, text: x.Text})
		})
	}
	name := d.names.Tablespace
	err = external.Undo(ctx, dropPatience, err, func(ctx context.Context) error { return m.dropBuild(ctx, name) })
	if err != nil {
		return fmt.Errorf("trying whether %s, a tablespace of nothing, can be created and dropped: %w", name, err)
	}
	return nil
}
