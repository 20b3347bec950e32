package postgres

import (
	"fmt"
	"path/filepath"
	"slices"

	"filewise"
)

// sites holds the directories of a build on a managed server's volumes.
type sites struct {
	dirs []string // the build's directory on each volume
	home int      // the volume of the data directory, which contains the WAL
}

// newSites names the directories of the build with a number.
func newSites(t filewise.Target, l filewise.Layout, build int) (sites, error) {
	var s sites
	for i, v := range t.Volumes {
		dir, err := filepath.Abs(filepath.Join(v.Dir, fmt.Sprintf("postgres-%04d-%d", build, i)))
		if err != nil {
			return s, filewise.Errorf(filewise.CodeUsage, "", "volume %s: %w", v.Name, err)
		}
		s.dirs = append(s.dirs, dir)
	}
	s.home = homeOf(t, l)
	return s, nil
}

// homeOf returns the volume for the server's own files: the log volume, so that data volumes hold only the layout. If
// there is none, it is the first volume that is not reserved for indexes.
func homeOf(t filewise.Target, l filewise.Layout) int {
	is := func(v filewise.Volume) bool { return v.Name == l.LogVolume }
	if l.LogVolume == "" {
		is = func(v filewise.Volume) bool { return v.Name != l.IndexVolume }
	}
	return max(slices.IndexFunc(t.Volumes, is), 0)
}

// spaceName returns the name of a volume's tablespace, or "" for the volume of the data directory, which uses the
// default tablespace.
func (s sites) spaceName(i int) string {
	if i == s.home {
		return ""
	}
	return fmt.Sprintf("fw_%d", i)
}

func (s sites) dataDir() string { return filepath.Join(s.dirs[s.home], "data") }

// config returns the path of the server's configuration file.
func (s sites) config() string { return filepath.Join(s.dataDir(), "postgresql.conf") }

func (s sites) walDir() string { return filepath.Join(s.dataDir(), logDir) }

func (s sites) spaceDir(i int) string { return filepath.Join(s.dirs[i], "tablespace") }

// logPath returns the path of the server's log. A reset does not touch it.
func (s sites) logPath() string { return filepath.Join(s.dirs[s.home], "server.log") }

// managedDesign resolves a layout on a managed server.
func managedDesign(t filewise.Target, l filewise.Layout, p filewise.Program, version, build int) (*design, sites, error) {
	s, err := newSites(t, l, build)
	if err != nil {
		return nil, s, err
	}
	d, err := newDesign(t, l, p, version, s.spaceName)
	if err == nil {
		err = d.checkSettings()
	}
	return d, s, err
}

// used returns the volumes in whose tablespaces the layout puts something.
func (d *design) used() []int {
	var all []int
	for i, s := range d.spaces {
		in := func(l leaf) bool { return l.space.name == s.name || l.index.name == s.name }
		used := slices.ContainsFunc(d.temps, func(t tempPlace) bool { return t.name == s.name })
		if s.name != "" && (used || slices.ContainsFunc(d.leaves(false), in) || slices.ContainsFunc(d.leaves(true), in)) {
			all = append(all, i)
		}
	}
	return all
}

// asked returns the data files and their indexes' files for a plan. PostgreSQL numbers its files when it creates them,
// so a plan shows what they hold and not their names.
func (d *design) asked(base string) []filewise.File {
	var data, indexes []filewise.File
	for _, l := range d.leaves(true) {
		data = append(data, filewise.File{Role: filewise.RoleData, Volume: l.space.volume.Name, Path: d.pathOf(base, l.space, l.Name),
			Object: l.Name})
		for _, key := range d.indexNames(l) {
			indexes = append(indexes, filewise.File{Role: d.indexRole(), Volume: l.index.volume.Name, Path: d.pathOf(base, l.index, key),
				Object: key, Bytes: pageBytes})
		}
	}
	return append(data, indexes...)
}

// pathOf returns the path that plans show for a relation.
func (d *design) pathOf(base string, s space, relation string) string {
	switch {
	case s.name == "":
		return filepath.Join(base, "base", "*", relation)
	case filepath.IsAbs(s.volume.Dir):
		return filepath.Join(s.volume.Dir, "*", relation)
	}
	return s.name + "/*/" + relation
}

// In addition to its payload a row has 24 bytes of header, 4 of line pointer, a key and a length (about 44 in all). It
// takes 20 to 40 in the index, which is filled more or less depending on the order of its keys.
const rowOverhead, keyBytes = 44, 40

// space returns the space for data and indexes on each volume, by volume name.
func (d *design) space() map[string]int64 {
	rows := d.layout.Data.Bytes
	keys := int64(0)
	switch b := d.program.First().OpBytes; {
	case !d.program.Appends():
		rows, keys = d.phasesRoom()
	case b > 0 && d.program.Preload > 0 && d.program.WorkBytes == 0: // the size of the files
		n := d.program.Preload / b
		rows, keys = max(d.layout.Data.Bytes, n*(b+rowOverhead)), max(d.layout.Data.Bytes/2, n*keyBytes)
	case b > 0:
		n := max(d.layout.Data.Bytes, d.program.WorkBytes) / b
		rows, keys = n*(b+rowOverhead), n*keyBytes
	}
	leaves := d.leaves(true)
	space := map[string]int64{}
	times := int64(1)
	if d.layout.AddedLater == filewise.LaterRebuilt {
		times = 2 // old and new data exist side by side for a while
	}
	for _, l := range leaves {
		n := int64(len(leaves))
		space[l.space.volume.Name] += times*rows/n + mib
		space[l.index.volume.Name] += times*keys/n + mib
	}
	d.tempRoom(space)
	if d.program.BacksUp() && !d.layout.Discard {
		files := max(d.layout.Backup.Files, 1)
		for i := range files {
			space[d.layout.BackupVolumeOf(i, d.target.Volumes).Name] += (rows + keys) / 2 / int64(files)
		}
	}
	return space
}
