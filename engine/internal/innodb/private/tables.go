package private

import (
	"path/filepath"

	"filewise"
	"filewise/engine/internal/innodb"
)

// tableFile is where InnoDB puts the file of a table or partition, which on
// other volumes than the first is named by DATA DIRECTORY.
func (d *design) tableFile(i int, name string) (f dataFile, directory string) {
	p := d.placeOf(i)
	f = dataFile{volume: p.volume, bytes: d.emptyTable(), grows: true}
	if p == d.data[0] {
		f.path = filepath.Join(d.dataDir(), Database, name+".ibd")
		return f, ""
	}
	f.path = filepath.Join(p.dir, Database, name+".ibd")
	return f, innodb.DataDirectory(p.dir)
}

// emptyTable is the size of an empty table's file in bytes.
func (d *design) emptyTable() int64 { return d.product.Files.EmptyTablePages * d.pageSize() }

// ownGrowth refuses sizes that InnoDB alone decides.
func (d *design) ownGrowth() error {
	warnings, err := innodb.CheckOwnGrowth(d.layout, d.emptyTable())
	d.warnings = append(d.warnings, warnings...)
	return err
}

// perTable spreads the connections evenly over a table for each file.
func (d *design) perTable() error {
	if err := d.schema.CheckPerTable(d.layout.Data.Files); err != nil {
		return err
	}
	for i, t := range d.schema.Tables {
		f, directory := d.tableFile(i, t.Name)
		d.files = append(d.files, f)
		d.schema.Tables[i].Options = directory
		d.schema.Spots = append(d.schema.Spots, directory)
	}
	d.warnings = append(d.warnings, d.schema.WarnChurn()...)
	return d.ownGrowth()
}

// partitions spreads each table over a file for each partition.
func (d *design) partitions() error {
	files := d.layout.Data.Files
	warnings, err := d.schema.WarnPartitions(files)
	if err != nil {
		return err
	}
	d.warnings = append(d.warnings, warnings...)
	atFirst := d.layout.FilesAtFirst()
	for n, t := range d.schema.Tables {
		for p := range files {
			f, _ := d.tableFile(p, d.partitionFile(t, p))
			switch {
			case p < atFirst:
				d.files = append(d.files, f)
			case d.layout.AddedLater != filewise.LaterUntouched:
				d.later = append(d.later, f)
			}
		}
		d.schema.Tables[n].Options = d.partitionBy(t, atFirst)
	}
	for p := range atFirst {
		_, directory := d.tableFile(p, "")
		d.schema.Spots = append(d.schema.Spots, directory)
	}
	return d.ownGrowth()
}

// partitionFile is the name of a partition's file, without its ending.
func (d *design) partitionFile(t innodb.Table, p int) string {
	return t.Name + d.product.Files.Partition + innodb.PartitionName(p)
}

// partitionBy is the clause that gives a table n partitions.
func (d *design) partitionBy(t innodb.Table, n int) string {
	return innodb.PartitionByHash(t.Key, n, func(p int) string {
		_, directory := d.tableFile(p, d.partitionFile(t, p))
		return directory
	})
}
