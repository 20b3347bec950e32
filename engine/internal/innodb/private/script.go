package private

import (
	"context"
	"path/filepath"
	"strings"

	"filewise"
	"filewise/engine/internal/innodb"
)

// Script says what a build would create and execute.
func (product *Product) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	d, err := product.newDesign(t, l, p, firstBuild)
	if err != nil {
		return filewise.Script{}, err
	}
	s := filewise.Script{Warnings: d.warnings, Space: d.space(), Files: d.asked()}
	if s.Facts, err = d.dumpFacts(context.Background()); err != nil {
		return filewise.Script{}, err
	}
	// The binary may not be installed where a plan is made.
	in := Install{Binary: product.Binary}
	if found, err := product.Find(context.Background(), t.ServerBin); err == nil {
		in = found
	} else if t.ServerBin != "" { // Open would refuse it as well
		return filewise.Script{}, err
	}
	creation, err := product.Create(in, "")
	if err != nil {
		creation = Creation{} // not installed here: Open says so
	}
	bootstrap, err := d.arguments(in, true)
	if err != nil {
		return filewise.Script{}, err
	}
	args, err := d.arguments(in, false)
	if err != nil {
		return filewise.Script{}, err
	}
	var restart []string // after the load
	if d.loading {
		measured := *d
		measured.loading = false
		if restart, err = measured.arguments(in, false); err != nil {
			return filewise.Script{}, err
		}
	}
	add := func(stage, on string, texts ...string) {
		for _, text := range texts {
			s.Steps = append(s.Steps, filewise.Step{Stage: stage, On: on, SQL: text})
		}
	}
	add(filewise.StageBuild, "file "+d.optionPath(), d.optionFile())
	add(filewise.StageBuild, "shell", commandLine(in.Binary, append(bootstrap, creation.Args...)), commandLine(in.Binary, args))
	create, err := d.create()
	if err != nil {
		return filewise.Script{}, err
	}
	add(filewise.StageBuild, "server", create...)
	if l.AddedLater != "" {
		if err := d.scriptExtend(&s, in, add); err != nil {
			return filewise.Script{}, err
		}
	}
	add(filewise.StageSettle, "server", product.Queries.Checkpoint...)
	steps, err := d.schema.Steps()
	if err != nil {
		return filewise.Script{}, err
	}
	for _, step := range steps {
		if step.Stage != filewise.StageLoad && restart != nil {
			add(filewise.StageLoad, "shell", commandLine(in.Binary, restart))
			restart = nil
		}
		add(step.Stage, "server", step.SQL)
	}
	if err := d.scriptBackup(in, add); err != nil {
		return filewise.Script{}, err
	}
	add(filewise.StageDrain, "server", product.Queries.Checkpoint...)
	return s, nil
}

// scriptExtend adds what Extend executes.
func (d *design) scriptExtend(s *filewise.Script, in Install, add func(stage, on string, texts ...string)) error {
	later := *d
	if d.isSystem() && len(d.later) > 0 {
		later.files = append(d.files[:len(d.files):len(d.files)], d.later...)
		s.Warnings = append(s.Warnings, filewise.Warning{Code: "size-when-extended", Remedy: "none is needed",
			Message: "the first file's size in innodb_data_file_path will be the one that it then has"})
	}
	args, err := later.arguments(in, false)
	if err != nil {
		return err
	}
	add(filewise.StageExtend, "shell", commandLine(in.Binary, args))
	if d.layout.AddedLater == filewise.LaterRebuilt {
		add(filewise.StageExtend, "server", d.rebuild()...)
	}
	return nil
}

// asked are the files as a build creates them; those that grow start small.
func (d *design) asked() []filewise.File {
	var files []filewise.File
	for _, f := range append(d.files[:len(d.files):len(d.files)], d.later...) {
		files = append(files, filewise.File{Role: filewise.RoleData, Volume: f.volume, Path: f.path, Bytes: f.bytes})
	}
	files = append(files, d.askedTemps()...)
	first := d.data[0].volume
	files = append(files, filewise.File{Role: filewise.RoleLog, Volume: d.log.volume, Path: filepath.Join(d.redoDir(), d.product.Files.Redo), Bytes: d.redoBytes()})
	if d.binlog() {
		files = append(files, filewise.File{Role: filewise.RoleLog, Volume: d.log.volume, Path: filepath.Join(d.binlogDir(), binlogName+".000001"), Bytes: d.product.Files.EmptyBinlog})
	}
	if !d.isSystem() {
		own := d.systemFiles()[0]
		files = append(files, filewise.File{Role: filewise.RoleSystem, Volume: first, Path: own.Path, Bytes: own.Bytes})
	}
	return files
}

// space is the room on each volume. Files that grow may take all of the work.
func (d *design) space() map[string]int64 {
	space := map[string]int64{}
	for _, f := range d.asked() {
		space[f.Volume] += f.Bytes
	}
	if d.layout.Data.Allocation == filewise.Growing {
		nominal := d.layout.Data.Sizes(innodb.MiB)
		for i, f := range append(d.files[:len(d.files):len(d.files)], d.later...) {
			if i < len(nominal) && f.grows {
				space[f.volume] += max(nominal[i]-f.bytes, 0)
			}
		}
	}
	if d.isSystem() {
		last := d.files[len(d.files)-1]
		space[last.volume] += max(int64(d.need()*1.1)-d.room(), 0) + 2*d.growth()
	} else {
		perFile := max(int64(d.need()*1.1)-d.layout.Data.Bytes, 0)/int64(len(d.files)) + 4*innodb.MiB
		for _, f := range d.files {
			space[f.volume] += perFile
		}
	}
	if d.isSystem() && d.layout.AddedLater == filewise.LaterRebuilt { // the copy of what was loaded
		all := append(d.files[:len(d.files):len(d.files)], d.later...)
		space[all[len(all)-1].volume] += d.layout.Data.Bytes / int64(d.layout.Data.Files)
	}
	space[d.data[0].volume] += d.product.Files.Room
	space[d.log.volume] += d.binlogRoom()
	d.backupSpace(space)
	return space
}

// commandLine writes a command so that a shell would read it back.
func commandLine(binary string, args []string) string {
	words := []string{binary}
	for _, a := range args {
		if strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:") != "" {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// create is what creates the database, its tables and procedures on a new server.
func (d *design) create() ([]string, error) {
	objects, err := d.schema.Create()
	return append([]string{"CREATE DATABASE " + innodb.Ident(Database)}, objects...), err
}
