package backup

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/sqlserver/dialect"
)

// sqlserverForms writes a backup setting for tools other than sqlcmd.
type sqlserverForms struct {
	target filewise.Target
	how    dialect.Backup // its stripes are named nameHere
}

// nameHere is the placeholder for a backup's name in the paths of stripes.
const nameHere = "$(name)"

// all returns the scripts, and in left the reasons why other tools cannot express the setting.
func (f sqlserverForms) all(restore string) (out []filewise.OtherScript, left []string, err error) {
	agent, err := f.agent()
	if err != nil {
		return nil, nil, err
	}
	out = append(out, agent, f.restore(restore), f.powerShell())
	for _, form := range []func() (filewise.OtherScript, string){f.procedure, f.dbatools} {
		script, why := form()
		if why != "" {
			left = append(left, why)
			continue
		}
		out = append(out, script)
	}
	return out, left, nil
}

// agent returns a batch for a step of an Agent job. In such a step $( begins a token.
func (f sqlserverForms) agent() (filewise.OtherScript, error) {
	vars := backupVars(f.how)
	vars["Source"] = untoken(dialect.Literal(f.target.Database))
	vars["Name"] = dialect.Literal(fileName(f.target.Database) + "_")
	files := make([]string, len(f.how.Stripes))
	for i, s := range f.how.Stripes {
		before, after, _ := strings.Cut(s, nameHere)
		files[i] = untoken(dialect.Literal(before)) + " + @name + " + dialect.Literal(after)
	}
	vars["Files"] = files
	text, err := sqlserverSQL.Statement("agent", vars)
	return filewise.OtherScript{Suffix: "-agent.sql", Comment: "-- ", Text: text, Notes: []string{
		"Paste it into a step of type Transact-SQL of a SQL Server Agent job. Each run makes a new set of files, named by the time."}}, err
}

// restore returns the restoring half, with its two names at the top.
func (f sqlserverForms) restore(text string) filewise.OtherScript {
	text = strings.NewReplacer(nameHere, "' + @name + N'", "$(database)", "' + @database + N'").Replace(text)
	return filewise.OtherScript{Suffix: "-restore.sql", Comment: "-- ", Notes: []string{
		"Set @name to what the files' names have before _01, and @database to the name of a database that is made."},
		Text: "DECLARE @name nvarchar(200) = N'', @database nvarchar(128) = N'';\n" + text}
}

// powerShell returns the Agent's batch, run with the module SqlServer.
func (f sqlserverForms) powerShell() filewise.OtherScript {
	line := []string{"Invoke-Sqlcmd", "-ServerInstance", single(f.instance())}
	if user := f.target.Address.User; user != "" {
		line = append(line, "-Credential", "(Get-Credential "+single(user)+")")
	}
	line = append(line, "-InputFile", "($PSCommandPath -replace '\\.ps1$', '-agent.sql')", "-DisableVariables", "-AbortOnError",
		"-ErrorAction", "Stop", "-Verbose")
	return filewise.OtherScript{Suffix: ".ps1", Comment: "# ", Text: strings.Join(line, " "), Notes: []string{
		"It needs the PowerShell module SqlServer, and the file -agent.sql next to it."}}
}

// procedure returns a call of DatabaseBackup in Ola Hallengren's SQL Server Maintenance Solution
// (https://ola.hallengren.com/sql-server-backup.html). DatabaseBackup takes lists with commas. The number of files must
// be the number of directories or a multiple.
func (f sqlserverForms) procedure() (out filewise.OtherScript, why string) {
	name, dirs := f.target.Database, f.dirs()
	once := slices.Compact(slices.Sorted(slices.Values(dirs)))
	switch {
	case strings.ContainsAny(name, ",%[]") || strings.HasPrefix(name, "-") || strings.TrimSpace(name) != name:
		return out, "No call of DatabaseBackup is written: it would take the database's name for a list or a pattern."
	case slices.ContainsFunc(once, func(d string) bool { return strings.Contains(d, ",") }):
		return out, "No call of DatabaseBackup is written: a directory has a comma in its name."
	case len(dirs)%len(once) != 0:
		return out, "No call of DatabaseBackup is written: it needs as many files as directories, or a multiple."
	}
	given := []string{"@Databases = " + dialect.Literal(name)}
	if once[0] != "" {
		given = append(given, "@Directory = "+dialect.Literal(strings.Join(once, ", ")))
	}
	given = append(given, "@BackupType = N'FULL'", "@CopyOnly = N'Y'", "@CheckSum = N'Y'", fmt.Sprintf("@NumberOfFiles = %d", len(dirs)))
	if c := f.how.Compression; c != "" {
		given = append(given, "@Compress = "+dialect.Literal(map[string]string{"on": "Y", "off": "N"}[c]))
	}
	for _, p := range f.sizes() {
		given = append(given, fmt.Sprintf("@%s = %d", p.name, p.value))
	}
	return filewise.OtherScript{Suffix: "-hallengren.sql", Comment: "-- ", Text: "EXECUTE dbo.DatabaseBackup\n  " +
		strings.Join(given, ",\n  ") + ";", Notes: []string{
		"It calls the procedure DatabaseBackup of Ola Hallengren's SQL Server Maintenance Solution, in the database that has it.",
		"@CopyOnly keeps it out of your chain of backups: leave that out for the backups that replace yours."}}, ""
}

