package oracle

import (
	"maps"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/operations"
	"filewise/workload"
)

// phased adds the steps of a trial of several phases.
func (w *scriptWriter) phased() {
	d := w.design
	w.files()
	all, err := d.createdTables()
	w.add(filewise.StageBuild, all, err)
	for _, section := range d.programSections() {
		w.workload(filewise.StageBuild, section, table{})
	}
	if len(d.objects.loaded) > 0 {
		w.load()
	}
	w.settle(filewise.StageSettle)
	for _, p := range d.program.Phases {
		w.phase(p)
	}
	if !d.program.ReadOnly {
		w.settle(filewise.StageDrain)
	}
	for _, section := range workloads[d.program.Workload].Sections() {
		if section == "check" || section == "totals" || strings.HasPrefix(section, "check-") {
			w.workload(filewise.StageCheck, section, table{})
		}
	}
	w.drop()
}

// load adds the load of each table, with the mark of its batch.
func (w *scriptWriter) load() {
	d := w.design
	w.server(filewise.StageLoad, "batch-loaded", d.objectVars())
	w.server(filewise.StageLoad, "mark-loaded", d.objectVars())
	for _, t := range workload.LoadedTables(d.program.Workload) {
		s, err := d.loading(t)
		w.add(filewise.StageLoad, []statement{s}, err)
	}
	all, err := d.finished()
	w.add(filewise.StageLoad, all, err)
}

// phase adds what a phase executes.
func (w *scriptWriter) phase(p filewise.Phase) {
	d := w.design
	if d.churns() {
		all, err := d.churnOf(0)
		w.add(filewise.StageMeasure, all, err)
	}
	done := map[string]bool{}
	for _, section := range operations.SectionsOf(p) {
		if !done[section] {
			done[section] = true
			w.workload(filewise.StageMeasure, operations.Section(p, section), table{})
		}
	}
}

// dropObjects adds the end of a build of several phases.
func (w *scriptWriter) dropObjects() {
	o := w.design.objects
	for _, section := range w.design.programSections() {
		w.server(filewise.StageDrop, "drop-program", vars{"Type": "PROCEDURE", "Name": o.procedures[strings.TrimPrefix(section, "procedure-")]})
	}
	for _, name := range slices.Sorted(maps.Values(o.tables)) {
		if len(o.loaded) > 0 || name != o.tables["loaded"] {
			w.server(filewise.StageDrop, "drop-table", vars{"Name": name})
		}
	}
	w.dropTablespaces()
}
