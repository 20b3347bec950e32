package sqlserver

import (
	"cmp"
	"fmt"
	"slices"

	"filewise"
)

// file is a file of a database that the layout demands.
type file struct {
	Logical, Path string
	KB, GrowthKB  int64
	role          filewise.Role
	volume, group string
}

// place is where a build will be: the database's name, and the server's directories.
type place struct {
	name, marker string
	system       serverOS // "" if not known yet
	data, log    joiner   // the server's default directories
}

// joiner makes the path of a file in a directory.
type joiner interface {
	Join(name string) (string, error)
}

// unknown is a directory that only the server has, as plans show it.
type unknown string

func (u unknown) Join(name string) (string, error) { return "(" + string(u) + ")/" + name, nil }

// somewhere returns the place for a plan, which queries nothing from the server.
func somewhere(name, marker string) place {
	return place{name: name, marker: marker, data: unknown("the server's default data directory"),
		log: unknown("the server's default log directory")}
}

// place decides the files. They have equal sizes, so that SQL Server fills them evenly.
func (d *design) place(at place) error {
	dirs, err := d.dirs(at)
	if err != nil {
		return err
	}
	d.where = dirs
	l := d.layout
	volumes := l.DataVolumes(d.target.Volumes)
	if len(volumes) == 0 {
		return usage("name one with --volume NAME=DIR", "there is no volume for data files")
	}
	sizes, growth := d.sizes()
	extension := ".mdf"
	if d.program.Restored() { // the backup has one
		extension = ".ndf"
	}
	for i := range l.Data.Files {
		f := file{Logical: fmt.Sprintf("fw_data_%d", i+1), KB: sizes[i] / kib, GrowthKB: growth / kib, role: filewise.RoleData,
			volume: l.Data.VolumeOf(i, volumes).Name, group: d.group()}
		if err := d.join(&f, dirs[f.volume], fmt.Sprintf("data_%02d%s", i+1, extension)); err != nil {
			return err
		}
		d.data, extension = append(d.data, f), ".ndf"
	}
	if l.Indexes == filewise.IndexesApart {
		if err := d.placeIndexes(dirs, growth); err != nil {
			return err
		}
	}
	if d.program.Restored() {
		_, d.logDir = d.logPlace(dirs, at, volumes[0]) // the backup has a log
		return nil
	}
	return d.placeLog(dirs, at, volumes[0])
}

// group returns the filegroup of the rows.
func (d *design) group() string {
	if d.program.Restored() {
		return restoredGroup
	}
	return "PRIMARY"
}

// join sets a file's path.
func (d *design) join(f *file, dir joiner, name string) (err error) {
	if f.Path, err = dir.Join(d.name + "_" + name); err != nil {
		return usage("name a shorter --volume", "volume %s: %w", f.volume, err)
	}
	return nil
}

// sizes returns the initial size and the growth of each data file, in bytes. Preallocated files can also grow, and a
// warning reports it. Otherwise a trial that did more than expected would fail.
func (d *design) sizes() (sizes []int64, growth int64) {
	s := d.layout.Data
	per, growth := s.Bytes/int64(s.Files)/extent*extent, int64(usualGrow)
	if s.Allocation == filewise.Growing {
		per = leastFile
	}
	switch {
	case s.Growth > 0:
		growth = s.Growth / extent * extent
	case asPublished(d.program):
		growth = leastFurther
	}
	sizes = slices.Repeat([]int64{per}, s.Files)
	if d.startsLeast() {
		sizes = slices.Repeat([]int64{leastFurther}, s.Files)
		sizes[0] = leastFile
	}
	return sizes, growth
}

// startsLeast reports whether growing files begin as small as possible, because their size has no space for equal
// files. The first then has model's size, and proportional fill prefers it.
func (d *design) startsLeast() bool {
	s := d.layout.Data
	return s.Allocation == filewise.Growing && s.Files > 1 && s.Bytes < int64(s.Files)*leastFile
}

