package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// To create a data directory can take longer than a short trial. So the first
// build of a layout has the server create it, and keeps an image of it in memory,
// from which the further builds of the same layout come: the files are the same
// byte for byte, written again for each build. For servers that find their files by their
// command line, wherever they were created.
const (
	// mostImaged is the size of data directories of which images are made, in bytes:
	// to create a larger one means to write zeros, which an image does not save.
	mostImaged = 1 << 30
	// mostImages holds what images take of the memory of a run, in bytes: compressed, one
	// of MySQL 8.0 takes 6 MiB.
	mostImages = 128 << 20
)

// Templates holds images of new data directories, by New.Key. The zero value is ready for use.
type Templates struct {
	mu    sync.Mutex
	by    map[string]template
	bytes int64
}

// template is a new data directory with what opens it.
type template struct {
	image  *Image
	secret string
}

// New is a data directory that is to be made.
type New struct {
	Dirs []string
	// Key is all that the directory depends on: binary, settings and paths. What the
	// directories themselves are called makes no difference: a layout's next build has others.
	Key string
	// Secret opens what Create makes; what comes from a template has another one.
	Secret string
	// Create has the server create it.
	Create func(context.Context) error
	// Skip are files that are not taken over.
	Skip func(path string) bool
}

// Make makes a directory from a template, or by its server, whose work is then kept as a template. It returns what
// opens the directory, and how long it took if only the first build of a layout takes so long.
func (t *Templates) Make(ctx context.Context, n New) (secret string, first time.Duration, err error) {
	key := n.Key
	for i, dir := range n.Dirs {
		key = strings.ReplaceAll(key, dir, fmt.Sprintf("directory %d", i))
	}
	if found, ok := t.find(key); ok {
		return found.secret, 0, Failed("creating the database's files", found.image.Lay(ctx, n.Dirs))
	}
	start := time.Now()
	if err = n.Create(ctx); err == nil {
		err = t.keep(ctx, key, n)
	}
	return n.Secret, time.Since(start), err
}

func (t *Templates) find(key string) (template, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.by[key]
	return found, ok
}

// keep makes an image of a directory that was just created, if there is memory
// for it.
func (t *Templates) keep(ctx context.Context, key string, n New) error {
	t.mu.Lock()
	full := t.bytes >= mostImages
	t.mu.Unlock()
	if full {
		return nil
	}
	image, err := TakeImage(ctx, n.Dirs, mostImaged, n.Skip)
	if errors.Is(err, ErrImageSize) {
		return nil
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes+image.Bytes() <= mostImages {
		if t.by == nil {
			t.by = map[string]template{}
		}
		t.by[key], t.bytes = template{image, n.Secret}, t.bytes+image.Bytes()
	}
	return nil
}
