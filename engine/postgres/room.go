package postgres

import (
	"path/filepath"

	"filewise"
)

// asked are the data files and those of their indexes. PostgreSQL numbers its files
// when it creates them: a plan knows what they hold, not how they are called.
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

// pathOf stands in plans for the path of a relation.
func (d *design) pathOf(base string, s space, relation string) string {
	switch {
	case s.name == "":
		return filepath.Join(base, "base", "*", relation)
	case filepath.IsAbs(s.volume.Dir):
		return filepath.Join(s.volume.Dir, "*", relation)
	}
	return s.name + "/*/" + relation
}

// Besides its payload a row has 24 bytes of header, 4 of line pointer, a key and a
// length (some 44 in all), and 20 to 40 in the index, as full as its order of keys
// leaves it.
const rowOverhead, keyBytes = 44, 40

// space is the room for data and indexes on each volume, by volume name.
func (d *design) space() map[string]int64 {
	rows := d.layout.Data.Bytes
	keys := int64(0)
	switch b := d.program.First().OpBytes; {
	case !d.program.Appends():
		rows, keys = d.phasesRoom()
	case b > 0:
		n := max(d.layout.Data.Bytes, d.program.WorkBytes) / b
		rows, keys = n*(b+rowOverhead), n*keyBytes
	}
	leaves := d.leaves(true)
	space := map[string]int64{}
	times := int64(1)
	if d.layout.AddedLater == filewise.LaterRebuilt {
		times = 2 // old and new stand side by side for a while
	}
	for _, l := range leaves {
		n := int64(len(leaves))
		space[l.space.volume.Name] += times*rows/n + mib
		space[l.index.volume.Name] += times*keys/n + mib
	}
	d.tempRoom(space)
	return space
}
