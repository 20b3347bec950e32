package oracle

import (
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/external"
	"filewise/engine/internal/operations"
)

// objects maps the names in the SQL of workloads of several phases to the names of a build's objects.
type objects struct {
	tables, indexes, procedures map[string]string
	loaded                      []string // tables that are loaded, in order
}

// objectsOf numbers each table, index and procedure.
func objectsOf(n names, p filewise.Program) objects {
	o := objects{tables: map[string]string{}, indexes: map[string]string{}, procedures: map[string]string{}}
	var tables, further []string
	for _, t := range p.Tables {
		tables = append(tables, t.Name)
		for _, x := range t.Indexes {
			further = append(further, t.Name+"_"+x.Name)
		}
	}
	if p.Loads() {
		o.loaded = tables
	}
	indexes := slices.Concat(tables, further)
	for i, t := range append(slices.Clip(tables), "loaded") {
		o.tables[t] = n.table(i).Name
	}
	for i, x := range append(indexes, "loaded") {
		o.indexes[x] = n.table(i).Key
	}
	for _, section := range workloads[p.SQL()].Sections() {
		if name, ok := strings.CutPrefix(section, "procedure-"); ok {
			o.procedures[name] = n.table(len(o.procedures)).Procedure
		}
	}
	return o
}

// checkPhases refuses what workloads of several phases cannot do here.
func (d *design) checkPhases() error {
	p := d.program
	switch {
	case slices.ContainsFunc(p.Phases, func(x filewise.Phase) bool { return x.Act != filewise.ActWork }):
		return absent("use scenario inserts, orders, dml or scan",
			"workload %s on oracle: its backups are made by the client rman as SYSBACKUP, which records them in the control file of the whole "+
				"database",
			p.Workload)
	case p.Table().Temporary:
		return absent("lay the temporary tablespace out as you need it, run another scenario, and judge two such runs with filewise compare",
			"workload temp on oracle: an account has one temporary tablespace, which only its DBA can change")
	}
	if d.isCustom() {
		return d.checkCustom()
	}
	return external.CheckPhases("oracle", d.layout, p, workloads[p.SQL()].Has)
}

// programSections returns the sections that create the procedures called by phases.
func (d *design) programSections() []string {
	if d.program.Appends() {
		return []string{"package", "package-body"}
	}
	return operations.Procedures(d.program, workloads[d.program.SQL()].Has)
}

// createdTables returns the statements that create the workload's tables, and the table that records loaded
// batches.
func (d *design) createdTables() ([]statement, error) {
	all, err := d.statements("tables", d.tableOf(0))
	if err != nil || len(d.objects.loaded) == 0 {
		return all, err
	}
	more, err := askAll("loaded-batches", d.objectVars())
	return append(all, more...), err
}

// objectVars returns the variables that contain the objects' names.
func (d *design) objectVars() vars {
	return vars{"T": d.objects.tables, "X": d.objects.indexes, "P": d.objects.procedures, "Loaded": d.objects.loaded,
		"Tablespace": d.names.Tablespace, "IndexTablespace": d.names.Index}
}

// finished returns the statements that create indexes and gather statistics after the load.
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

// loading returns the statement that loads rows into a table.
func (d *design) loading(table string, columns []string) (statement, error) {
	return ask("load", vars{"Table": d.objects.tables[table], "Columns": columns})
}
