package private

import (
	"context"
	"fmt"
	"os"
	"slices"

	"filewise"
	"filewise/engine/internal/innodb"
)

// arms are those of files that are added later.
var arms = []filewise.AddedLater{filewise.LaterUntouched, filewise.LaterNewData, filewise.LaterRebuilt}

// checkLater refuses files added later where InnoDB has no way to add them.
func (d *design) checkLater() error {
	arm := d.layout.AddedLater
	if arm == "" {
		return nil
	}
	switch {
	case !slices.Contains(arms, arm):
		return refuse("use untouched, new-data or rebuilt", "files added later: there is no arm %q", arm)
	case d.layout.Kind == filewise.KindPerTable:
		return refuse("use --kind system or partitions", "files of kind per-table cannot be added to loaded data: a row stays in the table that it was inserted into")
	case d.layout.Kind == filewise.KindPartitions && arm == filewise.LaterNewData:
		return refuse("use the arm rebuilt, or --kind system",
			"partitions for new data alone cannot be added: the hash of the key decides over old and new rows alike, so adding a partition moves old rows")
	}
	return nil
}

// splitLater keeps the first file and leaves the others to Extend. Until then
// the first is the last, which must hold the empty database and may grow.
func (d *design) splitLater() error {
	if d.layout.AddedLater == "" {
		return nil
	}
	first := d.files[:1:1]
	if least := d.leastBytes(1); first[0].bytes < least {
		return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("use --size %s or more, or fewer files", sizeArg(int64(d.layout.Data.Files)*least)),
			"the one file before others are added has %d bytes: a system tablespace needs %d: %w", first[0].bytes, least, filewise.ErrUnsupported)
	}
	if d.layout.AddedLater != filewise.LaterUntouched {
		d.later = d.files[1:]
	}
	first[0].grows = true
	d.files = first
	d.warnLater()
	return nil
}

// warnLater says what InnoDB does with files of its system tablespace that come
// later.
func (d *design) warnLater() {
	switch d.layout.AddedLater {
	case filewise.LaterNewData:
		d.warn("added-files-filled-in-order", "see the bytes in use by file",
			"new rows go to the free extents of the first file, then to the added files one after the other: InnoDB does not spread them")
	case filewise.LaterRebuilt:
		d.warn("rebuilt-not-spread", "compare with the layout that has all of its files from the start",
			"ALTER TABLE … FORCE copies each table to the free extents of the system tablespace, mostly of the added files in their order, and frees the old ones: "+
				"InnoDB does not spread the rows evenly, and later rows fill what became free in the first file")
	}
}

// extender adds files to a build. It implements filewise.Extender.
type extender struct{ instance *instance }

// extender is nil where no files are added.
func (i *instance) extender() filewise.Extender {
	if i.design.layout.AddedLater == "" {
		return nil
	}
	return extender{i}
}

// Extend restarts the server, with the further files where there are any, so
// that every arm starts as cold; and rebuilds the tables where the layout says so.
func (e extender) Extend(ctx context.Context) error {
	i := e.instance
	if _, _, err := i.running(); err != nil {
		return failed("adding files", err)
	}
	if err := i.stop(ctx); err != nil {
		return failed("adding files", err)
	}
	if i.design.isSystem() {
		if err := i.design.append(); err != nil {
			return failed("adding files", err)
		}
	}
	if err := i.start(ctx); err != nil {
		return failed("adding files", err)
	}
	if i.design.layout.AddedLater != filewise.LaterRebuilt {
		return nil
	}
	i.settled.Store(false)
	if err := i.exec(ctx, i.design.rebuild()...); err != nil {
		return failed("rebuilding", err)
	}
	if !i.design.isSystem() {
		i.design.files, i.design.later = append(i.design.files, i.design.later...), nil
	}
	return nil
}

// append puts the later files behind the first one, which has to be named with
// the size that it has by now: only the last file of a system tablespace grows.
func (d *design) append() error {
	if len(d.later) == 0 {
		return nil
	}
	info, err := os.Stat(d.files[0].path)
	if err != nil {
		return fmt.Errorf("size of the last file: %w", err)
	}
	if info.Size()%innodb.MiB != 0 {
		return fmt.Errorf("%w: %s has %d bytes, no whole MiB, so that InnoDB takes no file behind it", filewise.ErrLayout, d.files[0].path, info.Size())
	}
	d.files[0].bytes, d.files[0].grows = info.Size(), false
	d.files, d.later = append(d.files, d.later...), nil
	return nil
}

// rebuild are the statements that spread loaded rows over all files.
func (d *design) rebuild() []string {
	var all []string
	for _, t := range d.schema.Tables {
		table := "ALTER TABLE " + innodb.Ident(Database) + "." + innodb.Ident(t.Name)
		if d.isSystem() {
			all = append(all, table+" FORCE")
		} else {
			all = append(all, table+d.partitionBy(t, d.layout.Data.Files))
		}
	}
	return all
}
