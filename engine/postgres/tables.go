package postgres

import (
	"fmt"

	"filewise"
	"filewise/engine/postgres/internal/client"
)

// lay makes the tables: those that the workload names, the shared one, or one for
// each connection.
func (d *design) lay() {
	n := 1
	switch {
	case d.custom():
		d.layCustom()
		return
	case d.program.Sharding != nil:
		d.layShards()
		return
	case d.program.Loads():
		for i, t := range d.program.Tables {
			d.tables = append(d.tables, d.laid(table{Name: t.Name, Number: i + 1}))
		}
		return
	}
	if d.program.Table().PerConnection {
		n = d.program.Connections()
	}
	for i := range n {
		t := table{Name: rowsTable, Procedure: procedure}
		if n > 1 {
			t = table{Name: fmt.Sprintf("%s_%04d", rowsTable, i), Procedure: fmt.Sprintf("%s_%04d", procedure, i)}
		}
		t.Loaded, t.New = t.Name+"_loaded", t.Name+"_new"
		d.tables = append(d.tables, d.laid(t))
	}
}

// laid spreads a table as the layout says.
func (d *design) laid(t table) table {
	switch {
	case d.layout.AddedLater != "":
		t.Leaves = []leaf{d.leaf(t.Name, 0)}
		t.Added = d.added(t)
	case d.partitioned():
		t.Partitioned, t.Leaves = true, d.hash(t.Name, t.Name, 0, d.layout.Data.Files)
	default:
		t.Leaves = []leaf{d.leaf(t.Name, 0)}
	}
	return t
}

// leaf is the table or partition of data file i.
func (d *design) leaf(name string, i int) leaf {
	l := leaf{Name: name, space: d.spaceOf(i)}
	l.index = l.space
	if d.index != nil {
		l.index = *d.index
	}
	l.Index, l.IndexSpace = l.index.clause(" USING INDEX TABLESPACE "), l.index.clause(" TABLESPACE ")
	if d.wide() {
		l.Options = " WITH (toast_tuple_target = 8160)"
	}
	l.Options += l.space.clause(" TABLESPACE ")
	return l
}

// hash are the partitions of data files first … files−1.
func (d *design) hash(table, of string, first, files int) []leaf {
	var all []leaf
	for i := first; i < files; i++ {
		l := d.leaf(client.PartitionName(table, i), i)
		l.Of, l.Values = of, fmt.Sprintf("FOR VALUES WITH (MODULUS %d, REMAINDER %d)", files-first, i-first)
		all = append(all, l)
	}
	return all
}

// added are the partitions that come with the files that are added later.
func (d *design) added(t table) []leaf {
	switch d.layout.AddedLater {
	case filewise.LaterNewData:
		return d.hash(t.Name, t.New, 1, d.layout.Data.Files)
	case filewise.LaterRebuilt:
		return d.hash(t.Name, t.Name, 0, d.layout.Data.Files)
	}
	return nil
}

// tableOf is the table of a worker.
func (d *design) tableOf(worker int) table { return d.tables[worker%len(d.tables)] }

// extends tells whether files are added to the layout at all.
func (d *design) extends() bool {
	switch d.layout.AddedLater {
	case filewise.LaterNewData:
		return d.layout.Data.Files > 1
	case filewise.LaterRebuilt:
		return true
	}
	return false
}

// leaves are all tables that hold rows, in the order of the files: as built, or
// once the files were added.
func (d *design) leaves(extended bool) []leaf {
	var all []leaf
	for _, t := range d.tables {
		switch {
		case !extended || !d.extends():
			all = append(all, t.Leaves...)
		case d.layout.AddedLater == filewise.LaterNewData:
			loaded := t.Leaves[0]
			loaded.Name = t.Loaded
			all = append(append(all, loaded), t.Added...)
		default:
			all = append(all, t.Added...)
		}
	}
	return all
}
