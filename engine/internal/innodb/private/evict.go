package private

import (
	"context"
	"io/fs"
	"path/filepath"

	"filewise/engine/internal/managed"
)

type evicter struct{ instance *instance }

// Evict stops the server, drops the pages of all of its files from the system's
// cache, file by file, and starts it again with nothing in its buffer pool.
func (e evicter) Evict(ctx context.Context) error {
	i := e.instance
	if _, _, err := i.running(); err != nil {
		return failed("evicting", err)
	}
	if err := i.stop(ctx); err != nil {
		return failed("evicting", err)
	}
	for _, dir := range i.design.dirs {
		err := filepath.WalkDir(dir, func(path string, f fs.DirEntry, err error) error {
			if err != nil || !f.Type().IsRegular() {
				return err
			}
			return managed.Evict(path)
		})
		if err != nil {
			return failed("evicting", err)
		}
	}
	return failed("evicting", i.start(ctx))
}
