package sqlserver

import (
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/internal/mark"
	"filewise/engine/internal/operations"
	"filewise/workload"
)

// lister collects the steps of a script; after an error it does nothing.
type lister struct {
	d     *design
	steps []filewise.Step
	err   error
}

func (l *lister) text(stage, on string, texts ...string) {
	for _, t := range texts {
		l.steps = append(l.steps, filewise.Step{Stage: stage, On: on, SQL: t})
	}
}

// add adds a section of the server's file or of the workload's.
func (l *lister) add(stage, on, section string, vars map[string]any) {
	if l.err != nil {
		return
	}
	all, err := l.d.batches(section, vars)
	l.err = err
	l.text(stage, on, all...)
}

// phasedSteps are the steps of a trial of several phases.
func (d *design) phasedSteps() ([]filewise.Step, error) {
	l := &lister{d: d}
	own, vars := "database "+d.name, d.ofWorker(0)
	for _, section := range []string{"create", "options"} {
		l.add(filewise.StageBuild, "server", section, vars)
	}
	l.add(filewise.StageBuild, own, "keep", vars)
	for _, make := range []func() ([]string, error){d.tablesSQL, d.proceduresSQL} {
		all, err := make()
		if err != nil {
			return nil, err
		}
		l.text(filewise.StageBuild, own, all...)
	}
	if len(d.loaded()) > 0 {
		l.add(filewise.StageLoad, own, "mark-loaded", vars)
		for _, t := range workload.LoadedTables(d.program.Workload) {
			l.text(filewise.StageLoad, own, "-- rows by TDS bulk copy, in the transaction that marks the batch:\nINSERT BULK dbo."+ident(t.Table)+" ("+strings.Join(quotedAll(t.Columns), ", ")+")")
		}
		l.add(filewise.StageLoad, own, "indexes", vars)
	}
	l.add(filewise.StageSettle, own, "settle", vars)
	l.add(filewise.StageObserve, own, "files", vars)
	for _, p := range d.program.Phases {
		l.phase(p, own)
	}
	if !d.program.ReadOnly {
		l.add(filewise.StageDrain, own, "settle", vars)
	}
	for _, section := range sections[d.program.Workload].Sections() {
		if section == "check" || section == "totals" || strings.HasPrefix(section, "check-") {
			l.add(filewise.StageCheck, own, section, vars)
		}
	}
	l.add(filewise.StageDrop, "server", "drop", vars)
	return l.steps, l.err
}

func quotedAll(names []string) []string {
	var all []string
	for _, n := range names {
		all = append(all, ident(n))
	}
	return all
}

// phase adds what a phase executes.
func (l *lister) phase(p filewise.Phase, own string) {
	vars := l.d.ofWorker(0)
	switch p.Act {
	case filewise.ActBackup:
		l.backup()
		return
	case filewise.ActRestore:
		l.restore()
		return
	}
	if !p.PerStatement {
		l.add(filewise.StageMeasure, own, "connection", vars)
	}
	if l.d.churns() {
		l.add(filewise.StageMeasure, own, "churn", withNumber(vars, "1"))
	}
	done := map[string]bool{}
	for _, section := range operations.SectionsOf(p) {
		if !done[section] {
			done[section] = true
			l.add(filewise.StageMeasure, own, operations.Section(p, section), vars)
		}
	}
}

func (l *lister) backup() {
	files, err := l.d.stripes(1)
	if err != nil {
		l.err = err
		return
	}
	vars := l.d.transfer(pathsOf(files)).vars()
	vars["Source"] = l.d.name
	l.add(filewise.StageMeasure, "server", "backup", vars)
	if !l.d.layout.Discard {
		l.add(filewise.StageMeasure, "server", "backup-header", vars)
	}
}

func (l *lister) restore() {
	d := l.d
	files, err := d.stripes(1)
	if err != nil || d.layout.Discard {
		l.err = err
		return
	}
	vars := d.transfer(pathsOf(files)).vars()
	name := mark.PlanName[:len(mark.PlanName)-1] + "r"
	vars["Name"], vars["Mark"] = name, "(the mark)"
	var moves []move
	for i, f := range d.files() {
		path, err := d.where[f.volume].Join(fmt.Sprintf("%s_restored_%02d%s", name, i+1, extensionOf(f)))
		if err != nil {
			l.err = err
			return
		}
		moves = append(moves, move{f.Logical, path})
	}
	vars["Moves"], vars["Unmarked"] = moves, false
	for _, section := range []string{"backup-files", "restore"} {
		l.add(filewise.StageMeasure, "server", section, vars)
	}
	l.add(filewise.StageCheck, "database "+name, "check-database", vars)
	l.add(filewise.StageDrop, "server", "drop", vars)
}

// extensionOf is the extension of a restored file.
func extensionOf(f file) string {
	if f.role == filewise.RoleLog {
		return ".ldf"
	}
	return ".ndf"
}

// backupSpace adds the room of a backup, which may be as large as the data, and of
// the restored database.
func (d *design) backupSpace(space map[string]int64) error {
	if d.layout.Discard {
		return nil
	}
	files, err := d.stripes(1)
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
