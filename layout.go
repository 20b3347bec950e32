package filewise

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Allocation reports whether files are created at full size or grow.
type Allocation string

// The allocations of a spread.
const (
	Preallocated Allocation = "preallocated"
	Growing      Allocation = "growing"
)

// Placement determines on which volumes the files of a spread lie.
type Placement string

// The placements of a spread.
const (
	PlaceOne        Placement = "one"         // all on the first volume
	PlaceRoundRobin Placement = "round-robin" // file i on volume i mod the number of volumes
	PlaceApart      Placement = "apart"       // for backups: round-robin over the volumes without data files
)

// Kind is an engine's way to make several files out of one database. Engines have different kinds.
type Kind string

// The kinds of layout.
const (
	KindShards     Kind = "shards"     // sqlite: one database file per shard
	KindSystem     Kind = "system"     // InnoDB: files of the system tablespace
	KindPerTable   Kind = "per-table"  // InnoDB: one file per table
	KindPartitions Kind = "partitions" // one file per partition
	KindSingle     Kind = "single"     // postgres: tables without partitions
	KindFilegroup  Kind = "filegroup"  // sqlserver: files of one filegroup
	KindSmallfile  Kind = "smallfile"  // oracle: datafiles of a smallfile tablespace
	KindBigfile    Kind = "bigfile"    // oracle: the one datafile of a bigfile tablespace
)

// Spread describes how one class of data (tables, indexes, temp, backup) is distributed over files. The zero value
// means the engine's default, which is not varied.
type Spread struct {
	Files      int        `json:"files"`
	Bytes      int64      `json:"bytes"` // total over the files
	Allocation Allocation `json:"allocation,omitempty"`
	Growth     int64      `json:"growth,omitempty"` // bytes by which a growing file grows
	Placement  Placement  `json:"placement,omitempty"`
	// Volumes names the volumes for this layout alone, in order. If empty, the target's volumes that have no other use are
	// taken.
	Volumes VolumeNames `json:"volumes,omitempty"`
}

// VolumeNames holds names of volumes joined by "+", so that layouts can be compared with ==.
type VolumeNames string

// List returns the names, or none for the zero value.
func (n VolumeNames) List() []string {
	return strings.FieldsFunc(string(n), func(r rune) bool { return r == '+' })
}

// of returns the volumes with these names, in their order. Unknown names are left out.
func (n VolumeNames) of(volumes []Volume) (out []Volume) {
	for _, name := range n.List() {
		if i := slices.IndexFunc(volumes, func(v Volume) bool { return v.Name == name }); i >= 0 {
			out = append(out, volumes[i])
		}
	}
	return out
}

// AddedLater determines what happens to data in one file when the layout's further files are added. Existing data do
// not move by themselves.
type AddedLater string

// The treatments of data when files are added later.
const (
	LaterUntouched AddedLater = "untouched" // no file is added: the database as it was
	LaterNewData   AddedLater = "new-data"  // files are added; only new data go there
	LaterRebuilt   AddedLater = "rebuilt"   // files are added, and the data spread over all
)

// IndexesTogether and IndexesApart are the values of Layout.Indexes.
const (
	IndexesTogether = "together" // a further index, on the files of the table
	IndexesApart    = "apart"    // an index on separate files
)

// Layout describes how a database is distributed over files.
type Layout struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	Data Spread `json:"data"`
	// SizedBy is the data size, in bytes, by which a server's log and memory are set, so that layouts of several sizes get
	// the same. If 0, it is Data.Bytes.
	SizedBy int64 `json:"sized_by,omitempty"`
	// Backup describes backups: Files stripes over the volumes of Backup's own placement. If Files is 0, backups are not
	// varied.
	Backup Spread `json:"backup,omitzero"`
	// Discard is set if backups are read, compressed and thrown away, to measure the most that the server could do.
	Discard bool `json:"discard,omitempty"`
	// BackupOptions holds the engine's own parameters of backups.
	BackupOptions BackupOptions `json:"backup_options,omitempty"`
	// Temp describes the files of temporary tables: Files places over the data's volumes, with the data in one file. If
	// Files is 0, they are not varied.
	Temp Spread `json:"temp,omitzero"`
	// AddedLater is set if the database is built and loaded as one file of Bytes/Files before the further files are added.
	// If empty, all files exist from the start.
	AddedLater AddedLater `json:"added_later,omitempty"`
	// Indexes is IndexesTogether or IndexesApart. If empty, it is the engine's default.
	Indexes string `json:"indexes,omitempty"`
	// LogVolume and IndexVolume name volumes for the log and for index files, which hold no data. If empty, it is the
	// first data volume.
	LogVolume   string `json:"log_volume,omitempty"`
	IndexVolume string `json:"index_volume,omitempty"`
	// Rank orders equally good layouts of all kinds by "fewest files": the one with the lowest rank is recommended.
	Rank int `json:"rank"`
}