// dbatools returns a call of Backup-DbaDatabase (https://docs.dbatools.io/Backup-DbaDatabase), which makes one file for
// each path if there are several.
func (f sqlserverForms) dbatools() (out filewise.OtherScript, why string) {
	line := []string{"Backup-DbaDatabase", "-SqlInstance", single(f.instance())}
	if user := f.target.Address.User; user != "" {
		line = append(line, "-SqlCredential", "(Get-Credential "+single(user)+")")
	}
	line = append(line, "-Database", single(f.target.Database))
	dirs := f.dirs()
	if once := slices.Compact(slices.Sorted(slices.Values(dirs))); len(once) > 1 {
		line = append(line, "-Path", strings.Join(filewise.Each(dirs, single), ","))
	} else {
		if once[0] != "" {
			line = append(line, "-Path", single(once[0]))
		}
		line = append(line, "-FileCount", fmt.Sprint(len(dirs)))
	}
	line = append(line, "-Type", "Full", "-CopyOnly", "-Checksum")
	switch f.how.Compression {
	case "on":
		line = append(line, "-CompressBackup")
	case "off":
		line = append(line, "-CompressBackup:$false")
	}
	for _, p := range f.sizes() {
		line = append(line, "-"+p.name, fmt.Sprint(p.value))
	}
	return filewise.OtherScript{Suffix: "-dbatools.ps1", Comment: "# ", Text: strings.Join(append(line, "-EnableException"), " "),
		Notes: []string{"It needs the PowerShell module dbatools.",
			"-CopyOnly keeps it out of your chain of backups: leave that out for the backups that replace yours."}}, ""
}

// parameter is a size option of BACKUP with the name that both tools use.
type parameter struct {
	name  string
	value int
}

func (f sqlserverForms) sizes() []parameter {
	return slices.DeleteFunc([]parameter{{"BufferCount", f.how.BufferCount}, {"MaxTransferSize", f.how.MaxTransferSize},
		{"BlockSize", f.how.BlockSize}}, func(p parameter) bool { return p.value == 0 })
}

// dirs returns the directories of the stripes, in order, or none for the server's default.
func (f sqlserverForms) dirs() []string {
	return filewise.Each(f.how.Stripes, func(s string) string {
		dir, _, _ := strings.Cut(s, nameHere)
		if cut := strings.TrimRight(dir, `\/`); cut != "" && !strings.HasSuffix(cut, ":") {
			return cut
		}
		return dir
	})
}

// instance returns the server's name for clients, or "localhost" if the address has no host.
func (f sqlserverForms) instance() string {
	words := dialect.Client(*f.target.Address)
	return words[slices.Index(words, "-S")+1]
}

// untoken splits $( in a literal, because Agent and sqlcmd would replace it.
func untoken(text string) string { return strings.ReplaceAll(text, "$(", "$' + N'(") }

// single returns a PowerShell literal. PowerShell also takes four curly quotes for single quotes.
func single(text string) string {
	return "'" + quotes.ReplaceAllString(text, "$0$0") + "'"
}

var (
	quotes  = regexp.MustCompile("['\u2018\u2019\u201a\u201b]")
	unusual = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
)

// fileName returns the parts of a name that a file name can contain.
func fileName(name string) string {
	return cmp.Or(strings.Trim(unusual.ReplaceAllString(name, "_"), "_"), "backup")
}
