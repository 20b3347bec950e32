package oracle

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
	workloadTemp    = "temp"
)

// objects are the names of a build's objects by those that the SQL of workloads of
// several phases has for them.
type objects struct {
	tables, indexes, procedures map[string]string
	loaded                      []string // tables that are loaded, in order
}

// objectsOf gives each table, index and procedure a number.
func objectsOf(n names, w string) objects {
	o := objects{tables: map[string]string{}, indexes: map[string]string{}, procedures: map[string]string{}}
	for _, t := range workload.LoadedTables(w) {
		o.loaded = append(o.loaded, t.Table)
	}
	tables, indexes := slices.Clone(o.loaded), slices.Clone(o.loaded)
	switch w {
	case workloadDML:
		tables, indexes = []string{"dml"}, []string{"dml"}
	case workloadOrders:
		indexes = append(indexes, "customer_name", "orders_customer")
	case workloadScan:
		for _, t := range o.loaded {
			indexes = append(indexes, t+"_name", t+"_values")
		}
	}
	for i, t := range append(tables, "loaded") {
		o.tables[t] = n.table(i).Name
	}
	for i, x := range append(indexes, "loaded") {
		o.indexes[x] = n.table(i).Key
	}
	for _, section := range workloads[w].Sections() {
		if p, ok := strings.CutPrefix(section, "procedure-"); ok {
			o.procedures[p] = n.table(len(o.procedures)).Procedure
		}
	}
	return o
}

// phased tells the workloads whose trials measure phases.
func (d *design) phased() bool { return len(d.program.Phases) > 0 }

// churns tells whether each transaction has a table that comes and goes before it.
func (d *design) churns() bool { return d.program.Vars["Churn"] == true }

// checkPhases refuses what the workloads of several phases cannot do here.
func (d *design) checkPhases() error {
	p, l := d.program, d.layout
	switch {
	case p.Workload == workloadBackup:
		return absent("use scenario inserts, orders, dml or scan", "workload backup on oracle: its backups are made by the client rman as SYSBACKUP, which records them in the control file of the whole database")
	case p.Workload == workloadTemp:
		return absent("lay the temporary tablespace out as you want it, run another scenario, and judge two such runs with filewise compare",
			"workload temp on oracle: an account has one temporary tablespace, which only its DBA can change")
	case !d.phased():
		return nil
	case l.AddedLater != "":
		return absent("use scenario inserts", "files added later in workload %s on oracle", p.Workload)
	case l.Indexes != "" && p.Workload == workloadDML && p.Vars["Index"] != true:
		return absent("add --index key", "indexes %s: workload dml has no index", l.Indexes)
	}
	for _, phase := range p.Phases {
		if phase.Cache != filewise.CacheAsIs {
			return absent("use --cache warm", "cache %s on oracle: the caches of an existing server serve all of its users, and Filewise empties none of them", phase.Cache)
		}
		for _, s := range operations.SectionsOf(phase) {
			if name := operations.Section(phase, s); phase.Act != filewise.ActWork || !workloads[p.Workload].Has(name) {
				return absent("choose another scenario", "workload %s on oracle has no section %q", p.Workload, name)
			}
		}
	}
	return nil
}

// programSections are the sections that create what phases call.
func (d *design) programSections() []string {
	var all []string
	for _, p := range d.program.Phases {
		for _, s := range operations.SectionsOf(p) {
			if name := "procedure-" + s; workloads[d.program.Workload].Has(name) && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// createdTables are the statements that create the workload's tables, and that by
// which a batch is known to be loaded.
func (d *design) createdTables() ([]statement, error) {
	all, err := d.statements("tables", table{})
	if err != nil || len(d.objects.loaded) == 0 {
		return all, err
	}
	more, err := askAll("loaded-batches", d.objectVars())
	return append(all, more...), err
}

// objectVars are the variables that name objects.
func (d *design) objectVars() vars {
	return vars{"T": d.objects.tables, "X": d.objects.indexes, "P": d.objects.procedures, "Loaded": d.objects.loaded,
		"Tablespace": d.names.Tablespace, "IndexTablespace": d.names.Index}
}

// finished are the statements that make indexes and statistics once the tables are
// loaded.
func (d *design) finished() ([]statement, error) {
	all, err := d.statements("indexes", table{})
	if err != nil {
		return nil, err
	}
	for _, t := range d.objects.loaded {
		s, err := ask("statistics", vars{"Table": d.objects.tables[t]})
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// loading is the statement that loads rows of a table.
func (d *design) loading(t filewise.TableData) (statement, error) {
	return ask("load", vars{"Table": d.objects.tables[t.Table], "Columns": t.Columns})
}
