package sqlserver

import (
	"fmt"

	"filewise"
	"filewise/engine/internal/mark"
)

// Script says what a build would create and execute. Nothing is asked of the
// server: what only it knows stands in brackets.
func (Engine) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	if err := external(t); err != nil {
		return filewise.Script{}, err
	}
	d, err := newDesign(t, l, p, somewhere(mark.PlanName, "(the mark)"))
	if err != nil {
		return filewise.Script{}, err
	}
	steps, err := d.steps()
	if err != nil {
		return filewise.Script{}, err
	}
	return filewise.Script{Files: d.asked(), Steps: steps, Space: d.space(), Warnings: d.warnings}, nil
}

// external refuses a target that names no server: there is none to start.
func external(t filewise.Target) error {
	if t.Mode != filewise.External || t.Address == nil {
		return unsupported("use --target sqlserver://USER@HOST", "Filewise starts no SQL Server of its own")
	}
	return nil
}

// planned are the sections in the order in which a trial executes them.
var planned = []struct{ stage, section string }{
	{filewise.StageBuild, "create"}, {filewise.StageBuild, "options"}, {filewise.StageBuild, "keep"},
	{filewise.StageBuild, "tables"}, {filewise.StageBuild, "pool"}, {filewise.StageBuild, "procedure"},
	{filewise.StageLoad, "add-files"}, {filewise.StageLoad, "rebuild"},
	{filewise.StageSettle, "settle"}, {filewise.StageObserve, "files"},
	{filewise.StageWarmUp, "connection"}, {filewise.StageMeasure, "call"}, {filewise.StageDrain, "settle"},
	{filewise.StageCheck, "check"}, {filewise.StageDrop, "drop"},
}

func (d *design) steps() ([]filewise.Step, error) {
	if d.phased() {
		return d.phasedSteps()
	}
	var steps []filewise.Step
	for _, p := range planned {
		if d.skips(p.section) {
			continue
		}
		all, err := d.batches(p.section, d.ofWorker(0))
		if err != nil {
			return nil, err
		}
		on := "database " + d.name
		if p.section == "create" || p.section == "options" || p.section == "add-files" || p.section == "drop" {
			on = "server"
		}
		for _, text := range all {
			steps = append(steps, filewise.Step{Stage: p.stage, On: on, SQL: text})
		}
	}
	return steps, nil
}

// skips tells whether this layout has no use for a section.
func (d *design) skips(section string) bool {
	switch section {
	case "add-files":
		return len(d.files()) == len(d.until(d.first))
	case "rebuild":
		return d.layout.AddedLater != filewise.LaterRebuilt
	}
	return false
}

// asked are the files as a build creates them.
func (d *design) asked() []filewise.File {
	var files []filewise.File
	for _, f := range d.files() {
		files = append(files, filewise.File{Role: f.role, Volume: f.volume, Path: f.Path, Bytes: f.KB * kib})
	}
	return files
}

// space is the room on each volume in bytes. Files that grow may come to hold the
// layout's whole size, in whole steps of their growth.
func (d *design) space() map[string]int64 {
	space := map[string]int64{}
	for _, f := range d.asked() {
		space[f.Volume] += f.Bytes
	}
	if d.program.Workload == workloadBackup {
		if err := d.backupSpace(space); err != nil {
			return space // the files have no place: Build says so
		}
	}
	if d.layout.Data.Allocation == filewise.Growing {
		per := d.layout.Data.Bytes / int64(d.layout.Data.Files)
		for _, f := range d.files() {
			if f.role == filewise.RoleData {
				space[f.volume] += max(per-f.KB*kib, 0) + f.GrowthKB*kib
			}
		}
	}
	return space
}

func (d *design) String() string { return fmt.Sprintf("%s (%s)", d.layout.Name, d.name) }
