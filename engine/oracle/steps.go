package oracle

import (
	"maps"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/script"
)

// Places of steps. A step that alters a tablespace or its contents is done only after the marker was read.
const (
	onServer     = "server"
	inTablespace = "tablespace "
)

// steps returns a trial's steps. Plans print them, and builds execute them. marker returns the text with which a
// tablespace is marked.
func (d *design) steps(marker func(tablespace string) (string, error)) (script.Steps, error) {
	w := script.NewWriter(onServer, func(section string) ([]string, error) {
		all, err := d.statements(section, d.tableOf(0))
		return textsOf(all), err
	})
	s := stepper{w, d}
	s.files(marker)
	if d.isCopy() {
		s.copy()
	} else if d.isCustom() {
		all, err := d.customSetup()
		s.Rendered(filewise.StageBuild, onServer, "custom", all, err)
	} else {
		s.program()
	}
	s.load()
	s.made()
	s.extend()
	s.settle(filewise.StageSettle)
	if d.isCustom() {
		s.custom()
	} else {
		s.work()
	}
	s.settle(filewise.StageDrain)
	if !d.isCustom() {
		w.Checks(workloads[d.program.SQL()].Sections())
	}
	s.drop()
	return w.Steps()
}

func textsOf(all []statement) []string {
	return filewise.Each(all, func(s statement) string { return s.text })
}

type stepper struct {
	*script.Writer
	d *design
}

func (s stepper) rendered(stage, on string, all []statement, err error) {
	s.Rendered(stage, on, "", nil, err)
	for _, x := range all {
		s.Rendered(stage, on, x.section, []string{x.text}, nil)
	}
}

// server adds a section of server.sql.
func (s stepper) server(stage, on, section string, v vars) {
	all, err := askAll(section, v)
	s.rendered(stage, on, all, err)
}

// files adds the tablespaces, each marked before anything else is put into it, and their files.
func (s stepper) files(marker func(tablespace string) (string, error)) {
	d := s.d
	for _, f := range append([]datafile{d.files[0]}, d.index...) {
		v, err := d.createVars(f)
		s.rendered(filewise.StageBuild, onServer, nil, err)
		s.server(filewise.StageBuild, onServer, "create", v)
		s.server(filewise.StageBuild, onServer, "marker", v)
		text, err := marker(f.tablespace)
		s.rendered(filewise.StageBuild, onServer, nil, err)
		s.server(filewise.StageBuild, onServer, "mark", vars{"Tablespace": f.tablespace, "Mark": text})
	}
	s.add(filewise.StageBuild, d.atFirst()[1:])
}

// add adds files to their tablespace.
func (s stepper) add(stage string, files []datafile) {
	for _, f := range files {
		clause, err := f.clause()
		s.rendered(stage, onServer, nil, err)
		s.server(stage, inTablespace+f.tablespace, "add-file", vars{"Tablespace": f.tablespace, "File": clause})
	}
}

func (d *design) createVars(f datafile) (vars, error) {
	clause, err := f.clause()
	kind := "SMALLFILE"
	if d.bigfile() && f.role == filewise.RoleData {
		kind = "BIGFILE"
	}
	return vars{"Type": kind, "Tablespace": f.tablespace, "File": clause, "Uniform": d.uniform() / kib}, err
}

// program adds the tables, and the procedures that work on them.
func (s stepper) program() {
	d := s.d
	all, err := d.createdTables()
	s.rendered(filewise.StageBuild, onServer, all, err)
	s.Sections(filewise.StageBuild, d.programSections()...)
	for _, t := range d.tables {
		all, err := d.statements("procedure-insert", t)
		s.rendered(filewise.StageBuild, onServer, all, err)
	}
}

// load adds the load of each table, with the record of its batches.
func (s stepper) load() {
	d := s.d
	if len(d.objects.loaded) == 0 {
		return
	}
	s.server(filewise.StageLoad, onServer, "batch-loaded", d.objectVars())
	s.server(filewise.StageLoad, onServer, "mark-loaded", d.objectVars())
	for _, t := range d.program.Tables {
		one, err := d.loading(t.Name, t.Columns)
		s.rendered(filewise.StageLoad, onServer, []statement{one}, err)
	}
	all, err := d.finished()
	s.rendered(filewise.StageLoad, inTablespace+d.names.Tablespace, all, err)
}

