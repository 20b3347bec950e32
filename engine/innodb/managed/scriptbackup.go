package managed

import (
	"fmt"
	"os"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/builds"
	"filewise/engine/internal/script"
)

// writeBackup adds what a backup, its restore and their check execute.
func (d *design) writeBackup(w *script.Writer, in dialect.Install) {
	if !d.Program.BacksUp() {
		return
	}
	if d.exports() {
		d.writeExport(w)
	} else {
		d.writeCommands(w, filewise.ActBackup, d)
	}
	if !d.Program.Restores() {
		return
	}
	database := restoredDatabase
	switch {
	case d.copiesFiles():
		restored, err := newDesign(d.Product, d.Target, d.Layout, d.Program, builds.First+1)
		if err != nil {
			w.AddAll(filewise.StageMeasure, script.Shell, nil, err)
			return
		}
		d.writeCommands(w, filewise.ActRestore, restored)
		restored.start(w, filewise.StageMeasure, in, false)
		database = Database
	case !d.exports():
		d.writeCommands(w, filewise.ActRestore, d)
	}
	for _, t := range d.Tables {
		w.Add(filewise.StageCheck, onServer, "CHECK TABLE "+dialect.Ident(database)+"."+dialect.Ident(t.Name))
	}
}

// writeCommands adds the command lines of programs.
func (d *design) writeCommands(w *script.Writer, act filewise.Act, to *design) {
	commands, err := d.commands(act, to)
	w.AddAll(filewise.StageMeasure, script.Shell, nil, err)
	for _, c := range commands {
		w.Command(filewise.StageMeasure, c...)
	}
}

// writeExport adds how tables are exported, and imported again.
func (d *design) writeExport(w *script.Writer) {
	copies := func(of func(copied) (from, to string)) {
		for _, c := range d.copies() {
			from, to := of(c)
			if d.Layout.Discard {
				to = os.DevNull
			}
			w.Add(filewise.StageMeasure, script.Shell, script.Quoted([]string{"cp", from, to})+
				fmt.Sprintf(" # %d at a time, each synced", d.threads()))
		}
	}
	w.Add(filewise.StageMeasure, onServer, d.FlushForExport(""))
	copies(func(c copied) (string, string) { return c.from, c.backup })
	w.Add(filewise.StageMeasure, onServer, "UNLOCK TABLES")
	if !d.Program.Restores() {
		return
	}
	statements, err := d.emptied()
	w.AddAll(filewise.StageMeasure, onServer, statements, err)
	copies(func(c copied) (string, string) { return c.backup, c.restored })
	for _, t := range d.Tables {
		w.Add(filewise.StageMeasure, onServer, d.tablespace(t, "IMPORT"))
	}
}
