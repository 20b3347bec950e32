package fake

import (
	"context"
	"errors"
	"slices"

	"filewise"
)

// Extend adds the layout's further files, in name.
func (d *database) Extend(ctx context.Context) error {
	switch {
	case d.sessions.Load() > 0:
		return errors.New("connections are open while files are added")
	case d.extended.Load():
		return errors.New("the files were added already")
	}
	if err := d.stage(ctx, filewise.StageExtend); err != nil {
		return err
	}
	d.loaded = d.stored()
	d.extended.Store(true)
	return nil
}

// stored is the number of bytes that are committed.
func (d *database) stored() int64 {
	var n int64
	for w := range d.committed {
		c := &d.committed[w]
		c.mu.Lock()
		for _, r := range c.ranges {
			n += r[1] - r[0]
		}
		c.mu.Unlock()
	}
	return n * d.p.First().OpBytes
}

// filled are the files with what each holds: data lie evenly over all files but,
// where these came later and nothing was rebuilt, the loaded ones, which stay in
// the first.
func (d *database) filled(files []filewise.File) []filewise.File {
	files = slices.Clone(files)
	even, first := d.stored(), int64(0)
	if d.l.AddedLater == filewise.LaterNewData && d.extended.Load() {
		first = min(d.loaded, even)
		even -= first
	}
	for i := range files {
		used := even / int64(len(files))
		if i == 0 {
			used += first
		}
		files[i].Used = &used
	}
	return files
}
