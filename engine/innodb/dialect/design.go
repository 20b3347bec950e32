package dialect

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"filewise"
)

// Design holds a layout resolved into tables and files, on a managed or an external server.
type Design struct {
	Schema
	Product  *Product
	Target   filewise.Target
	Layout   filewise.Layout
	Page     int64  // bytes
	Files    []File // the files that a build creates
	Later    []File // the files that Extend adds
	Warnings []filewise.Warning
	// Spaces holds the names of MySQL's general tablespaces, which hold whole tables of a dump, and MakeSpaces the
	// statements that make them.
	Spaces, MakeSpaces []string
	parted             bool // tables are partitioned
	// Place returns the layout's file i (of a table or partition), and the directory for DATA DIRECTORY. If the directory
	// is empty, the server chooses the place.
	Place func(i int, name string) (f File, directory string)
}

// File is a file that the layout demands. If Bytes is 0, InnoDB decides its size.
type File struct {
	filewise.File
	Grows bool
}

// All returns the files, including the files that Extend adds.
func (d *Design) All() []File { return slices.Concat(d.Files, d.Later) }

// Asked returns the files as a build creates them.
func Asked(files []File) []filewise.File {
	return filewise.Each(files, func(f File) filewise.File { return f.File })
}

// Warn adds a warning about the layout.
func (d *Design) Warn(code, remedy, format string, args ...any) {
	d.Warnings = append(d.Warnings, filewise.Warning{Code: code, Message: fmt.Sprintf(format, args...), Remedy: remedy})
}

// EmptyTable returns the size of an empty table's file in bytes.
func (d *Design) EmptyTable() int64 { return d.Product.Files.EmptyTablePages * d.Page }

// CheckSpread refuses numbers of files and the like that no layout can have.
func CheckSpread(l filewise.Layout) error {
	if s := l.Data; s.Files < 1 || s.Bytes < 0 || s.Growth < 0 {
		return filewise.Errorf(filewise.CodeUsage, "", "a layout of %d files and %d bytes growing by %d", s.Files, s.Bytes, s.Growth)
	}
	return nil
}

// PerTable spreads the connections evenly over one table for each file.
func (d *Design) PerTable() error {
	if err := d.CheckPerTable(d.Layout.Data.Files); err != nil {
		return err
	}
	for i, t := range d.Tables {
		f, directory := d.place(i, FileName(t.Name))
		d.Files = append(d.Files, f)
		d.Tables[i].Options = directory
		d.Spots = append(d.Spots, directory)
	}
	d.Warnings = append(d.Warnings, d.WarnChurn()...)
	return nil
}

// General moves the tables of a volume that Place gives a directory into one general tablespace there, as apply does.
func (d *Design) General() {
	files := d.Files
	d.Files, d.Spots = nil, nil
	for i, f := range files {
		_, directory := d.Place(i, "")
		if directory == "" {
			d.Files = append(d.Files, f)
			continue
		}
		name := "volume_" + strconv.Itoa(slices.IndexFunc(d.Target.Volumes, func(v filewise.Volume) bool { return v.Name == f.Volume }))
		d.Tables[i].Options = " TABLESPACE = " + Ident(name)
		if slices.Contains(d.Spaces, name) {
			continue
		}
		f.Path = path.Join(directory, name+".ibd")
		d.Files, d.Spaces = append(d.Files, f), append(d.Spaces, name)
		d.MakeSpaces = append(d.MakeSpaces, MakeTablespace(name, directory))
	}
}

// MakeTablespace returns the statement that makes a general tablespace of a file in a directory.
func MakeTablespace(name, directory string) string {
	file := strings.TrimRight(directory, "/") + "/" + name + ".ibd"
	return "CREATE TABLESPACE " + Ident(name) + " ADD DATAFILE " + Literal(file) + " ENGINE = InnoDB"
}

// Partitions spreads each table over a file for each partition.
func (d *Design) Partitions() error {
	if err := CheckPartitions(d.Layout.Data.Files); err != nil {
		return err
	}
	files, atFirst := d.Layout.Data.Files, d.Layout.FilesAtFirst()
	if d.Layout.AddedLater == filewise.LaterUntouched {
		files = atFirst
	}
	warnings, err := d.WarnPartitions(files)
	if err != nil {
		return err
	}
	d.Warnings, d.parted = append(d.Warnings, warnings...), true
	for n, t := range d.Tables {
		for p := range files {
			f, directory := d.place(p, d.partition(t, p))
			switch {
			case p >= atFirst:
				d.Later = append(d.Later, f)
				continue
			case n == 0:
				d.Spots = append(d.Spots, directory)
			}
			d.Files = append(d.Files, f)
		}
		d.Tables[n].Options = d.partitionBy(t, atFirst)
	}
	return nil
}

func (d *Design) place(i int, name string) (f File, directory string) {
	f, directory = d.Place(i, name)
	f.Role, f.Bytes, f.Grows = filewise.RoleData, d.EmptyTable(), true
	return f, DataDirectory(directory)
}

// partition returns the file name of a partition, without its extension.
func (d *Design) partition(t Table, p int) string {
	return FileName(t.Name) + d.Product.Files.Partition + PartitionName(p)
}

// partitionBy returns the clause that divides a table into n partitions.
func (d *Design) partitionBy(t Table, n int) string {
	return PartitionByHash(t.Key, n, func(p int) string {
		_, directory := d.place(p, d.partition(t, p))
		return directory
	})
}

// Rebuild returns the statements that spread loaded rows over all files, or none if the layout leaves the rows where
// they are.
func (d *Design) Rebuild() []string {
	if d.Layout.AddedLater != filewise.LaterRebuilt {
		return nil
	}
	var all []string
	for _, t := range d.Tables {
		how := " FORCE"
		if d.parted {
			how = d.partitionBy(t, d.Layout.Data.Files)
		}
		all = append(all, "ALTER TABLE "+in(d.Database, t.Name)+how)
	}
	return all
}

// FlushForExport returns the statement that makes InnoDB write all pages of these tables to their files. It also blocks
// changes to the tables until they are unlocked.
func (s Schema) FlushForExport(local string) string {
	names := filewise.Each(s.Tables, func(t Table) string { return in(s.Database, t.Name) })
	return "FLUSH " + local + "TABLES " + strings.Join(names, ", ") + " FOR EXPORT"
}

// TableFiles returns the tables' files by path, from InnoDB's catalogue, without the tables in apart, which are not part of
// the layout. plain converts a path to the design's form.
func (d *Design) TableFiles(ctx context.Context, db Queryer, plain func(path string) string, apart ...string) (map[string]TableFile,
	error) {
	if err := d.Spell(ctx, db); err != nil {
		return nil, err
	}
	condition, names := "t.NAME LIKE ?", []any{EscapeLike(d.Database) + "/%"}
	for _, name := range d.Spaces {
		condition, names = condition+" OR t.NAME = ?", append(names, name)
	}
	files, err := d.Product.TableFiles(ctx, db, condition, names...)
	all := map[string]TableFile{}
	for _, f := range files {
		if f.Path = plain(f.Path); !slices.Contains(append(apart, LoadedTable), strings.TrimSuffix(path.Base(f.Path), ".ibd")) {
			all[f.Path] = f
		}
	}
	return all, err
}

// EscapeLike returns a LIKE pattern that matches exactly the text.
func EscapeLike(text string) string {
	return strings.NewReplacer(`\`, `\\`, "_", `\_`, "%", `\%`).Replace(text)
}
