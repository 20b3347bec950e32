package mariadb

import (
	"context"
	"path/filepath"
	"strings"

	"filewise"
	"filewise/engine/internal/innodb"
)

// Room that a server needs besides its data files: InnoDB's temporary tables
// (12 MiB), dictionary tables, doublewrite and undo of the kinds whose data files
// hold no system tablespace, and logs.
const ownRoom = 64 * innodb.MiB

// Script says what a build would create and execute.
func (e Engine) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	d, err := newDesign(t, l, p, firstBuild)
	if err != nil {
		return filewise.Script{}, err
	}
	s := filewise.Script{Warnings: d.warnings, Space: d.space(), Files: d.asked()}
	// The binary may not be installed where a plan is made.
	in := install{binary: server.Names[0]}
	if found, err := find(context.Background(), t.ServerBin); err == nil {
		in = found
	} else if t.ServerBin != "" { // Open would refuse it as well
		return filewise.Script{}, err
	}
	bootstrap, err := d.arguments(in, true)
	if err != nil {
		return filewise.Script{}, err
	}
	args, err := d.arguments(in, false)
	if err != nil {
		return filewise.Script{}, err
	}
	add := func(stage, on string, texts ...string) {
		for _, text := range texts {
			s.Steps = append(s.Steps, filewise.Step{Stage: stage, On: on, SQL: text})
		}
	}
	add(filewise.StageBuild, "file "+d.optionPath(), d.optionFile())
	add(filewise.StageBuild, "shell", commandLine(in.binary, append(bootstrap, "--bootstrap")), commandLine(in.binary, args))
	create, err := d.create()
	if err != nil {
		return filewise.Script{}, err
	}
	add(filewise.StageBuild, "server", create...)
	add(filewise.StageSettle, "server", "SET GLOBAL innodb_log_checkpoint_now = ON")
	for _, section := range []struct{ stage, name string }{{filewise.StageWarmUp, innodb.SectionConnection}, {filewise.StageMeasure, innodb.SectionCall}, {filewise.StageCheck, innodb.SectionCheck}} {
		all, err := d.schema.Statements(section.name, d.schema.Tables[0])
		if err != nil {
			return filewise.Script{}, err
		}
		for i := range all {
			all[i] = innodb.ShortenPool(all[i])
		}
		add(section.stage, "server", all...)
	}
	add(filewise.StageDrain, "server", "SET GLOBAL innodb_log_checkpoint_now = ON")
	return s, nil
}

// asked are the files as a build creates them; those that grow start small.
func (d *design) asked() []filewise.File {
	var files []filewise.File
	for _, f := range d.files {
		files = append(files, filewise.File{Role: filewise.RoleData, Volume: f.volume, Path: f.path, Bytes: f.bytes})
	}
	first := d.target.Volumes[0].Name
	files = append(files, filewise.File{Role: filewise.RoleLog, Volume: first, Path: filepath.Join(d.dataDir(), redoFile), Bytes: d.redoBytes()})
	if d.binlog() {
		files = append(files, filewise.File{Role: filewise.RoleLog, Volume: first, Path: filepath.Join(d.binlogDir(), binlogName+".000001"), Bytes: emptyBinlog})
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
		for i, f := range d.files {
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
	space[d.target.Volumes[0].Name] += ownRoom + d.binlogRoom()
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
	return append([]string{"CREATE DATABASE " + innodb.Ident(database)}, objects...), err
}
