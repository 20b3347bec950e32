package postgres

import (
	"maps"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/script"
)

// writer writes the steps of a trial whose tables are there.
func (d *design) writer(on string) *script.Writer {
	return script.NewWriter(on, func(section string) ([]string, error) {
		return d.statements(section, d.tables[0])
	})
}

// create adds what creates tables and procedures in a new database.
func (d *design) create(w *script.Writer, on string) {
	if d.custom() {
		all, err := d.customSetup()
		w.AddAll(filewise.StageBuild, on, all, err)
		return
	}
	w.Sections(filewise.StageBuild, sectionTables)
	if d.indexedFirst() {
		for _, t := range d.tables {
			one := *d
			one.tables = []table{t}
			all, err := one.statements(sectionIndexes, t)
			w.AddAll(filewise.StageBuild, on, all, err)
		}
	}
	if d.loads() {
		all, err := signed(d.database, createLoaded)
		w.AddAll(filewise.StageBuild, on, all, err)
	}
	for _, section := range d.procedures() {
		for _, t := range d.procedureTables() {
			all, err := d.statements(section, t)
			w.AddAll(filewise.StageBuild, on, all, err)
		}
	}
}

// procedures are the sections of those that the phases call.
func (d *design) procedures() []string {
	var all []string
	for _, section := range sections[d.program.SQL()].Sections() {
		if name, is := strings.CutPrefix(section, prefixProcedure); is && d.calls(name) {
			all = append(all, section)
		}
	}
	return all
}

// calls tells whether a procedure is called: by the server's loop of a phase, or by the
// statements of operations of several types.
func (d *design) calls(procedure string) bool {
	if procedure == sectionChurn {
		return d.program.Churns()
	}
	return slices.ContainsFunc(d.program.Phases, func(p filewise.Phase) bool {
		return len(p.Types) > 0 || p.Act == filewise.ActWork && !p.Client && p.Section == procedure
	})
}

// load adds what loads the tables, indexes included.
func (d *design) load(w *script.Writer, on string) {
	for _, t := range d.tables {
		w.Add(filewise.StageLoad, on, copyStatement(t.Name, nil))
	}
	finish, err := d.finish()
	w.AddAll(filewise.StageLoad, on, slices.Concat(finish...), err)
}

// trial adds what a trial executes on the database that is built, and loaded.
func (d *design) trial(w *script.Writer, on string) {
	w.Add(filewise.StageSettle, onServer, checkpoint)
	if d.extends() {
		w.Sections(filewise.StageExtend, sectionLast)
		w.Sections(filewise.StageExtend, d.extension())
	}
	if d.custom() {
		customRules.Write(w, on, d.program, "BEGIN", "COMMIT")
		w.Add(filewise.StageDrain, onServer, checkpoint)
		return
	}
	d.work(w, on)
	w.Checks(sections[d.program.SQL()].Sections())
}

// work adds what sessions execute, and what else phases do.
func (d *design) work(w *script.Writer, on string) {
	settings := d.workloadSettings(map[string]string{})
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		w.Add(filewise.StageWarmUp, on, "SET "+name+" = "+settings[name])
	}
	if sections[d.program.SQL()].Has(sectionConnection) {
		w.Sections(filewise.StageWarmUp, sectionConnection)
	}
	if d.program.Churns() {
		w.Sections(filewise.StageMeasure, prefixStatement+sectionChurn)
	}
	p := d.program
	w.Work(p, func(p filewise.Phase) { d.backupSteps(w, p.Act) }, checkpoint)
}

// checkpoint settles and drains, on a server whose account may ask for it.
const checkpoint = "CHECKPOINT"
