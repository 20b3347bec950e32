package postgres

import (
	"cmp"
	"runtime"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/session"
	"filewise/engine/postgres/dialect"
)

// loads reports whether the workload's tables are bulk-loaded and then indexed.
func (d *design) loads() bool { return sections[d.program.SQL()].Has(sectionIndexes) }

// indexedFirst reports whether the indexes exist before the tables are loaded.
func (d *design) indexedFirst() bool { return d.program.Table().IndexedFirst }

// indexNames returns a leaf's indexes after all are made.
func (d *design) indexNames(l leaf) []string {
	switch p := d.program; {
	case p.Loads():
		i := slices.IndexFunc(p.Tables, func(t filewise.Table) bool { return t.Name == cmp.Or(l.Of, l.Name) })
		return loadedIndexes(p.Tables[i], l)
	case p.Appends():
		return []string{l.Name + "_pkey"}
	case len(p.Table().Key) > 0:
		return []string{l.Name + "_key"}
	}
	return nil
}

// procedureTables returns the tables that have their own procedures. Otherwise each procedure serves all tables.
func (d *design) procedureTables() []table {
	if d.program.Appends() {
		return d.tables
	}
	return d.tables[:1]
}

// connections returns the most connections that work at the same time, loaders included.
func (d *design) connections() int {
	n := d.program.Connections()
	if d.loads() {
		n = max(n, loaders())
	}
	return n
}

// loaders returns how many batches are loaded in parallel.
func loaders() int { return max(runtime.NumCPU(), 2) }

// rowCount returns how many rows the program's workload has.
func (d *design) rowCount() int64 {
	if !d.program.Loads() {
		return d.program.Table().Rows
	}
	n := int64(0)
	for _, t := range d.program.Tables {
		n += t.Rows
	}
	return n
}

// The smallest shared_buffers of PostgreSQL, and the ratio of data to cache in the experiment that scan repeats (1.5 GB
// to 128 MB).
const (
	leastScanPool = 128 << 10
	scanPart      = 12
	// A load or an index build holds up to pinned pages, and one page for each partition, of which at most
	// pinnedPartitions count (MAX_PARTITION_BUFFERS, src/backend/commands/copyfrom.c).
	pinned, pinnedPartitions = 16, 32
)

func (d *design) scanPool() int64 {
	pins := int64(loaders()*(pinned+min(d.layout.Data.Files, pinnedPartitions))) * pageBytes
	return max(d.rowCount()*d.program.Table().RowBytes/scanPart, leastScanPool, pins) / pageBytes * pageBytes
}

// checkPhases refuses what workloads of several phases cannot do here.
func (d *design) checkPhases() error {
	p, l := d.program, d.layout
	if l.Temp.Files > 0 && !p.Table().Temporary {
		return refuse("use scenario temp", "places of temporary files in workload %s on PostgreSQL", p.Workload)
	}
	if p.Appends() {
		return nil
	}
	if d.custom() {
		return d.checkCustom()
	}
	for _, phase := range p.Phases {
		_, err := session.Render(phase, func(section string) (string, error) {
			if phase.Act == filewise.ActWork && !sections[p.SQL()].Has(section) {
				return "", refuse("choose another scenario", "workload %s on postgres has no section %q", p.Workload, section)
			}
			return section, nil
		})
		if err != nil {
			return err
		}
	}
	switch {
	case l.AddedLater != "":
		return refuse("use scenario inserts", "files added later in workload %s on PostgreSQL", p.Workload)
	case p.Sharding != nil:
		return p.Sharding.Fits(l.Data.Files, "partition")
	case p.BacksUp():
		return d.checkBackup()
	}
	return nil
}

// Bytes that a row takes in addition to its payload in workloads of several phases. They cover header and line pointer,
// with dml the old version too, and the keys of all indexes.
const (
	dmlRowRoom  = 4 * 64
	fragKeyRoom = 40 + 100 + 36
)

// phasesRoom returns the space for rows and for keys.
func (d *design) phasesRoom() (rows, keys int64) {
	if d.program.Table().Temporary { // one row for each connection
		return mib, 0
	}
	n := d.rowCount()
	if d.program.Sharding != nil {
		return d.ordersRoom()
	}
	if !d.program.Loads() {
		return n * dmlRowRoom, n * keyBytes * 2
	}
	rows, keys = n*(d.program.Table().RowBytes+rowOverhead), n*fragKeyRoom
	if d.program.BacksUp() { // the restored files lie next to the originals
		rows, keys = 2*rows, 2*keys
	}
	return rows, keys
}

// finish returns the statements after the load, table by table: indexes, statistics, and visibility marks on all rows.
// So no trial has to do this work.
func (d *design) finish() ([][]string, error) {
	var all [][]string
	for _, t := range d.tables {
		one := *d
		one.tables = []table{t}
		var statements []string
		var err error
		if !d.indexedFirst() {
			statements, err = one.statements(sectionIndexes, t)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, append(statements, "VACUUM (FREEZE, ANALYZE) "+dialect.Ident(t.Name)))
	}
	return all, nil
}

func copyStatement(table string, columns []string) string {
	names := filewise.Each(columns, dialect.Ident)
	list := ""
	if len(names) > 0 {
		list = " (" + strings.Join(names, ", ") + ")"
	}
	return "COPY " + dialect.Ident(table) + list + " FROM STDIN"
}
