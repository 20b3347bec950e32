package sqlserver

import (
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/internal/script"
	"filewise/engine/sqlserver/dialect"
	"filewise/internal/marker"
)

// onServer is the place of steps about a whole database. All other steps are done within the database.
const onServer = "server"

func (d *design) on() string { return "database " + d.name }

// steps returns a trial's steps. Plans print them, and builds execute them.
func (d *design) steps() (script.Steps, error) {
	w := script.NewWriter(d.on(), func(section string) ([]string, error) {
		return d.batches(section, d.ofWorker(0))
	})
	s := stepper{w, d}
	if d.program.Restored() {
		s.restored()
	} else {
		s.server(filewise.StageBuild, "create", "from-model", "options")
		w.Sections(filewise.StageBuild, "keep")
		s.program()
		s.load()
		s.made()
		s.extend()
	}
	w.Sections(filewise.StageSettle, "settle")
	switch {
	case d.program.Cycles:
		s.server(filewise.StageMeasure, "cycle")
	case cools(d.program):
		s.server(filewise.StageSettle, "cool")
	}
	w.Sections(filewise.StageObserve, "files")
	s.work()
	s.server(filewise.StageDrop, "drop")
	return w.Steps()
}

type stepper struct {
	*script.Writer
	d *design
}

// server adds sections that are executed on the server.
func (s stepper) server(stage string, names ...string) {
	for _, name := range names {
		s.render(stage, onServer, name, s.d.vars())
	}
}

func (s stepper) render(stage, on, section string, vars map[string]any) {
	all, err := s.d.batches(section, vars)
	s.Rendered(stage, on, section, all, err)
}

// program adds the statements that create the workload's tables and procedures, one batch each.
func (s stepper) program() {
	d := s.d
	if d.custom() {
		all, err := d.customSetup()
		s.AddAll(filewise.StageBuild, d.on(), all, err)
		return
	}
	s.Sections(filewise.StageBuild, "tables")
	if len(d.loaded()) > 0 {
		s.Sections(filewise.StageBuild, "loaded-batches")
	}
	if len(d.tables) > 0 {
		s.Sections(filewise.StageBuild, "pool")
	}
	if !d.program.Appends() {
		s.Sections(filewise.StageBuild, d.procedureSections()...)
		return
	}
	for _, section := range d.procedureSections() { // for each table, because a worker can have a table to itself
		for i, t := range d.tables {
			s.render(filewise.StageBuild, d.on(), section, d.ofTable(t, i))
		}
	}
}

// load adds the load of the tables, with the record of each batch.
func (s stepper) load() {
	d := s.d
	if !d.program.Loads() {
		return
	}
	s.Sections(filewise.StageLoad, "mark-loaded")
	for _, t := range d.program.Tables {
		s.Add(filewise.StageLoad, d.on(), "-- rows by TDS bulk copy, in the transaction that marks the batch:\n"+
			"INSERT BULK dbo."+dialect.Ident(t.Name)+" ("+strings.Join(quotedAll(t.Columns), ", ")+")")
	}
	s.Sections(filewise.StageLoad, "indexes")
}

// made adds storing the definitions of all objects, after the last one is made. Custom SQL is left out, because it can
// make anything.
func (s stepper) made() {
	stage := filewise.StageBuild
	if s.d.program.Loads() {
		stage = filewise.StageLoad
	}
	if !s.d.custom() {
		s.Sections(stage, "made")
	}
}

func quotedAll(names []string) []string {
	return filewise.Each(names, dialect.Ident)
}

// extend adds the files that are added later. The first rebuild finds the first file full and leaves it nearly empty.
// The second rebuild finds space in all files, and spreads the data over them.
func (s stepper) extend() {
	if !s.d.skips("add-files") {
		s.server(filewise.StageExtend, "add-files")
	}
	if !s.d.skips("rebuild") {
		s.Sections(filewise.StageExtend, "rebuild", "rebuild")
	}
}

// skips reports whether this layout does not use a section.
func (d *design) skips(section string) bool {
	switch section {
	case "add-files":
		return len(d.files()) == len(d.until(d.first))
	case "rebuild":
		return d.layout.AddedLater != filewise.LaterRebuilt
	}
	return false
}

// work adds what sessions execute, backups and checks.
func (s stepper) work() {
	d := s.d
	p := d.program
	if d.custom() {
		s.Sections(filewise.StageWarmUp, "connection")
		customRules.Write(s.Writer, d.on(), p, beginTransaction, commitTransaction)
		s.Sections(filewise.StageDrain, "settle")
		return
	}
	for _, phase := range p.Phases {
		if phase.Act == filewise.ActWork && !phase.PerStatement {
			s.Sections(filewise.StageWarmUp, "connection")
			break
		}
	}
	if d.program.Churns() {
		s.render(filewise.StageMeasure, d.on(), "churn", withNumber(d.ofWorker(0), "1"))
	}
	settle, err := d.batches("settle", d.vars())
	s.AddAll("", "", nil, err)
	s.Work(p, s.act, settle...)
	s.Checks(sections[p.SQL()].Sections())
}

func (s stepper) act(p filewise.Phase) {
	files, err := s.d.stripes(s.d.firstBackup())
	s.AddAll("", "", nil, err)
	t := s.d.transfer(pathsOf(files))
	switch {
	case p.Act == filewise.ActBackup:
		s.backup(t)
	case !s.d.layout.Discard:
		s.restore(t)
	}
}

func (s stepper) backup(t transfer) {
	vars := t.vars()
	vars["Source"] = s.d.name
	s.render(filewise.StageMeasure, s.d.on(), "backup", vars)
	if !s.d.layout.Discard {
		s.render(filewise.StageMeasure, onServer, "backup-header", t.first())
	}
}

func (s stepper) restore(t transfer) {
	d, vars := s.d, t.vars()
	name := marker.PlanName[:len(marker.PlanName)-1] + "r"
	vars["Name"], vars["Mark"], vars["Unmarked"], vars["Custom"] = name, planMarker, false, false
	var moves []move
	for i, f := range d.files() {
		path, err := d.dirOf(f.Logical, f.role == filewise.RoleLog).Join(fmt.Sprintf("%s_restored_%02d%s", name, i+1, extensionOf(f)))
		s.AddAll("", "", nil, err)
		moves = append(moves, move{f.Logical, path})
	}
	vars["Moves"] = moves
	s.render(filewise.StageMeasure, onServer, "backup-files", t.first())
	s.render(filewise.StageMeasure, d.on(), "restore", vars)
	s.render(filewise.StageCheck, "database "+name, "check-database", vars)
	s.render(filewise.StageDrop, onServer, "drop", vars)
}

// planMarker is shown in plans for the marker.
const planMarker = "(the marker)"

// extensionOf returns the file name extension of a restored file.
func extensionOf(f file) string {
	if f.role == filewise.RoleLog {
		return ".ldf"
	}
	return ".ndf"
}
