package postgres

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/internal/builds"
	"filewise/engine/internal/script"
	"filewise/engine/postgres/client"
	"filewise/engine/postgres/dialect"
	"filewise/engine/postgres/installed"
	"filewise/internal/marker"
)

// writer returns a writer for a trial's steps after the tables exist.
func (d *design) writer(on string) *script.Writer {
	return script.NewWriter(on, func(section string) ([]string, error) {
		return d.statements(section, d.tables[0])
	})
}

// create adds the statements that create tables and procedures in a new database.
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

// procedures returns the sections of the procedures that the phases call.
func (d *design) procedures() []string {
	var all []string
	for _, section := range sections[d.program.SQL()].Sections() {
		if name, is := strings.CutPrefix(section, prefixProcedure); is && d.calls(name) {
			all = append(all, section)
		}
	}
	return all
}

// calls reports whether a procedure is called: by a phase that loops on the server, or by the statements of operations
// of several types.
func (d *design) calls(procedure string) bool {
	if procedure == sectionChurn {
		return d.program.Churns()
	}
	return slices.ContainsFunc(d.program.Phases, func(p filewise.Phase) bool {
		return len(p.Types) > 0 || p.Act == filewise.ActWork && !p.Client && p.Section == procedure
	})
}

// load adds the statements that load the tables, indexes included.
func (d *design) load(w *script.Writer, on string) {
	for _, t := range d.tables {
		w.Add(filewise.StageLoad, on, copyStatement(t.Name, nil))
	}
	finish, err := d.finish()
	w.AddAll(filewise.StageLoad, on, slices.Concat(finish...), err)
}

// trial adds what a trial executes on the database after it is built and loaded.
func (d *design) trial(w *script.Writer, on string) {
	w.Add(filewise.StageSettle, onServer, checkpoint)
	if d.extends() {
		w.Sections(filewise.StageExtend, sectionLast)
		w.Sections(filewise.StageExtend, d.extension())
	}
	if d.custom() {
		dialect.CustomRules.Write(w, on, d.program, "BEGIN", "COMMIT")
		w.Add(filewise.StageDrain, onServer, checkpoint)
		return
	}
	d.work(w, on)
	w.Checks(sections[d.program.SQL()].Sections())
}

// work adds what sessions execute and what else phases do.
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

// checkpoint settles and drains a server whose account can run it.
const checkpoint = "CHECKPOINT"

// onServer is the place of steps on the server as a whole. On a managed server that includes the build's database.
const onServer = "server"

// managedRoom is the space that a managed server needs in addition to data, keys and WAL. It holds the system
// catalogues of three databases, of the template and of the build.
const managedRoom = 96 * mib

// Statements describes what a build would create and execute.
func (Engine) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	if t.Mode == filewise.External {
		return externalScript(t, l, p)
	}
	// The binary may not be installed when a plan is made.
	in := installed.Server{Bin: "", Version: "", Number: installed.Oldest}
	found, findErr := installed.Find(context.Background(), t.ServerBin)
	if findErr == nil {
		in = found
	}
	d, at, err := managedDesign(t, l, p, in.Number, builds.First)
	if err != nil {
		return filewise.Statements{}, err
	}
	if findErr != nil && t.ServerBin != "" { // Open would refuse it, too
		return filewise.Statements{}, findErr
	}
	if findErr == nil {
		if err := backsUp(context.Background(), in, l, p); err != nil {
			return filewise.Statements{}, err
		}
	}
	s := filewise.Statements{Warnings: d.warnings, Files: d.asked(at.dataDir())}
	s.Files = append(s.Files, d.askedTemps(at.tempDir)...)
	s.Files = append(s.Files, filewise.File{Role: filewise.RoleLog, Volume: t.Volumes[at.home].Name, Path: at.walDir(), Object: "WAL",
		Bytes: 16 * mib})
	s.Space = d.space()
	s.Space[t.Volumes[at.home].Name] += d.walRoom() + managedRoom
	steps, err := d.managedSteps(in, at, func(dir string) string { return dir })
	s.Steps = append(installed.TemplateSteps(in, filepath.Join(t.Volumes[0].Dir, "postgres-template-1", "data")),
		steps...).Plan(client.ShortenPool)
	return s, err
}

// managedSteps returns the steps of a trial on a managed server. named returns the name that the steps show for a
// directory.
func (d *design) managedSteps(in installed.Server, at sites, named func(dir string) string) (script.Steps, error) {
	w := d.writer(onServer)
	w.Add(filewise.StageBuild, "file "+at.config(), d.file(in.Number))
	w.Command(filewise.StageBuild, d.command(in, named(at.dataDir()), d.loads() || d.program.Restored())...)
	w.Add(filewise.StageBuild, onServer, d.createSpaces(at, named)...)
	d.create(w, onServer)
	if d.program.Restored() {
		w.Command(filewise.StageBuild, d.command(in, named(at.dataDir()), false)...) // likewise
	}
	if d.loads() {
		d.load(w, onServer)
		w.Command(filewise.StageLoad, d.command(in, named(at.dataDir()), false)...) // the server was stopped before
	}
	d.trial(w, onServer)
	return w.Steps()
}

// createSpaces returns the statements that create a managed server's tablespaces.
func (d *design) createSpaces(at sites, named func(dir string) string) []string {
	var all []string
	for i, t := range d.temps {
		all = append(all, createTablespace(t.name, named(at.tempDir(t.number, i))))
	}
	for _, n := range d.used() {
		all = append(all, createTablespace(d.spaces[n].name, named(at.spaceDir(n))))
	}
	return all
}

// externalScript describes what a build on an external server would execute. It does not connect.
func externalScript(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	d, err := externalDesign(t, l, p, installed.Oldest, func(int) string { return marker.PlanName })
	if err != nil {
		return filewise.Statements{}, err
	}
	s := filewise.Statements{Warnings: d.warnings, Files: d.asked(""), Space: d.space()}
	s.Files = append(s.Files, (&externalServer{target: t}).temps(&build{design: d})...)
	d.database = marker.PlanName
	on := "database " + d.database
	w := d.writer(on)
	for _, n := range d.used() {
		if path.IsAbs(t.Volumes[n].Dir) {
			w.Add(filewise.StageBuild, onServer, createTablespace(marker.PlanName, t.Volumes[n].Dir), comment(kindTablespace, marker.PlanName, "…"))
		}
	}
	w.Add(filewise.StageBuild, onServer, createDatabase(marker.PlanName), comment(kindDatabase, marker.PlanName, "…"))
	d.build(w, on)
	w.Add(filewise.StageDrop, onServer, readMarker(kindDatabase), drop(kindDatabase, marker.PlanName))
	steps, err := w.Steps()
	s.Steps = steps.Plan(client.ShortenPool)
	return s, err
}

// externalSteps returns the steps of a trial in a database that exists on an external server.
func (d *design) externalSteps() (script.Steps, error) {
	on := "database " + d.database
	w := d.writer(on)
	d.build(w, on)
	return w.Steps()
}

// build adds all steps in a database that exists.
func (d *design) build(w *script.Writer, on string) {
	d.create(w, on)
	if d.loads() {
		d.load(w, on)
	}
	d.trial(w, on)
}
