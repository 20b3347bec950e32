package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Creating a data directory can take longer than a short trial. So the server creates it only for the first build of a
// layout, and Filewise keeps an image in memory. Further builds of the layout are written from that image, with the
// same bytes. This works for servers that find their files by their command line, wherever the files were created.
const (
	// mostImaged is the size of the largest data directory that gets an image, in bytes. Creating a larger one means
	// writing zeros, which an image does not save.
	mostImaged = 1 << 30
	// mostImages limits the memory for all images of a run, in bytes. A compressed one of MySQL 8.0 takes 6 MiB.
	mostImages = 128 << 20
)

// Templates holds images of new data directories by New.Key. The zero value is ready for use.
type Templates struct {
	mu    sync.Mutex
	by    map[string]template
	bytes int64
}

// template is the image of a new data directory, and the secret that opens the directory.
type template struct {
	image  *Image
	secret string
}

// New describes a data directory to make.
type New struct {
	Dirs []string
	// Key contains all that the directory depends on: binary, settings and paths. The directories' own names are replaced
	// in it, because the next build of the layout has other names.
	Key string
	// Secret opens the directory that Create makes. A directory from a template has the template's secret.
	Secret string
	// Create has the server create the directory.
	Create func(context.Context) error
	// Skip selects files that the image leaves out.
	Skip func(path string) bool
}

// Make fills the directories from a template, or by Create, whose result it then stores as a template. It returns the
// secret that opens them. first is the time that Create took, or 0 if a template was used.
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

// keep stores an image of a directory that was just created, if there is memory for it.
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
