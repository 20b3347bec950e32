package oracle

import (
	"filewise"
	"filewise/engine/internal/mark"
)

// Script says what a build would create and execute. It connects to nothing, so it
// has blocks of the usual size, and a name that stands for the build's.
func (Engine) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	d, err := newDesign(t, l, p, planNames(l.Indexes == filewise.IndexesApart), usualBlock)
	if err != nil {
		return filewise.Script{}, err
	}
	s := filewise.Script{Space: d.space(), Warnings: d.warnings}
	for _, f := range append(d.files[:len(d.files):len(d.files)], d.index...) {
		s.Files = append(s.Files, f.asked())
	}
	w := scriptWriter{design: d, script: &s}
	if d.phased() {
		w.phased()
		return s, w.err
	}
	w.build()
	if d.layout.AddedLater != "" {
		for _, f := range d.files[len(d.atFirst()):] {
			w.file(filewise.StageLoad, f)
		}
		if d.layout.AddedLater == filewise.LaterRebuilt {
			w.server(filewise.StageLoad, "rebuild", vars{"Tables": d.tables})
		}
	}
	w.settle(filewise.StageSettle)
	w.workload(filewise.StageMeasure, "call", d.tables[0])
	w.settle(filewise.StageDrain)
	w.workload(filewise.StageCheck, "check", d.tables[0])
	w.drop()
	return s, w.err
}

// scriptWriter adds the steps of a script, in the order of execution.
type scriptWriter struct {
	design *design
	script *filewise.Script
	err    error
}

func (w *scriptWriter) add(stage string, all []statement, err error) {
	if w.err == nil {
		w.err = err
	}
	for _, s := range all {
		w.script.Steps = append(w.script.Steps, filewise.Step{Stage: stage, On: "server", SQL: s.text})
	}
}

func (w *scriptWriter) server(stage, section string, v vars) {
	all, err := askAll(section, v)
	w.add(stage, all, err)
}

func (w *scriptWriter) workload(stage, section string, t table) {
	d := w.design
	if section == "package-body" { // without the long text, which is random letters
		short := *d
		short.program.Args = nil
		d = &short
	}
	all, err := d.statements(section, t)
	w.add(stage, all, err)
}

func (w *scriptWriter) build() {
	w.files()
	d := w.design
	for _, section := range []string{"tables", "package", "package-body"} {
		w.workload(filewise.StageBuild, section, d.tables[0])
	}
	for _, t := range d.tables {
		w.workload(filewise.StageBuild, "insert", t)
	}
}

// files adds the tablespaces with their marks and files.
func (w *scriptWriter) files() {
	d := w.design
	for _, f := range append([]datafile{d.files[0]}, d.index...) {
		v, err := d.createVars(f)
		w.add(filewise.StageBuild, nil, err)
		w.server(filewise.StageBuild, "create", v)
		w.server(filewise.StageBuild, "marker", v)
		w.server(filewise.StageBuild, "mark", vars{"Tablespace": f.tablespace, "Mark": planMark})
	}
	for _, f := range d.atFirst()[1:] {
		w.file(filewise.StageBuild, f)
	}
}

// planMark stands in plans for the mark.
const planMark = "(Filewise's mark of " + mark.PlanName + ")"

func (w *scriptWriter) file(stage string, f datafile) {
	clause, err := f.clause()
	w.add(stage, nil, err)
	w.server(stage, "add-file", vars{"Tablespace": f.tablespace, "File": clause})
}

func (w *scriptWriter) settle(stage string) {
	for _, name := range w.tablespaces() {
		w.server(stage, "offline", vars{"Tablespace": name})
		w.server(stage, "online", vars{"Tablespace": name})
	}
}

func (w *scriptWriter) tablespaces() []string {
	n := w.design.names
	if n.Index == n.Tablespace {
		return []string{n.Tablespace}
	}
	return []string{n.Index, n.Tablespace}
}

func (w *scriptWriter) drop() {
	d := w.design
	if d.phased() {
		w.dropObjects()
		return
	}
	for _, t := range d.tables {
		w.server(filewise.StageDrop, "drop-program", vars{"Type": "PROCEDURE", "Name": t.Procedure})
	}
	w.server(filewise.StageDrop, "drop-program", vars{"Type": "PACKAGE", "Name": d.names.Package})
	for _, t := range d.tables {
		w.server(filewise.StageDrop, "drop-table", vars{"Name": t.Name})
	}
	w.dropTablespaces()
}

func (w *scriptWriter) dropTablespaces() {
	for _, name := range w.tablespaces() {
		w.server(filewise.StageDrop, "offline", vars{"Tablespace": name})
		w.server(filewise.StageDrop, "drop", vars{"Tablespace": name})
	}
}
