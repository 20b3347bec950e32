package postgres

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"filewise"
)

// The workloads of several phases that this engine treats in a way of their own.
const (
	workloadScan   = "scan"
	workloadBackup = "backup"
	workloadDump   = "dump"
)

// The tables of scan, backup and dump, and the payload of a row of theirs in bytes,
// as package workload generates them.
const (
	fragTables   = 4
	fragRowBytes = 360
)

// fragmented tells the workloads on the four tables of scan.
func (d *design) fragmented() bool {
	return slices.Contains([]string{workloadScan, workloadBackup, workloadDump}, d.program.Workload)
}

// loads tells whether the workload's tables are loaded in bulk, and indexed then.
func (d *design) loads() bool { return sections[d.program.Workload].Has(sectionIndexes) }

// indexNames are the indexes of a leaf once all are made.
func (d *design) indexNames(l leaf) []string {
	leaf := l.Name
	switch {
	case d.orders():
		return ordersIndexes(l)
	case d.fragmented():
		return []string{leaf + "_pkey", leaf + "_name", leaf + "_values"}
	case len(d.program.Phases) == 0:
		return []string{leaf + "_pkey"}
	case d.program.Vars["Index"] == true:
		return []string{leaf + "_key"}
	}
	return nil
}

// connections are the most that work at the same time, loaders included.
func (d *design) connections() int {
	n := d.program.Connections
	for _, p := range d.program.Phases {
		n = max(n, p.Connections)
	}
	if d.loads() {
		n = max(n, loaders())
	}
	return n
}

// loaders is the number of batches that are loaded at the same time.
func loaders() int { return max(runtime.NumCPU(), 2) }

// rowCount is the number of rows that the program's workload is about.
func (d *design) rowCount() int64 {
	n, _ := d.program.Vars["Rows"].(int64)
	if d.fragmented() {
		n *= fragTables
	}
	return n
}

// PostgreSQL's least shared_buffers, and the proportion of data to cache in the
// experiment that scan repeats (1.5 GB to 128 MB).
const (
	leastScanPool = 128 << 10
	scanPart      = 12
	// pinned are the pages that one load, or index build, holds besides one of each
	// partition (up to MAX_PARTITION_BUFFERS, src/backend/commands/copyfrom.c).
	pinned, pinnedPartitions = 16, 32
)

func (d *design) scanPool() int64 {
	pins := int64(loaders()*(pinned+min(d.layout.Data.Files, pinnedPartitions))) * pageBytes
	return max(d.rowCount()*fragRowBytes/scanPart, leastScanPool, pins) / pageBytes * pageBytes
}

// checkPhases refuses what the workloads of several phases cannot do here.
func (d *design) checkPhases() error {
	p, l := d.program, d.layout
	refuse := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "%s: %w", fmt.Sprintf(format, args...), filewise.ErrUnsupported)
	}
	if l.Temp.Files > 0 && p.Workload != workloadTemp {
		return refuse("use scenario temp", "places of temporary files in workload %s on PostgreSQL", p.Workload)
	}
	if len(p.Phases) == 0 {
		return nil
	}
	if d.own() {
		return d.checkOwn()
	}
	for _, phase := range p.Phases {
		for _, section := range sectionsOf(phase) {
			if phase.Act == filewise.ActWork && !sections[p.Workload].Has(section) {
				return refuse("choose another scenario", "workload %s on postgres has no section %q", p.Workload, section)
			}
		}
	}
	switch {
	case l.AddedLater != "":
		return refuse("use scenario inserts", "files added later in workload %s on PostgreSQL", p.Workload)
	case d.orders():
		return d.checkOrders()
	case p.Workload == workloadBackup || p.Workload == workloadDump:
		return d.checkBackup()
	}
	return nil
}

