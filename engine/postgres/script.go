package postgres

import (
	"context"
	"path/filepath"
	"strings"

	"filewise"
)

// ownRoom is what a private server needs besides data, keys and WAL: the system
// catalogues of three databases, of the template and of the build.
const ownRoom = 96 * mib

// Script says what a build would create and execute.
func (Engine) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	if t.Mode == filewise.External {
		return externalScript(t, l, p)
	}
	// The binary may not be installed where a plan is made.
	in := install{bin: "", version: "", number: versionOldest}
	found, findErr := find(context.Background(), t.ServerBin)
	if findErr == nil {
		in = found
	}
	d, at, err := managedDesign(t, l, p, in.number, firstBuild)
	if err != nil {
		return filewise.Script{}, err
	}
	if findErr != nil && t.ServerBin != "" { // Open would refuse it as well
		return filewise.Script{}, findErr
	}
	s := script{filewise.Script{Warnings: d.warnings, Files: d.asked(at.dataDir())}}
	s.Files = append(s.Files, d.askedTemps(at.tempDir)...)
	s.Files = append(s.Files, filewise.File{Role: filewise.RoleLog, Volume: t.Volumes[at.log].Name, Path: at.walDir(), Object: "WAL", Bytes: 16 * mib})
	s.Space = d.space()
	s.Space[t.Volumes[at.log].Name] += 2 * d.walBytes()
	s.Space[t.Volumes[at.home].Name] += ownRoom
	template := filepath.Join(t.Volumes[0].Dir, "postgres-template-1", "data")
	s.add(filewise.StageBuild, "shell", commandLine(in.initdb(), initArguments(template)))
	s.add(filewise.StageBuild, "single-user server", slimming)
	s.add(filewise.StageBuild, "file "+filepath.Join(at.dataDir(), "postgresql.conf"), d.file(in.number))
	s.add(filewise.StageBuild, "shell", commandLine(in.postgres(), arguments(at.dataDir())))
	create, err := createAll(d, at, func(dir string) string { return dir })
	if err != nil {
		return filewise.Script{}, err
	}
	s.add(filewise.StageBuild, "server", create...)
	err = s.work(d, true)
	return s.Script, err
}

type script struct{ filewise.Script }

func (s *script) add(stage, on string, texts ...string) {
	for _, text := range texts {
		s.Steps = append(s.Steps, filewise.Step{Stage: stage, On: on, SQL: shortenPool(text)})
	}
}

// work adds what a trial executes on the built database.
func (s *script) work(d *design, checkpoint bool) error {
	settle := func(stage string) {
		if checkpoint {
			s.add(stage, "server", "CHECKPOINT")
		}
	}
	if len(d.program.Phases) > 0 {
		return s.workPhases(d, settle)
	}
	settle(filewise.StageSettle)
	if d.extends() {
		d.newFrom = 1 // the key after the loaded ones; known by then
		last, err := d.statement(sectionLast, table{})
		if err != nil {
			return err
		}
		extend, err := d.extend()
		if err != nil {
			return err
		}
		s.add(filewise.StageLoad, "server", append([]string{last}, extend...)...)
	}
	for _, section := range []struct{ stage, name string }{{filewise.StageWarmUp, sectionConnection}, {filewise.StageMeasure, sectionCall}, {filewise.StageCheck, sectionCheck}} {
		all, err := d.statements(section.name, d.tables[0])
		if err != nil {
			return err
		}
		s.add(section.stage, "server", all...)
	}
	settle(filewise.StageDrain)
	return nil
}

// asked are the data files and those of their indexes. PostgreSQL numbers its files
// when it creates them: a plan knows what they hold, not how they are called.
func (d *design) asked(base string) []filewise.File {
	var data, indexes []filewise.File
	for _, l := range d.leaves(true) {
		data = append(data, filewise.File{Role: filewise.RoleData, Volume: l.space.volume.Name, Path: d.pathOf(base, l.space, l.Name), Object: l.Name})
		for _, key := range d.indexNames(l) {
			indexes = append(indexes, filewise.File{Role: d.indexRole(), Volume: l.index.volume.Name, Path: d.pathOf(base, l.index, key), Object: key, Bytes: pageBytes})
		}
	}
	return append(data, indexes...)
}

// pathOf stands in plans for the path of a relation.
func (d *design) pathOf(base string, s space, relation string) string {
	switch {
	case s.name == "":
		return filepath.Join(base, "base", "*", relation)
	case filepath.IsAbs(s.volume.Dir):
		return filepath.Join(s.volume.Dir, "*", relation)
	}
	return s.name + "/*/" + relation
}

// Besides its payload a row has 24 bytes of header, 4 of line pointer, a key and a
// length (some 44 in all), and 20 to 40 in the index, as full as its order of keys
// leaves it.
const rowOverhead, keyBytes = 44, 40

// space is the room for data and indexes on each volume, by volume name.
func (d *design) space() map[string]int64 {
	rows := d.layout.Data.Bytes
	keys := int64(0)
	switch b := d.program.OpBytes; {
	case len(d.program.Phases) > 0:
		rows, keys = d.phasesRoom()
	case b > 0:
		n := max(d.layout.Data.Bytes, d.program.WorkBytes) / b
		rows, keys = n*(b+rowOverhead), n*keyBytes
	}
	leaves := d.leaves(true)
	space := map[string]int64{}
	times := int64(1)
	if d.layout.AddedLater == filewise.LaterRebuilt {
		times = 2 // old and new stand side by side for a while
	}
	for _, l := range leaves {
		n := int64(len(leaves))
		space[l.space.volume.Name] += times*rows/n + mib
		space[l.index.volume.Name] += times*keys/n + mib
	}
	d.tempRoom(space)
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