// made adds storing the sum of the definitions, which plans do not have yet. Custom SQL is left out, because it can
// make anything.
func (s stepper) made() {
	d, stage := s.d, filewise.StageBuild
	if len(d.objects.loaded) > 0 {
		stage = filewise.StageLoad
	}
	if !d.isCustom() {
		s.server(stage, inTablespace+d.names.Tablespace, "made", vars{"Tablespace": d.names.Tablespace, "Sum": sumLater})
	}
}

const sumLater = "the sum of all definitions"

// extend adds the files that are added later. A rebuild moves every table, which needs its space twice for a while.
func (s stepper) extend() {
	d := s.d
	s.add(filewise.StageExtend, d.files[len(d.atFirst()):])
	if d.layout.AddedLater == filewise.LaterRebuilt {
		s.server(filewise.StageExtend, inTablespace+d.names.Tablespace, "rebuild", vars{"Tables": d.tables})
	}
}

// settle adds the statements that write all changes to the files.
func (s stepper) settle(stage string) {
	if stage == filewise.StageDrain && s.d.program.ReadOnly {
		return
	}
	for _, name := range s.d.tablespaces() {
		s.server(stage, inTablespace+name, "offline", vars{"Tablespace": name})
		s.server(stage, inTablespace+name, "online", vars{"Tablespace": name})
	}
}

func (d *design) tablespaces() []string {
	if d.names.Index == d.names.Tablespace {
		return []string{d.names.Tablespace}
	}
	return []string{d.names.Tablespace, d.names.Index}
}

// work adds what sessions execute.
func (s stepper) work() {
	d := s.d
	if d.program.Churns() {
		all, err := d.churnOf(0)
		s.rendered(filewise.StageMeasure, onServer, all, err)
	}
	p := d.program
	s.Work(p, nil)
}

// churnOf returns the statements of a worker's table that is created and dropped before each operation. The name is
// fixed per worker, because the server allows no name long enough to differ for each transaction.
func (d *design) churnOf(worker int) ([]statement, error) {
	all, err := d.statementsWith("churn", table{}, vars{"ChurnTable": d.names.Tablespace + suffix(churnLetters, worker)})
	if err == nil && len(all) != 3 {
		err = filewise.Errorf(filewise.CodeInternal, "", "section churn has %d statements", len(all))
	}
	return all, err
}

// drop adds the end of a build. The server lists what to drop.
func (s stepper) drop() {
	d, o := s.d, s.d.objects
	if d.isCopy() {
		s.server(filewise.StageDrop, inTablespace+d.names.Tablespace, "copy-drop-user", d.copyVars())
	}
	program := func(kind, name string) {
		s.server(filewise.StageDrop, onServer, "drop-program", vars{"Type": kind, "Name": name})
	}
	for _, t := range d.tables {
		program("PROCEDURE", t.Procedure)
	}
	for _, x := range d.custom.Programs {
		program(x[0], x[1])
	}
	if len(d.tables) > 0 {
		program("PACKAGE", d.names.Package)
	} else if !d.isCustom() {
		for _, section := range d.programSections() {
			program("PROCEDURE", o.procedures[strings.TrimPrefix(section, "procedure-")])
		}
	}
	names := slices.Concat(slices.Collect(maps.Values(o.tables)), d.custom.Tables)
	if len(o.loaded) == 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return name == o.tables["loaded"] })
	}
	for _, t := range d.tables {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	for _, name := range slices.Backward(names) { // with foreign keys, the child before its parent
		s.server(filewise.StageDrop, onServer, "drop-table", vars{"Name": name})
	}
	for _, name := range slices.Backward(d.tablespaces()) {
		s.server(filewise.StageDrop, onServer, "offline", vars{"Tablespace": name})
		s.server(filewise.StageDrop, onServer, "drop", vars{"Tablespace": name})
	}
}
