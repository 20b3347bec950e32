package sqlserver

import (
	"filewise"
	"filewise/engine/sqlserver/dialect"
	"filewise/internal/marker"
)

// ownScript describes what a trial on a user's database executes.
func ownScript(t filewise.Target, l filewise.Layout, _ filewise.Program) (out filewise.Statements, err error) {
	d, how, err := ownDesign(t, l, somewhere(t.Database, ""))
	if err != nil {
		return out, err
	}
	files, err := d.ownStripes(marker.PlanName + "_backup_1")
	if err != nil {
		return out, err
	}
	text, err := ownBackupText(t, how, pathsOf(files))
	out.Steps = []filewise.Step{{Stage: filewise.StageMeasure, On: onServer, SQL: text}}
	return out, err
}

func ownBackupText(t filewise.Target, how transfer, stripes []string) (string, error) {
	how.stripes = stripes
	vars := how.vars()
	vars["Source"] = t.Database
	return server.Statement("backup", vars)
}

// ScriptedBackup returns the parts of a script that backs up a user's database. Files have $(name) for a backup's name.
func (Engine) ScriptedBackup(t filewise.Target, l filewise.Layout) (out dialect.Backup, err error) {
	d, how, err := ownDesign(t, l, place{data: relative{}})
	if err != nil {
		return out, err
	}
	files, err := d.ownStripes("$(name)")
	if err != nil {
		return out, err
	}
	text, err := ownBackupText(t, how, pathsOf(files))
	return dialect.Backup{Statement: text, Stripes: pathsOf(files), Compression: how.compression, BufferCount: how.bufferCount,
		MaxTransferSize: how.maxTransferSize, BlockSize: how.blockSize}, err
}

// relative is the server's backup directory, which applies to names without a directory.
type relative struct{}

func (relative) Join(name string) (string, error) { return name, nil }
