package managed

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/internal/filesystem"
)

// arms lists the layouts to compare if files are added later.
var arms = []filewise.AddedLater{filewise.LaterUntouched, filewise.LaterNewData, filewise.LaterRebuilt}

// checkLater refuses files added later if InnoDB has no way to add them.
func (d *design) checkLater() error {
	arm := d.Layout.AddedLater
	if arm == "" {
		return nil
	}
	switch {
	case !slices.Contains(arms, arm):
		return refuse("use untouched, new-data or rebuilt", "files added later: there is no layout %q", arm)
	case d.Layout.Kind == filewise.KindPerTable:
		return refuse("use --kind system or partitions",
			"files of kind per-table cannot be added to loaded data: a row stays in the table that it was inserted into")
	case d.Layout.Kind == filewise.KindPartitions && arm == filewise.LaterNewData:
		return refuse("use --added-later=rebuilt, or --kind system",
			"partitions for new data alone cannot be added: the hash of the key places old and new rows, so adding a partition moves "+
				"old rows")
	}
	return nil
}

// splitLater keeps the first file and leaves the others to Extend. Until then the first file is also the last, so it
// must hold the empty database and can grow.
func (d *design) splitLater() error {
	if d.Layout.AddedLater == "" {
		return nil
	}
	first := d.Files[:1:1]
	if least := d.leastBytes(1); first[0].Bytes < least {
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("use --size %s or more, or fewer files",
			sizeArg(int64(d.Layout.Data.Files)*least)),
			"the one file before others are added has %d bytes: a system tablespace needs %d: %w", first[0].Bytes, least, filewise.ErrUnsupported)
	}
	if d.Layout.AddedLater != filewise.LaterUntouched {
		d.Later = d.Files[1:]
	}
	first[0].Grows = true
	d.Files = first
	d.warnLater()
	return nil
}

// warnLater warns what InnoDB does with files that are added to its system tablespace later.
func (d *design) warnLater() {
	switch d.Layout.AddedLater {
	case filewise.LaterNewData:
		d.Warn("added-files-filled-in-order", "see the bytes in use by file",
			"new rows go to the free extents of the first file, then to the added files one after the other: InnoDB does not spread them")
	case filewise.LaterRebuilt:
		d.Warn("rebuilt-not-spread", "compare with the layout that has all of its files from the start",
			"ALTER TABLE … FORCE copies each table to the free extents of the system tablespace, mostly of the added files in their order, and "+
				"frees the old ones: "+
				"InnoDB does not spread the rows evenly, and later rows fill what became free in the first file")
	}
}

// extender returns extend, or nil if no files are added.
func (i *instance) extender() func(context.Context) error {
	if i.design.Layout.AddedLater == "" {
		return nil
	}
	return i.extend
}

// extend restarts the server, with the further files if there are any, so that every arm starts equally cold. It
// rebuilds the tables if the layout demands that.
func (i *instance) extend(ctx context.Context) error {
	err := i.life.Between(ctx, func() error {
		if i.design.isSystem() {
			return i.design.append()
		}
		return nil
	})
	if err != nil {
		return failed("adding files", err)
	}
	rebuild := i.steps.At(filewise.StageExtend).On(onServer).Texts()
	if len(rebuild) == 0 {
		return nil
	}
	i.settled.Store(false)
	if err := i.exec(ctx, rebuild...); err != nil {
		return failed("rebuilding", err)
	}
	if !i.design.isSystem() {
		i.design.Files, i.design.Later = i.design.All(), nil
	}
	return nil
}

// append adds the later files behind the first one. The first must be given its present size, because only the last
// file of a system tablespace grows.
func (d *design) append() error {
	if len(d.Later) == 0 {
		return nil
	}
	info, err := os.Stat(d.Files[0].Path)
	if err != nil {
		return fmt.Errorf("size of the last file: %w", err)
	}
	if info.Size()%dialect.MiB != 0 {
		return fmt.Errorf("%w: %s has %d bytes, not a multiple of 1 MiB, so InnoDB accepts no file after it", filewise.ErrLayout, d.Files[0].Path,
			info.Size())
	}
	d.Files[0].Bytes, d.Files[0].Grows = info.Size(), false
	d.Files, d.Later = d.All(), nil
	return nil
}

// Settle writes everything committed to the data files and syncs them. MySQL moves its checkpoint a second later at
// most, which writes no page.
func (i *instance) Settle(ctx context.Context) error {
	p, control, err := i.running()
	if err != nil {
		return err
	}
	start := time.Now()
	idle, err := i.design.Product.Managed.Checkpoint(ctx, control)
	if err != nil {
		return i.why(p, failed("checkpoint", err))
	}
	if err := i.design.Spell(ctx, control); err != nil {
		return err
	}
	if err := i.design.sync(); err != nil {
		return err
	}
	i.settled.Store(true)
	i.took.Store(int64(time.Since(start) - idle))
	return nil
}

// lastSettle returns how long the last Settle wrote, without the time that the page cleaner slept.
func (i *instance) lastSettle(context.Context) (filewise.Settled, error) {
	took := time.Duration(i.took.Load())
	return filewise.Settled{Took: &took}, nil
}

// sync syncs the data files, because InnoDB itself does not with innodb_flush_method=O_DIRECT_NO_FSYNC.
func (d *design) sync() error {
	for _, f := range d.Files {
		if err := filesystem.SyncFile(f.Path); err != nil {
			return fmt.Errorf("syncing: %w", err)
		}
	}
	return nil
}