// sectionsOf are the sections that a phase executes, by type of operation where
// there are several.
func sectionsOf(p filewise.Phase) []string {
	if len(p.Sections) == 0 && p.Client {
		return []string{prefixStatement + p.Section}
	}
	if len(p.Sections) == 0 {
		return []string{prefixCall + p.Section}
	}
	var all []string
	for _, section := range p.Sections {
		all = append(all, prefixStatement+section)
	}
	return all
}

// createForPhases adds the procedures of phases that loop on the server, and the
// table by which a batch is known to be loaded.
func (d *design) createForPhases(all []string) ([]string, error) {
	if d.loads() {
		all = append(all, createLoaded...)
	}
	if d.orders() {
		more, err := d.createOrders()
		return append(all, more...), err
	}
	made := map[string]bool{}
	for _, phase := range d.program.Phases {
		name := prefixProcedure + phase.Section
		if phase.Client || phase.Act != filewise.ActWork || made[name] {
			continue
		}
		made[name] = true
		p, err := d.statement(name, d.tables[0])
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// What a row of the workloads of several phases takes besides its payload, in bytes:
// header and line pointer, with dml its old version too; keys of all indexes.
const (
	dmlRowRoom  = 4 * 64
	fragKeyRoom = 40 + 100 + 36
)

// phasesRoom is the room for rows and for keys.
func (d *design) phasesRoom() (rows, keys int64) {
	if d.program.Workload == workloadTemp { // a row for each connection
		return mib, 0
	}
	n := d.rowCount()
	if d.orders() {
		return d.ordersRoom()
	}
	if !d.fragmented() {
		return n * dmlRowRoom, n * keyBytes * 2
	}
	rows, keys = n*(fragRowBytes+rowOverhead), n*fragKeyRoom
	if d.program.Workload != workloadScan { // the restored ones beside the originals
		rows, keys = 2*rows, 2*keys
	}
	return rows, keys
}

// workPhases adds what a trial of several phases executes.
func (s *script) workPhases(d *design, settle func(stage string)) error {
	if d.own() {
		settle(filewise.StageSettle)
		steps, err := ownRules.Steps(d.program)
		for _, x := range steps {
			s.add(x.Stage, "server", x.SQL)
		}
		settle(filewise.StageDrain)
		return err
	}
	if d.loads() {
		for _, t := range d.tables {
			s.add(filewise.StageLoad, "server", copyStatement(t.Name, nil))
		}
		finish, err := d.finish()
		if err != nil {
			return err
		}
		s.add(filewise.StageLoad, "server", slices.Concat(finish...)...)
	}
	settle(filewise.StageSettle)
	if d.orders() {
		return s.ordersSteps(d, settle)
	}
	for _, phase := range d.program.Phases {
		switch {
		case phase.Act == filewise.ActWork:
			all, err := d.statements(sectionsOf(phase)[0], d.tables[0])
			if err != nil {
				return err
			}
			s.add(filewise.StageMeasure, "server", all...)
		default:
			s.add(filewise.StageMeasure, "shell", d.backupSteps(phase.Act)...)
		}
		if phase.Act == filewise.ActWork && !d.program.ReadOnly {
			settle(filewise.StageDrain)
		}
	}
	check, err := d.statements(sectionCheck, d.tables[0])
	s.add(filewise.StageCheck, "server", check...)
	return err
}

// finish is what comes after the load: indexes, statistics, and marks on all rows
// that they are visible to everybody, so that no trial has to make these.
// It is table by table.
func (d *design) finish() ([][]string, error) {
	var all [][]string
	for _, t := range d.tables {
		one := *d
		one.tables = []table{t}
		statements, err := one.statements(sectionIndexes, t)
		if err != nil {
			return nil, err
		}
		all = append(all, append(statements, "VACUUM (FREEZE, ANALYZE) "+ident(t.Name)))
	}
	return all, nil
}

func copyStatement(table string, columns []string) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = ident(c)
	}
	list := ""
	if len(names) > 0 {
		list = " (" + strings.Join(names, ", ") + ")"
	}
	return "COPY " + ident(table) + list + " FROM STDIN"
}
