package managed

import (
	"context"
	"path/filepath"
	"slices"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/builds"
	"filewise/engine/internal/dumpfile"
	"filewise/engine/internal/script"
	"filewise/internal/shell"
)

// Statements describes what a build would create and execute.
func (e Engine) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	d, err := newDesign(e.Product, t, l, p, builds.First)
	if err != nil {
		return filewise.Statements{}, err
	}
	s := filewise.Statements{Warnings: d.Warnings, Space: d.space(), Files: d.asked()}
	if d.isSystem() && len(d.Later) > 0 {
		s.Warnings = append(s.Warnings, filewise.Warning{Code: "size-when-extended", Remedy: "none is needed",
			Message: "innodb_data_file_path will then show the actual size of the first file"})
	}
	if s.Facts, err = d.dumpFacts(context.Background()); err != nil {
		return filewise.Statements{}, err
	}
	in, err := e.planned(t)
	if err != nil {
		return filewise.Statements{}, err
	}
	steps, err := d.steps(in)
	s.Steps = steps.Plan(nil)
	return s, err
}

// onServer is the place of SQL in plans.
const onServer = "server"

func (d *design) steps(in dialect.Install) (script.Steps, error) {
	managed := d.Product.Managed
	creation, err := managed.Create(in, "")
	if err != nil {
		creation = dialect.Creation{} // not installed here, which Open reports
	}
	w := d.Writer(onServer)
	w.Add(filewise.StageBuild, "file "+d.optionPath(), d.optionFile())
	d.start(w, filewise.StageBuild, in, true, creation.Args...)
	d.start(w, filewise.StageBuild, in, false)
	w.Add(filewise.StageBuild, onServer, slices.Concat([]string{"CREATE DATABASE " + dialect.Ident(Database)}, d.MakeSpaces)...)
	if d.Program.Restored() {
		w.Add(filewise.StageBuild, "dump", dumpfile.Step(d.Program.Custom))
		measured := *d
		measured.loading = false
		measured.start(w, filewise.StageBuild, in, false)
	} else {
		objects, err := d.Create()
		w.AddAll(filewise.StageBuild, onServer, objects, err)
	}
	if d.Layout.AddedLater != "" {
		later := *d
		later.Files, later.Later = d.All(), nil
		later.start(w, filewise.StageExtend, in, false)
		w.Add(filewise.StageExtend, onServer, d.Rebuild()...)
	}
	w.Add(filewise.StageSettle, onServer, managed.CheckpointSQL...)
	d.WriteLoad(w, onServer)
	if d.loading && !d.Program.Restored() {
		measured := *d
		measured.loading = false
		measured.start(w, filewise.StageLoad, in, false)
	}
	d.WriteWork(w, onServer)
	d.writeBackup(w, in)
	w.Add(filewise.StageDrain, onServer, managed.CheckpointSQL...)
	return w.Steps()
}

func (d *design) start(w *script.Writer, stage string, in dialect.Install, bootstrap bool, more ...string) {
	args, err := d.arguments(in, bootstrap)
	w.AddAll(stage, shell.Place, []string{shell.Quoted(slices.Concat([]string{in.Binary}, args, more))}, err)
}

// planned returns the installed product. For a plan, nothing needs to be installed.
func (e Engine) planned(t filewise.Target) (dialect.Install, error) {
	in, err := e.Managed.Find(context.Background(), t.ServerBin)
	switch {
	case err == nil:
		return in, nil
	case t.ServerBin != "": // Open would refuse it, too
		return dialect.Install{}, err
	}
	return dialect.Install{Binary: e.Managed.Binary}, nil
}

// asked returns the files as a build creates them. Files that grow start small.
func (d *design) asked() []filewise.File {
	files := append(dialect.Asked(d.All()), dialect.Asked(d.temps)...)
	files = append(files, filewise.File{Role: filewise.RoleLog, Volume: d.log.volume, Path: filepath.Join(d.dataDir(), d.Product.Files.Redo),
		Bytes: d.redoBytes()})
	if d.binlog() {
		files = append(files, filewise.File{Role: filewise.RoleLog, Volume: d.log.volume,
			Path: filepath.Join(d.binlogDir(), binlogName+".000001"), Bytes: d.Product.Files.EmptyBinlog})
	}
	if !d.isSystem() {
		own := d.systemFiles()[0]
		files = append(files, filewise.File{Role: filewise.RoleSystem, Volume: d.log.volume, Path: own.Path, Bytes: own.Bytes})
	}
	return files
}

// space returns the space needed on each volume. If files grow, each may take all of the work.
func (d *design) space() map[string]int64 {
	space := map[string]int64{}
	for _, f := range d.asked() {
		space[f.Volume] += f.Bytes
	}
	if d.Layout.Data.Allocation == filewise.Growing {
		nominal := d.Layout.Data.Sizes(dialect.MiB)
		for i, f := range d.All() {
			if i < len(nominal) && f.Grows {
				space[f.Volume] += max(nominal[i]-f.Bytes, 0)
			}
		}
	}
	if d.isSystem() {
		last := d.Files[len(d.Files)-1]
		space[last.Volume] += max(int64(d.need()*1.1)-d.capacity(), 0) + 2*d.growth()
	} else {
		perFile := max(int64(d.need()*1.1)-d.Layout.Data.Bytes, 0)/int64(len(d.Files)) + 4*dialect.MiB
		for _, f := range d.Files {
			space[f.Volume] += perFile
		}
	}
	if d.isSystem() && d.Layout.AddedLater == filewise.LaterRebuilt { // the copy of the loaded rows
		all := d.All()
		space[all[len(all)-1].Volume] += d.Layout.Data.Bytes / int64(d.Layout.Data.Files)
	}
	space[d.log.volume] += d.Product.Files.Overhead + d.binlogRoom()
	d.backupSpace(space)
	return space
}

// writeBackup adds the steps of a backup, its restore and the check.
func (d *design) writeBackup(w *script.Writer, in dialect.Install) {
	if !d.Program.BacksUp() {
		return
	}
	d.writeCommands(w, filewise.ActBackup, d)
	if !d.Program.Restores() {
		return
	}
	database := restoredDatabase
	if d.copiesFiles() {
		restored, err := newDesign(d.Product, d.Target, d.Layout, d.Program, builds.First+1)
		if err != nil {
			w.AddAll(filewise.StageMeasure, shell.Place, nil, err)
			return
		}
		d.writeCommands(w, filewise.ActRestore, restored)
		restored.start(w, filewise.StageMeasure, in, false)
		database = Database
	} else {
		d.writeCommands(w, filewise.ActRestore, d)
	}
	for _, t := range d.Tables {
		w.Add(filewise.StageCheck, onServer, "CHECK TABLE "+dialect.Ident(database)+"."+dialect.Ident(t.Name))
	}
}

// writeCommands adds the command lines of the programs of an act.
func (d *design) writeCommands(w *script.Writer, act filewise.Act, to *design) {
	commands, err := d.commands(act, to)
	w.AddAll(filewise.StageMeasure, shell.Place, nil, err)
	for _, c := range commands {
		w.Command(filewise.StageMeasure, c...)
	}
}
