package sqlserver

import (
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/operations"
	"filewise/workload"
)

// The workloads that this engine treats in a way of their own.
const (
	workloadInserts = "inserts"
	workloadDML     = "dml"
	workloadScan    = "scan"
	workloadOrders  = "orders"
	workloadBackup  = "backup"
)

// loadedNames are the names of those tables.
func loadedNames(name string) []string {
	var names []string
	for _, t := range workload.LoadedTables(name) {
		names = append(names, t.Table)
	}
	return names
}

// The names of what Filewise makes in a database, besides those that have a number
// at their end; see sql/strangers.sql.
var (
	ownProcedures = []string{"fw_inserts", "fw_insert", "fw_select", "fw_update", "fw_delete",
		"fw_new_order", "fw_payment", "fw_order_status", "fw_delivery", "fw_stock_level"}
	ownTables  = []string{"fw_rows", "fw_pool", "fw_dml", tableLoaded}
	ownColumns = []string{"id", "payload", "pool", "key", "random_int", "random_float", "table_name", "batch", "content"}
)

// tableLoaded is the table by which a batch is known to be loaded.
const tableLoaded = "fw_loaded"

// ownNames are tables, their keys, procedures and columns, each as a list of
// literals.
func ownNames() (tables, keys, procedures, columns string) {
	names, fields := slices.Clone(ownTables), slices.Clone(ownColumns)
	for _, w := range []string{workloadOrders, workloadScan} {
		for _, t := range workload.LoadedTables(w) {
			names, fields = append(names, t.Table), append(fields, t.Columns...)
		}
	}
	var own []string
	for _, n := range names {
		own = append(own, n+"_key")
	}
	slices.Sort(fields)
	return literals(names), literals(own), literals(ownProcedures), literals(slices.Compact(fields))
}

func literals(all []string) string {
	var quoted []string
	for _, s := range all {
		quoted = append(quoted, literal(s))
	}
	return strings.Join(quoted, ", ")
}

// phased tells the workloads whose trials measure phases.
func (d *design) phased() bool { return len(d.program.Phases) > 0 }

// loaded are the tables that are loaded in bulk; none: the workload loads none.
func (d *design) loaded() []string { return loadedNames(d.program.Workload) }

// checkPhases refuses what the workloads of several phases cannot do here.
func (d *design) checkPhases() error {
	p, l := d.program, d.layout
	switch {
	case !d.phased():
		return nil
	case p.WorksBeside():
		return unsupported("leave --beside out", "a load beside a backup on sqlserver: Filewise has none for it yet, only for sqlite, mariadb and postgres")
	case l.AddedLater != "":
		return unsupported("use scenario inserts", "files added later in workload %s on sqlserver", p.Workload)
	case l.Indexes != "" && p.Workload == workloadDML && p.Vars["Index"] != true:
		return unsupported("add --index key", "indexes %s: workload dml has no index", l.Indexes)
	}
	for _, phase := range p.Phases {
		if phase.Cache != filewise.CacheAsIs {
			return unsupported("use --cache warm", "cache %s on sqlserver: the caches of an existing server serve all of its databases, and Filewise empties none of them", phase.Cache)
		}
		if phase.Act != filewise.ActWork {
			continue
		}
		for _, s := range operations.SectionsOf(phase) {
			if name := operations.Section(phase, s); !sections[p.Workload].Has(name) {
				return unsupported("choose another scenario", "workload %s on sqlserver has no section %q", p.Workload, name)
			}
		}
	}
	if p.Workload == workloadBackup {
		return d.checkBackup()
	}
	return nil
}

// churns tells whether each transaction has a table that comes and goes before it.
func (d *design) churns() bool { return d.program.Vars["Churn"] == true }

// createProcedures are the sections that create what phases call.
func (d *design) procedureSections() []string {
	var all []string
	for _, p := range d.program.Phases {
		for _, s := range operations.SectionsOf(p) {
			if name := "procedure-" + s; sections[d.program.Workload].Has(name) && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
