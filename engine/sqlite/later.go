package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"filewise"
	"filewise/engine/internal/script"
)

// Reasons why SQLite has neither logs nor indexes apart.
const (
	logTogether   = "SQLite's write-ahead log lies next to its database file, under the same name"
	indexesWithin = "SQLite keeps the indexes of a table in the table's own file"
)

var arms = []filewise.AddedLater{filewise.LaterUntouched, filewise.LaterNewData, filewise.LaterRebuilt}

// placeLater places the files of a layout with files added later. Loading has one file with one share. If the layout is
// untouched, it stays the only file. With new data, the further files take all new rows. If rebuilt, all files are new,
// and the loaded file goes when its rows are spread over them.
func (s *shape) placeLater() error {
	if s.layout.AddedLater == "" {
		return s.place()
	}
	first := *s
	first.count = 1
	end := "0001"
	if s.rebuilds() {
		end = "loaded"
	}
	sh, err := first.shardAt(0, s.layout.Data.Sizes(pageBytes)[0], end)
	if err != nil {
		return err
	}
	first.shards = []shard{sh}
	s.first = &first
	switch {
	case s.rebuilds():
		return s.place()
	case s.layout.AddedLater == filewise.LaterUntouched || s.count == 1:
		s.count, s.shards = 1, first.shards
		return nil
	}
	s.from = 1
	return s.place()
}

// rebuilds reports whether the loaded rows are spread over all files.
func (s *shape) rebuilds() bool { return s.layout.AddedLater == filewise.LaterRebuilt }

// Extend adds the layout's further files, and spreads the loaded rows over all files if the layout demands that. If
// Extend fails, the loaded rows are lost, and the build can no longer be used.
func (d *database) Extend(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.dropped:
		return errors.New("the database was dropped")
	case d.later == nil:
		return errors.New("the files were added already")
	}
	for _, w := range d.workers {
		if w.isOpen() {
			return fmt.Errorf("connection %d is open while files are added", w.Worker)
		}
	}
	to := d.later
	d.later = nil
	if to.rebuilds() {
		return d.rebuild(ctx, to)
	}
	d.shape = to
	return d.createFrom(ctx, 1) // none, if there is only one file
}

// rebuild creates all files of a shape, copies the loaded rows there, and removes
// the loaded file.
func (d *database) rebuild(ctx context.Context, to *shape) error {
	loaded := d.files[0]
	d.shape = to
	if err := d.createFrom(ctx, 0); err != nil {
		return err
	}
	for i, f := range d.files[1:] {
		if err := d.copyTo(ctx, loaded, f, i); err != nil {
			return err
		}
	}
	d.files = d.files[1:]
	return loaded.remove(to)
}

// copyTo copies the loaded rows that belong to file i of the shape.
func (d *database) copyTo(ctx context.Context, loaded, f *file, i int) (err error) {
	loaded.mu.Lock()
	defer loaded.mu.Unlock()
	c := loaded.keeper
	if _, err := c.ExecContext(ctx, section("attach"), named(f.path)); err != nil {
		return fmt.Errorf("attaching %s: %w", f.path, err)
	}
	defer func() { err = errors.Join(err, c.exec(context.WithoutCancel(ctx), section("detach"))) }()
	if f.chunk > 0 {
		if err := c.setChunk("fw_rebuilt", f.shard); err != nil {
			return err
		}
	}
	statements, err := d.rebuildStatements(i)
	if err != nil {
		return err
	}
	for _, st := range statements { // each statement is a transaction
		if err := c.exec(ctx, st); err != nil {
			return explain(err)
		}
	}
	return nil
}

// rebuildStatements returns the statements that copy the rows of each table of file i.
func (s *shape) rebuildStatements(i int) ([]string, error) {
	var all []string
	for _, table := range s.shards[i].tables {
		var with []int // the files that contain the table
		for k, sh := range s.shards {
			if slices.Contains(sh.tables, table) {
				with = append(with, k)
			}
		}
		v := vars(s.program, table)
		v["Of"], v["Part"], v["Step"] = len(with), slices.Index(with, i), s.keyStep()
		statements, err := s.sql.Statements("rebuild", v)
		if err != nil {
			return nil, err
		}
		all = append(all, statements...)
	}
	return all, nil
}

// keyStep returns the difference between the keys of two consecutive rows that go to different files. A connection with
// its own table and sequential keys changes files after each transaction.
func (s *shape) keyStep() int {
	if s.perConnection && !s.program.Table().RandomKeys {
		return s.program.Connections() * s.program.First().CommitEvery
	}
	return 1
}

// extendSteps returns the steps that add file i.
func (s *shape) extendSteps(i int) (script.Steps, error) {
	if s.first == nil || !s.rebuilds() && i == 0 {
		return nil, nil
	}
	l := s.lister(filewise.StageExtend, i)
	s.listCreate(l, i)
	if !s.rebuilds() {
		return l.Steps()
	}
	loaded := s.first.shards[0].path
	l.on = loaded
	l.add(section("attach"))
	l.note("?1 is " + s.shards[i].path)
	l.addAll(s.rebuildStatements(i))
	l.add(section("detach"))
	if i == len(s.shards)-1 {
		l.note(fmt.Sprintf("close and remove %s, %s-wal, %s-shm", loaded, loaded, loaded))
	}
	return l.Steps()
}
