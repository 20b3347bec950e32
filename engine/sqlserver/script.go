package sqlserver

import (
	"fmt"

	"filewise"
	"filewise/internal/marker"
)

// Statements describes what a build would create and execute. It queries nothing from the server; what only the server
// has is shown in brackets.
func (Engine) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	if err := checkExternal(t); err != nil {
		return filewise.Statements{}, err
	}
	if t.Database != "" {
		return ownScript(t, l, p)
	}
	d, err := newDesign(t, l, p, somewhere(marker.PlanName, planMarker))
	if err != nil {
		return filewise.Statements{}, err
	}
	steps, err := d.steps()
	if err != nil {
		return filewise.Statements{}, err
	}
	return filewise.Statements{Files: d.asked(), Steps: steps.Plan(nil), Space: d.space(), Warnings: d.warnings}, nil
}

// checkExternal refuses a target that names no server, because Filewise cannot start one.
func checkExternal(t filewise.Target) error {
	if t.Mode != filewise.External || t.Address == nil {
		return unsupported("use --target sqlserver://USER@HOST", "Filewise does not start a SQL Server")
	}
	return nil
}

// asked returns the files as a build creates them.
func (d *design) asked() []filewise.File {
	var files []filewise.File
	for _, f := range d.files() {
		files = append(files, filewise.File{Role: f.role, Volume: f.volume, Path: f.Path, Bytes: f.KB * kib})
	}
	return files
}

// space returns the space on each volume, in bytes. Files that grow can reach the layout's whole size, in whole growth
// steps.
func (d *design) space() map[string]int64 {
	space := map[string]int64{}
	for _, f := range d.asked() {
		space[f.Volume] += f.Bytes
	}
	if d.program.BacksUp() {
		if err := d.backupSpace(space); err != nil {
			return space // the files have no place, which Build reports
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

// backupSpace adds the space for a backup, which can be as large as the data, and for the restored database.
func (d *design) backupSpace(space map[string]int64) error {
	if d.layout.Discard {
		return nil
	}
	files, err := d.stripes(d.firstBackup())
	if err != nil {
		return err
	}
	for _, f := range files {
		space[f.Volume] += d.layout.Data.Bytes / int64(len(files))
	}
	for _, f := range d.asked() {
		space[f.Volume] += f.Bytes
	}
	return nil
}

func (d *design) String() string { return fmt.Sprintf("%s (%s)", d.layout.Name, d.name) }
