package backup

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filewise"
	"filewise/engine/userbackup"
)

// rmanOptions lists RMAN's options for a layout. The layout's backup files are its channels.
var rmanOptions = []filewise.BackupOption{
	{Name: "compress", Words: "no, as usual, or basic, which needs no licence", Check: filewise.OneOf("no", "basic")},
	{Name: "section", Words: "MiB of a datafile that a channel takes at a time, 16 to 1048576, or 0: whole files",
		Check: rmanNumber(16, 1<<20, true)},
	{Name: "filesperset", Words: "datafiles in a backup set, 1 to 64", Check: rmanNumber(1, 64, false)},
}

func rmanNumber(least, most int, zero bool) func(string) error {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err == nil && (n < least && !(zero && n == 0) || n > most) {
			err = errors.New("it is beyond that")
		}
		return err
	}
}

const (
	mostChannels = 64
	channelBytes = 64 << 20 // buffers for reading and writing ("Tuning RMAN Performance")
)

// rmanCheck refuses backups that cannot be made.
func rmanCheck(t filewise.Target, l filewise.Layout, p filewise.Program) error {
	if len(t.Volumes) == 0 {
		return filewise.Errorf(filewise.CodeUsage, "name a directory with --volume NAME=DIR", "there is no volume for the backups")
	}
	if strings.ContainsAny(userbackup.Volume(t, l).Dir, "'\"\n\r%") {
		return filewise.Errorf(filewise.CodeUsage, "name another --volume", "a directory with quotes or %% in its name")
	}
	if strings.ContainsAny(strings.Join(t.Part, ""), "\"\n\r") {
		return filewise.Errorf(filewise.CodeUsage, "name tablespaces as DBA_TABLESPACES has them", "a --part with quotes in its name")
	}
	return userbackup.Check(t, l, p, rmanOptions, mostChannels, channelBytes)
}

// rmanBlock returns a RUN block with a layout's channels.
func rmanBlock(l filewise.Layout, format string, commands ...string) []string {
	out := []string{"RUN {"}
	for i := range l.Backup.Files {
		out = append(out, fmt.Sprintf("ALLOCATE CHANNEL filewise%d DEVICE TYPE DISK%s;", i+1, format))
	}
	return append(append(out, commands...), "}")
}

// rmanParts returns the clauses of BACKUP for a layout's options.
func rmanParts(l filewise.Layout) (kind, clauses string) {
	if v, _ := l.BackupOptions.Get("compress"); v == "basic" {
		kind = " AS COMPRESSED BACKUPSET"
	}
	if v, ok := l.BackupOptions.Get("filesperset"); ok {
		clauses += " FILESPERSET " + v
	}
	if v, ok := l.BackupOptions.Get("section"); ok && v != "0" {
		clauses += " SECTION SIZE " + v + "M"
	}
	return kind, clauses
}

// rmanBackup returns the lines of a full backup that is not part of an incremental strategy.
func rmanBackup(t filewise.Target, l filewise.Layout, to, tag string) []string {
	kind, clauses := rmanParts(l)
	commands := []string{fmt.Sprintf("BACKUP%s%s TAG '%s' %s;", kind, clauses, tag, rmanWhat(t))}
	if kind != "" { // overrides the configured algorithm: the other algorithms are licensed
		commands = append([]string{"SET COMPRESSION ALGORITHM 'BASIC';"}, commands...)
	}
	return rmanBlock(l, " FORMAT '"+to+"/%U'", commands...)
}

// rmanWhat returns the object of a BACKUP command: the database, or the tablespaces to back up.
func rmanWhat(t filewise.Target) string {
	if t.Part == nil {
		return "DATABASE"
	}
	return `TABLESPACE "` + strings.Join(t.Part, `", "`) + `"`
}

// rmanValidate returns the command that reads what a backup would read.
func rmanValidate(t filewise.Target, l filewise.Layout) []string {
	_, clauses := rmanParts(l)
	return rmanBlock(l, "", "BACKUP VALIDATE"+clauses+" "+rmanWhat(t)+";")
}

// rmanTried returns the command that reads a backup as a restore would.
func rmanTried(l filewise.Layout, tag string) []string {
	return rmanBlock(l, "", fmt.Sprintf("RESTORE DATABASE FROM TAG '%s' VALIDATE;", tag))
}

// rmanForget returns the command that removes the records of one tag.
func rmanForget(tag string) []string {
	return []string{fmt.Sprintf("CHANGE BACKUP TAG '%s' UNCATALOG;", tag)}
}

// rmanPlanTag is shown in plans for a backup's tag.
const rmanPlanTag = "FILEWISE_(its tag)"

// rmanScript describes what a trial has RMAN execute.
func rmanScript(t filewise.Target, l filewise.Layout, p filewise.Program) (out filewise.Statements, err error) {
	if err := rmanCheck(t, l, p); err != nil {
		return out, err
	}
	add := func(stage string, lines []string) {
		out.Steps = append(out.Steps, filewise.Step{Stage: stage, On: "rman", SQL: strings.Join(lines, "\n")})
	}
	if l.Discard {
		add(filewise.StageMeasure, rmanValidate(t, l))
		return out, nil
	}
	add(filewise.StageMeasure, rmanBackup(t, l, userbackup.Volume(t, l).Dir+"/backup", rmanPlanTag))
	if p.Restores() {
		add(filewise.StageMeasure, rmanTried(l, rmanPlanTag))
	}
	add(filewise.StageDrop, rmanForget(rmanPlanTag))
	return out, nil
}

// rmanKept returns the script of a setting for use without Filewise.
func rmanKept(l filewise.Layout) filewise.BackupScript {
	shell := func(lines []string) []string {
		return append(append([]string{`rman target "${RMAN_TARGET:-/}" <<END`}, lines...), "END")
	}
	return filewise.BackupScript{
		Notes: []string{
			"Run it on the server's host, as the account of the Oracle software with ORACLE_HOME and ORACLE_SID; RMAN_TARGET sets another " +
				"connect string for RMAN, which then asks for a password. It backs up the datafiles of the database that it connects to, and no " +
				"archived logs.",
			"restore validates alone, whatever database is named: a restore overwrites the database. Do that in RMAN, by RESTORE and RECOVER.",
		},
		Backup: append([]string{`mkdir "$to"`, "tag=FW$(date +%y%m%d%H%M%S)", `echo "$tag" > "$to/tag"`},
			shell(rmanBackup(filewise.Target{}, l, "$to", "$tag"))...),
		Restore: append([]string{`read -r tag < "$from/tag"`}, shell(rmanTried(l, "$tag"))...),
		Proof:   "RESTORE … VALIDATE read it and checked every block; nothing was restored, for that would overwrite the database",
	}
}
