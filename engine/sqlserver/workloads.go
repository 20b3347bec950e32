package sqlserver

import (
	"slices"
	"strings"

	"filewise/engine/internal/external"
	"filewise/engine/internal/operations"
	"filewise/engine/sqlserver/dialect"
	"filewise/lab/workload"
)

// Names of the objects that Filewise makes in a database, except those that end in a number; see sql/part/others.sql.
var (
	proceduresMade = []string{"fw_inserts", "fw_insert", "fw_select", "fw_update", "fw_delete",
		"fw_new_order", "fw_payment", "fw_order_status", "fw_delivery", "fw_stock_level", "fw_cycle"}
	tablesMade  = []string{"fw_rows", "fw_pool", "fw_dml", tableLoaded, "fw_sums", "fw_numbers"}
	columnsMade = []string{"id", "payload", "pool", "key", "random_int", "random_float", "table_name", "batch", "content",
		"row_id", "worker", "last", "cycles", "total", "n"}
)

// tableLoaded is the table that records loaded batches.
const tableLoaded = "fw_loaded"

// namesMade returns the names of tables, keys, procedures and columns, each as a list of literals.
func namesMade() (tables, keys, procedures, columns string) {
	names, fields := slices.Clone(tablesMade), slices.Clone(columnsMade)
	for _, p := range workload.Loading() {
		for _, t := range p.Tables {
			names, fields = append(names, t.Name), append(fields, t.Columns...)
		}
	}
	var named []string
	for _, n := range names {
		named = append(named, n+"_key")
	}
	slices.Sort(fields)
	return literals(names), literals(named), literals(proceduresMade), literals(slices.Compact(fields))
}

func literals(all []string) string {
	var quoted []string
	for _, s := range all {
		quoted = append(quoted, dialect.Literal(s))
	}
	return strings.Join(quoted, ", ")
}

// loaded returns the tables that are bulk-loaded, or none if the workload loads nothing.
func (d *design) loaded() []string {
	var names []string
	for _, t := range d.program.Tables {
		if t.Loaded {
			names = append(names, t.Name)
		}
	}
	return names
}

// checkPhases refuses what workloads of several phases cannot do here.
func (d *design) checkPhases() error {
	p := d.program
	if d.custom() {
		return d.checkCustom()
	}
	if err := external.CheckPhases("sqlserver", d.layout, p, sections[p.SQL()].Has); err != nil || !p.BacksUp() {
		return err
	}
	return d.checkBackup()
}

// procedureSections returns the sections that create the procedures called by phases.
func (d *design) procedureSections() []string {
	return operations.Procedures(d.program, sections[d.program.SQL()].Has)
}
