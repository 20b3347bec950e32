package private

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"filewise/engine/internal/managed"
)

// To create MySQL's data directory takes longer than a short trial. So the first
// build of a layout has the server create it, and keeps an image of it in memory,
// from which the further builds of the same layout come: the files are the same
// byte for byte, written anew for each build. An image counts only for the same
// binary, settings and paths, of which the server writes some into its dictionary.
const (
	// mostImaged is the size of data directories of which images are made, in bytes:
	// to create a larger one means to write zeros, which an image does not save.
	mostImaged = 1 << 30
	// mostImages is what images take of the memory of a run, in bytes: compressed, one
	// of MySQL 8.0 takes 6 MiB.
	mostImages = 128 << 20
)

// templates are images of new data directories by what they depend on.
type templates struct {
	mu    sync.Mutex
	by    map[string]template
	bytes int64
	// relocate has an image count for other paths as well: for tests, each of which
	// has directories of its own. MySQL finds its files by its command line; only
	// information_schema.FILES then shows the old paths of the system tablespace.
	relocate bool
}

// template is a new data directory with the password of its account.
type template struct {
	image    *managed.Image
	password string
}

// key is all that a new data directory depends on.
func (t *templates) key(i *instance) (string, error) {
	d := i.design
	args, err := d.arguments(i.install, true)
	if err != nil {
		return "", err
	}
	settings := slices.DeleteFunc(strings.Split(d.optionFile(), "\n"), func(line string) bool {
		// Limits of a running server, which depend on the connections of the work.
		return strings.HasPrefix(line, "max_connections =") || strings.HasPrefix(line, "open_files_limit =")
	})
	key := fmt.Sprintf("%q %q %q", i.install.Binary, args, settings)
	if t.relocate {
		for n, dir := range d.dirs {
			key = strings.ReplaceAll(key, dir, fmt.Sprintf("directory %d", n))
		}
	}
	return key, nil
}

func (t *templates) find(key string) (template, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.by[key]
	return found, ok
}

// keep makes an image of a directory that was just created, if there is memory
// for it.
func (t *templates) keep(ctx context.Context, key string, i *instance) error {
	d := i.design
	t.mu.Lock()
	full := t.bytes >= mostImages
	t.mu.Unlock()
	if full {
		return nil
	}
	image, err := managed.TakeImage(ctx, d.dirs, mostImaged, func(path string) bool {
		// Without auto.cnf a server gives itself an identity of its own.
		return path == d.optionPath() || path == d.logPath() || strings.HasSuffix(path, "/auto.cnf")
	})
	if errors.Is(err, managed.ErrImageSize) {
		return nil
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes+image.Bytes() <= mostImages {
		t.by[key], t.bytes = template{image, i.password}, t.bytes+image.Bytes()
	}
	return nil
}

// create makes the data directory of a build: from a template, or by the server
// itself, whose work is then kept as a template.
func (s *privateServer) create(ctx context.Context, i *instance) error {
	if s.templates == nil {
		return i.bootstrap(ctx)
	}
	key, err := s.templates.key(i)
	if err != nil {
		return err
	}
	if t, ok := s.templates.find(key); ok {
		i.password = t.password
		return i.explain(failed("creating the database's files", t.image.Lay(ctx, i.design.dirs)))
	}
	start := time.Now()
	if err := i.bootstrap(ctx); err != nil {
		return err
	}
	err = s.templates.keep(ctx, key, i)
	i.first = time.Since(start)
	return i.explain(err)
}