// BuildKey identifies the build that the layout needs. Layouts with equal keys share one build.
func (l Layout) BuildKey() string {
	key := fmt.Sprintf("%s/%d×%d/%s/%d/%s/%s/%s/%s/%s", l.Kind, l.Data.Files, l.Data.Bytes, l.Data.Allocation, l.Data.Growth, l.Data.Placement,
		l.AddedLater, l.Indexes, l.LogVolume, l.IndexVolume)
	if l.Data.Volumes != "" {
		key += "/" + string(l.Data.Volumes)
	}
	if t := l.Temp; t.Files > 0 {
		key += fmt.Sprintf("/%d×%d/%s/%d/%s", t.Files, t.Bytes, t.Allocation, t.Growth, t.Placement)
	}
	return key
}

// DataVolumes returns the volumes for data files, in order: the layout's own or, if it has none, those not reserved for
// the log or for indexes.
func (l Layout) DataVolumes(volumes []Volume) []Volume {
	if l.Data.Volumes != "" {
		return l.Data.Volumes.of(volumes)
	}
	return Those(volumes, func(v Volume) bool { return v.Name != l.LogVolume && v.Name != l.IndexVolume })
}

// BackupVolumes returns the volumes over which backup files are spread, in order. It returns none if backups lie apart
// and every volume holds data files.
func (l Layout) BackupVolumes(volumes []Volume) []Volume {
	if l.Backup.Volumes != "" {
		return l.Backup.Volumes.of(volumes)
	}
	if l.Backup.Placement != PlaceApart {
		return volumes
	}
	held := map[string]bool{}
	if data := l.DataVolumes(volumes); len(data) > 0 {
		for i := range l.Data.Files {
			held[l.Data.VolumeOf(i, data).Name] = true
		}
	}
	return Those(volumes, func(v Volume) bool { return !held[v.Name] })
}

// BackupVolumeOf returns the volume of backup file i. There must be one: CheckBackupVolumes reports an error if there
// is none.
func (l Layout) BackupVolumeOf(i int, volumes []Volume) Volume {
	return l.Backup.VolumeOf(i, l.BackupVolumes(volumes))
}

// CheckBackupVolumes returns an error with CodeUsage if the layout's backups lie apart but every volume holds data
// files.
func (l Layout) CheckBackupVolumes(volumes []Volume) error {
	if len(l.BackupVolumes(volumes)) > 0 {
		return nil
	}
	return Errorf(CodeUsage, "give one more --volume NAME=DIR, for the backups",
		"backups apart from the data of %s: every volume holds data files", l.Name)
}

// FilesAtFirst returns the number of data files that a build has before Extend.
func (l Layout) FilesAtFirst() int {
	if l.AddedLater != "" {
		return 1
	}
	return l.Data.Files
}

// FilesName returns the usual name of a layout with n data files: "1 file", "8 files".
func FilesName(n int) string { return Counted(n, "file") }

// Counted returns a number with the name of what it counts: "1 trial", "5 trials".
func Counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// Each returns one's result for each element.
func Each[T, U any](all []T, one func(T) U) []U {
	out := make([]U, len(all))
	for i, v := range all {
		out[i] = one(v)
	}
	return out
}

// Those returns a new list of the elements for which a function returns true.
func Those[T any](all []T, wanted func(T) bool) (out []T) {
	for _, v := range all {
		if wanted(v) {
			out = append(out, v)
		}
	}
	return out
}

func LayoutNames(all []Layout) []string { return Each(all, func(l Layout) string { return l.Name }) }

// Role is the purpose of a file.
type Role string

// The roles of a file.
const (
	RoleData Role = "data"
	RoleLog  Role = "log"
	// RoleIndex is a file of indexes that lie apart from their table.
	RoleIndex Role = "index"
	// RoleBackup is a file of a backup, a stripe.
	RoleBackup Role = "backup"
	// RoleTemp is a file of temporary tables, or a directory if the engine makes a file for each table. Used is then the
	// space of all tables there since the build.
	RoleTemp Role = "temp"
	// RoleSystem is a file that the engine keeps for itself: dictionary, undo.
	RoleSystem Role = "system"
)

