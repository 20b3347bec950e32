package private

import (
	"fmt"
	"os"

	"filewise"
	"filewise/engine/internal/innodb"
)

// scriptBackup adds what a backup, its restore and their check execute.
func (d *design) scriptBackup(in Install, add func(stage, on string, texts ...string)) error {
	if !d.backsUp() {
		return nil
	}
	const measure, check = filewise.StageMeasure, filewise.StageCheck
	database := Database
	if d.program.Workload == workloadDump {
		database = restoredDatabase
		if err := d.scriptDump(add); err != nil || !d.program.Restores() {
			return err
		}
	} else if d.product.BackupTool == nil {
		database = restoredDatabase
		add(measure, "server", d.flushForExport())
		copies := func(of func(copied) (from, to string)) {
			for _, c := range d.copies() {
				from, to := of(c)
				if d.layout.Discard {
					to = os.DevNull
				}
				add(measure, "shell", commandLine("cp", []string{from, to})+fmt.Sprintf(" # %d at a time, each synced", d.threads()))
			}
		}
		copies(func(c copied) (string, string) { return c.from, c.backup })
		add(measure, "server", "UNLOCK TABLES")
		if !d.program.Restores() {
			return nil
		}
		statements, err := d.emptied()
		if err != nil {
			return err
		}
		add(measure, "server", statements...)
		copies(func(c copied) (string, string) { return c.backup, c.restored })
		for _, t := range d.schema.Tables {
			add(measure, "server", d.tablespace(t, "IMPORT"))
		}
	} else if err := d.scriptTool(in, add); err != nil || !d.program.Restores() {
		return err
	}
	for _, t := range d.schema.Tables {
		add(check, "server", "CHECK TABLE "+innodb.Ident(database)+"."+innodb.Ident(t.Name))
	}
	return nil
}

// scriptTool adds the command lines of the product's own program.
func (d *design) scriptTool(in Install, add func(stage, on string, texts ...string)) error {
	path, err := d.product.BackupTool(d.target.ServerBin)
	if err != nil {
		return err
	}
	add(filewise.StageMeasure, "shell", commandLine(path, d.backupArgs()))
	if !d.program.Restores() {
		return nil
	}
	restored, err := d.product.newDesign(d.target, d.layout, d.program, firstBuild+1)
	if err != nil {
		return err
	}
	copyBack, err := d.copyBackArgs(restored)
	if err != nil {
		return err
	}
	start, err := restored.arguments(in, false)
	if err != nil {
		return err
	}
	add(filewise.StageMeasure, "shell", commandLine(path, d.prepareArgs()), commandLine(path, copyBack), commandLine(in.Binary, start))
	return nil
}
