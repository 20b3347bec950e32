package backup

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"filewise"
	"filewise/engine/sqlserver/dialect"
	"filewise/internal/shell"
	"filewise/internal/sqlfile"
)

// SQLServer writes the scripts of backups of users' databases, which the server makes itself.
type SQLServer struct{ Engine sqlserverEngine }

type sqlserverEngine interface {
	Describe() filewise.Description
	ScriptedBackup(filewise.Target, filewise.Layout) (dialect.Backup, error)
}

//go:embed sqlserver.sql
var sqlserverText string

var sqlserverSQL = sqlfile.Must(sqlfile.Parse("sqlserver", sqlserverText, template.FuncMap{"literal": dialect.Literal,
	"double": func(text string) string { return strings.ReplaceAll(dialect.Literal(text), "'", "''") }})) // within another literal

func backupVars(b dialect.Backup) map[string]any {
	return map[string]any{"Stripes": b.Stripes, "Compression": b.Compression, "BufferCount": b.BufferCount,
		"MaxTransferSize": b.MaxTransferSize, "BlockSize": b.BlockSize}
}

// BackupArms returns what to compare: compression, and sizes and numbers of buffers. With several volumes, each volume
// alone and all together replace the buffers, whose sizes the server also chooses itself.
func (SQLServer) BackupArms(t filewise.Target, _ filewise.Program) ([]string, error) {
	if len(t.Volumes) < 2 {
		return []string{"compression=off,on", "maxtransfersize=1MiB,4MiB", "buffercount=auto,64"}, nil
	}
	names := filewise.Each(t.Volumes, func(v filewise.Volume) string { return v.Name })
	return []string{"compression=off,on", filewise.OptionVolume + "=" + strings.Join(append(names, dialect.Everywhere), ",")}, nil
}

// BackupScript returns a script with BACKUP and RESTORE for sqlcmd.
func (s SQLServer) BackupScript(t filewise.Target, l filewise.Layout, _ filewise.Program) (out filewise.BackupScript, err error) {
	how, err := s.Engine.ScriptedBackup(t, l)
	if err != nil {
		return out, err
	}
	vars := backupVars(how)
	vars["Source"] = t.Database
	restore, err := sqlserverSQL.Statement("restore", vars)
	if err != nil {
		return out, err
	}
	out.Notes = []string{s.Engine.Describe().Unproven + ": try it.",
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
	others, left, err := sqlserverForms{t, how}.all(restore)
	if err != nil {
		return out, err
	}
	out.Others, out.Notes = others, append(out.Notes, left...)
	out.Backup = []string{check("to"), run(how.Statement, `name="$to"`)}
	out.Restore = []string{check("from"), check("database"), run(restore, `name="$from" database="$database"`)}
	return out, err
}