// placeIndexes spreads indexes over as many files as data. A single index file would hide the effect of several data
// files.
func (d *design) placeIndexes(dirs map[string]joiner, growth int64) error {
	v := d.layout.DataVolumes(d.target.Volumes)[0]
	if d.layout.IndexVolume != "" {
		v.Name = d.layout.IndexVolume
	}
	per := d.layout.Data.Bytes / 4 / int64(d.layout.Data.Files) / extent * extent
	if d.layout.Data.Allocation == filewise.Growing {
		per = mib
	}
	for i := range d.layout.Data.Files {
		f := file{Logical: fmt.Sprintf("fw_index_%d", i+1), KB: per / kib, GrowthKB: growth / kib, role: filewise.RoleIndex, volume: v.Name,
			group: indexGroup}
		if err := d.join(&f, dirs[v.Name], fmt.Sprintf("index_%02d.ndf", i+1)); err != nil {
			return err
		}
		d.index = append(d.index, f)
	}
	return nil
}

// logGrowth returns the log's growth: the value of --set, or the article's, or the default.
func (d *design) logGrowth() int64 {
	if asPublished(d.program) && d.settings.logGrowth == usualGrow {
		return leastFurther
	}
	return d.settings.logGrowth
}

// logPlace returns the volume of the log, and the log's directory there.
func (d *design) logPlace(dirs map[string]joiner, at place, dataVolume filewise.Volume) (volume string, dir joiner) {
	volume = cmp.Or(d.layout.LogVolume, dataVolume.Name)
	for _, v := range d.target.Volumes {
		if v.Name == volume && v.Dir == "" {
			return volume, at.log // the server has a separate default for logs
		}
	}
	return volume, dirs[volume]
}

func (d *design) placeLog(dirs map[string]joiner, at place, dataVolume filewise.Volume) error {
	volume, dir := d.logPlace(dirs, at, dataVolume)
	d.logDir = dir
	f := file{Logical: "fw_log", KB: d.settings.logSize(d.layout.ServerBytes(), d.layout.Data.Allocation == filewise.Growing, d.program) / kib,
		GrowthKB: d.logGrowth() / kib,
		role:     filewise.RoleLog, volume: volume}
	err := d.join(&f, dir, "log.ldf")
	d.log = []file{f}
	return err
}

// dirs returns the directories by volume. All must be of the server's operating system.
func (d *design) dirs(at place) (map[string]joiner, error) {
	dirs := map[string]joiner{}
	system := at.system
	for _, v := range d.target.Volumes {
		if v.Dir == "" {
			dirs[v.Name] = at.data
			continue
		}
		dir, err := parseDir(v.Dir)
		if err != nil {
			return nil, usage(`name a directory as the server sees it: D:\data, \\server\share\data, or /data`, "volume %s: %w", v.Name, err)
		}
		if system != "" && dir.System != system {
			return nil, usage("name directories as the server sees them",
				"volume %s: %s is a path of %s, and the server, or another volume, is one of %s", v.Name, dir, dir.System, system)
		}
		system = dir.System
		dirs[v.Name] = dir
	}
	for flag, name := range map[string]string{"--log-volume": d.layout.LogVolume, "--index-volume": d.layout.IndexVolume} {
		if name != "" && dirs[name] == nil {
			return nil, usage("name it with --volume "+name+"=DIR", "%s %s: there is no such volume", flag, name)
		}
	}
	return dirs, nil
}

// files returns all files that the layout has in the end. Those of Extend are included, unless it is the untouched arm.
func (d *design) files() []file {
	n := len(d.data)
	if d.layout.AddedLater == filewise.LaterUntouched {
		n = d.first
	}
	return d.until(n)
}

// until returns the files of a build whose data lie in n files.
func (d *design) until(n int) []file {
	all := append([]file{}, d.data[:n]...)
	all = append(all, d.index[:min(n, len(d.index))]...)
	return append(all, d.log...)
}