// File describes a file of a layout, as requested or as observed.
type File struct {
	Role   Role   `json:"role"`
	Volume string `json:"volume"`
	Path   string `json:"path"`
	// Object names what the file holds, such as a partition, if the engine numbers its files so that a plan cannot show
	// their paths. Otherwise it is empty.
	Object string `json:"object,omitempty"`
	Bytes  int64  `json:"bytes"` // size in bytes by the file system
	// Allocated is the storage that the file takes up, in bytes. It is absent if unknown.
	Allocated *int64 `json:"allocated,omitempty"`
	// Extents counts the contiguous pieces of storage that hold the file. It is absent if unknown.
	Extents *int `json:"extents,omitempty"`
	// EngineBytes is the file's size in bytes, as the engine reports it. It is absent if unknown.
	EngineBytes *int64 `json:"engine_bytes,omitempty"`
	// Used is the size of the file's pages in use, in bytes, as the engine reports it. It is absent if unknown.
	Used *int64 `json:"used,omitempty"`
	// Grew is the number of bytes by which a preallocated file has outgrown its initial size.
	Grew int64 `json:"grew,omitempty"`
	// Stays is set if Filewise may do nothing that removes the file. It is reported right after the trial.
	Stays bool `json:"-"`
}

// Sizes divides the spread's bytes over its files, in multiples of unit bytes. The first files get the rest.
func (s Spread) Sizes(unit int64) []int64 {
	sizes := make([]int64, s.Files)
	units := s.Bytes / unit
	for i := range sizes {
		n := units / int64(s.Files)
		if int64(i) < units%int64(s.Files) {
			n++
		}
		sizes[i] = n * unit
	}
	return sizes
}

// ServerBytes returns the data size by which a server's log and memory are set, in bytes.
func (l Layout) ServerBytes() int64 { return cmp.Or(l.SizedBy, l.Data.Bytes) }

// VolumeOf returns the volume of the spread's file i. volumes is Layout.DataVolumes, or Layout.BackupVolumes for
// backups.
func (s Spread) VolumeOf(i int, volumes []Volume) Volume {
	if s.Placement == PlaceRoundRobin || s.Placement == PlaceApart {
		return volumes[i%len(volumes)]
	}
	return volumes[0]
}

// Verify compares a build's data files with the requested ones: the number, the paths (or objects, if the engine
// numbers its files), the volumes and the sizes. A preallocated file must have exactly its size, held by the storage. A
// growing file must start with no more than its size. If worked is set, both may be larger. The error wraps ErrLayout.
func (l Layout) Verify(asked, found []File, worked bool) error {
	byPath, byObject := map[string]File{}, map[string]File{}
	n := 0
	for _, f := range found {
		if f.Role == RoleData {
			byPath[f.Path], byObject[f.Object] = f, f
			n++
		}
	}
	want := 0
	for _, a := range asked {
		if a.Role != RoleData {
			continue
		}
		want++
		f, ok := byPath[a.Path]
		if a.Object != "" {
			f, ok = byObject[a.Object]
		}
		if !ok {
			return fmt.Errorf("%w: there is no %s", ErrLayout, a.Path)
		}
		if f.Volume != a.Volume {
			return fmt.Errorf("%w: %s is on volume %s, not %s", ErrLayout, a.Path, f.Volume, a.Volume)
		}
		if err := l.verifySize(a, f, worked); err != nil {
			return err
		}
	}
	if err := verifyTemps(asked, found); err != nil {
		return err
	}
	if n != want {
		return fmt.Errorf("%w: %d data files, asked for %d", ErrLayout, n, want)
	}
	return nil
}

// verifyTemps compares the places of temporary files with the requested ones.
func verifyTemps(asked, found []File) error {
	there := map[string]string{}
	for _, f := range found {
		if f.Role == RoleTemp {
			there[f.Path] = f.Volume
		}
	}
	for _, a := range asked {
		if a.Role != RoleTemp {
			continue
		}
		if volume, ok := there[a.Path]; !ok || volume != a.Volume {
			return fmt.Errorf("%w: there is no %s on volume %s for temporary files", ErrLayout, a.Path, a.Volume)
		}
		delete(there, a.Path)
	}
	if len(there) > 0 {
		return fmt.Errorf("%w: %d temporary files more than asked for", ErrLayout, len(there))
	}
	return nil
}

func (l Layout) verifySize(asked, found File, worked bool) error {
	if found.EngineBytes != nil && *found.EngineBytes > found.Bytes && !worked {
		return fmt.Errorf("%w: %s has %d bytes, the engine claims %d", ErrLayout, found.Path, found.Bytes, *found.EngineBytes)
	}
	if l.Data.Allocation == Growing {
		if found.Bytes > asked.Bytes && !worked {
			return fmt.Errorf("%w: %s should grow from %d bytes and starts with %d", ErrLayout, found.Path, asked.Bytes, found.Bytes)
		}
		return nil
	}
	if found.Bytes < asked.Bytes || found.Bytes > asked.Bytes && !worked {
		return fmt.Errorf("%w: %s has %d bytes, asked for %d", ErrLayout, found.Path, found.Bytes, asked.Bytes)
	}
	if found.Allocated != nil && *found.Allocated < asked.Bytes {
		return fmt.Errorf("%w: %s has %d bytes, of which the storage holds only %d: the file system did not preallocate it",
			ErrLayout, found.Path, found.Bytes, *found.Allocated)
	}
	return nil
}
