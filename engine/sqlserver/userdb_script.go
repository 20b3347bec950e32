package sqlserver

import (
	"fmt"
	"strings"

	"filewise"
	"filewise/engine/sqlserver/dialect"
	"filewise/internal/marker"
	"filewise/internal/shell"
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

// BackupArms returns what to compare: compression, and sizes and numbers of buffers. With several volumes, each volume
// alone and all together replace the buffers, whose sizes the server also chooses itself.
func (Engine) BackupArms(t filewise.Target, _ filewise.Program) ([]string, error) {
	if len(t.Volumes) < 2 {
		return []string{"compression=off,on", "maxtransfersize=1MiB,4MiB", "buffercount=auto,64"}, nil
	}
	names := filewise.Each(t.Volumes, func(v filewise.Volume) string { return v.Name })
	return []string{"compression=off,on", filewise.OptionVolume + "=" + strings.Join(append(names, everywhere), ",")}, nil
}

// BackupScript returns a script with BACKUP and RESTORE for sqlcmd.
func (Engine) BackupScript(t filewise.Target, l filewise.Layout, _ filewise.Program) (out filewise.BackupScript, err error) {
	d, how, err := ownDesign(t, l, place{data: relative{}})
	if err != nil {
		return out, err
	}
	files, err := d.ownStripes("$(name)")
	if err != nil {
		return out, err
	}
	backup, err := ownBackupText(t, how, pathsOf(files))
	if err != nil {
		return out, err
	}
	how.stripes = pathsOf(files)
	vars := how.vars()
	vars["Source"] = t.Database
	restore, err := ownSQL.Statement("own-restore", vars)
	if err != nil {
		return out, err
	}
	out.Notes = []string{Unproven + ": try it.",
		"NEW-DIRECTORY and DIRECTORY are a name here, of letters, digits, _ and -, which the files of a backup have in the server's " +
			"directories; EMPTY-DATABASE is the name of a database that is made.",
		"It is COPY_ONLY, and no part of your chain of backups: leave that option out if it is to be one.",
		"The password is SQLCMDPASSWORD. Restored files lie in the server's usual directory; on another server, name them by MOVE yourself.",
	}
	client := shell.Quoted(dialect.Client(*t.Address))
	check := func(name string) string {
		return fmt.Sprintf(`case $%s in ''|*[!A-Za-z0-9_-]*) echo "$%s: letters, digits, _ and - alone" >&2; exit 2;; esac`, name, name)
	}
	run := func(text string, variables string) string {
		return fmt.Sprintf(`%s -v %s -Q%s "$@"`, client, variables, shell.Quoted([]string{"", text}))
	}
	how.stripes = pathsOf(files)
	others, left, err := forms{t, how}.all(restore)
	if err != nil {
		return out, err
	}
	out.Others, out.Notes = others, append(out.Notes, left...)
	out.Backup = []string{check("to"), run(backup, `name="$to"`)}
	out.Restore = []string{check("from"), check("database"), run(restore, `name="$from" database="$database"`)}
	return out, err
}

// relative is the server's backup directory, which applies to names without a directory.
type relative struct{}

func (relative) Join(name string) (string, error) { return name, nil }

var _ filewise.BackupTuner = Engine{}
