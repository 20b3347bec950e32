package sqlserver

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
	"filewise/own/backup"
)

// formsOf returns the files next to the script of a layout's backups, by suffix.
func formsOf(t *testing.T, target filewise.Target, l filewise.Layout) (map[string]string, string) {
	t.Helper()
	script, err := backup.SQLServer{Engine: Engine{}}.BackupScript(target, l, filewise.Program{})
	ok(t, err)
	out := map[string]string{}
	for _, o := range script.Others {
		out[o.Suffix] = o.Text
	}
	return out, strings.Join(script.Notes, "\n")
}

// TestOwnForms: one setting, as a step of an Agent job, as PowerShell, and as parameters of two tools. T-SQL
// is right by the grammar, and no name breaks out of its literal.
func TestOwnForms(t *testing.T) {
	target := filewise.Target{Database: theirs, Address: &filewise.Address{Host: "db", User: "it’s", Path: "PROD"},
		Volumes: volumeSets["windows"][:2]}
	forms, notes := formsOf(t, target, ownLayout(4, "volume", "all", "compression", "on", "buffercount", "64", "maxtransfersize", "4MiB",
		"blocksize", "64KiB"))
	for suffix, wants := range map[string][]string{
		"-agent.sql": {`N'D:\it''s [data]\' + @name + N'_01.bak'`, "BUFFERCOUNT = 64, MAXTRANSFERSIZE = 4194304, BLOCKSIZE = 65536",
			"DISK = @file3", "COMPRESSION", "N'user_s_sales_'", "RESTORE VERIFYONLY"},
		"-restore.sql": {"DECLARE @name nvarchar(200) = N'', @database", "QUOTENAME(N'' + @database + N'')", "MOVE N'''"},
		".ps1":         {`-ServerInstance 'db\PROD'`, "(Get-Credential 'it’’s')", "-DisableVariables"},
		"-dbatools.ps1": {"-Database 'user''s ]sales'", `-Path 'D:\it''s [data]','`, "-CompressBackup -BufferCount 64 -MaxTransferSize 4194304 " +
			"-BlockSize 65536", "-CopyOnly"},
	} {
		for _, want := range wants {
			if !strings.Contains(forms[suffix], want) {
				t.Errorf("%s: no %s in\n%s", suffix, want, forms[suffix])
			}
		}
	}
	if strings.Contains(forms["-agent.sql"], "$(") || strings.Contains(forms["-restore.sql"], "$(") {
		t.Error("a name that Agent or sqlcmd would replace is left")
	}
	if forms["-hallengren.sql"] != "" || !strings.Contains(notes, "No call of DatabaseBackup is written") {
		t.Errorf("a name with ] is no pattern of that procedure's: %s", forms["-hallengren.sql"])
	}
	checkGrammar(t, append(tools(t, target), forms["-agent.sql"], forms["-restore.sql"]))
}

// tools returns the calls of both tools for plain names, and what cannot be passed to them; it
// returns the T-SQL among them.
func tools(t *testing.T, target filewise.Target) []string {
	t.Helper()
	target.Database = "Stack Overflow"
	plain, _ := formsOf(t, target, ownLayout(4, "volume", "all", "compression", "off", "buffercount", "50"))
	for _, want := range []string{"@Databases = N'Stack Overflow'", "@NumberOfFiles = 4", "@BufferCount = 50", "@Compress = N'N'",
		"@CopyOnly = N'Y'"} {
		if !strings.Contains(plain["-hallengren.sql"], want) {
			t.Errorf("no %s in\n%s", want, plain["-hallengren.sql"])
		}
	}
	if strings.Contains(plain["-hallengren.sql"], "MaxTransferSize") || !strings.Contains(plain["-dbatools.ps1"], "-CompressBackup:$false") {
		t.Errorf("%s\n%s", plain["-hallengren.sql"], plain["-dbatools.ps1"])
	}
	three, notes := formsOf(t, target, ownLayout(3, "volume", "all"))
	if three["-hallengren.sql"] != "" || !strings.Contains(notes, "or a multiple") {
		t.Errorf("3 files in 2 directories: %s", three["-hallengren.sql"])
	}
	one, _ := formsOf(t, target, ownLayout(3))
	if !strings.Contains(one["-dbatools.ps1"], "-FileCount 3") || strings.Contains(one["-dbatools.ps1"], ",") {
		t.Errorf("%s", one["-dbatools.ps1"])
	}
	target.Database = "a$(ESCAPE_NONE(x))"
	token, _ := formsOf(t, target, ownLayout(1))
	if strings.Contains(token["-agent.sql"], "$(") {
		t.Errorf("a token is left:\n%s", token["-agent.sql"])
	}
	return []string{plain["-hallengren.sql"], plain["-agent.sql"], one["-agent.sql"], token["-agent.sql"]}
}

// TestPowerShellForms: PowerShell's own parser takes the lines, if it is installed.
func TestPowerShellForms(t *testing.T) {
	program, err := osexec.LookPath("pwsh")
	if err != nil {
		t.Skip("NO pwsh: PowerShell's lines are not parsed")
	}
	target := filewise.Target{Database: theirs, Address: &filewise.Address{Host: "db", User: "it’s"}, Volumes: volumeSets["windows"][:2]}
	forms, _ := formsOf(t, target, ownLayout(4, "volume", "all", "compression", "off"))
	for _, suffix := range []string{".ps1", "-dbatools.ps1"} {
		path := filepath.Join(t.TempDir(), "x.ps1")
		ok(t, os.WriteFile(path, []byte(forms[suffix]), 0o600))
		parse := "$e=$null; [void][System.Management.Automation.Language.Parser]::ParseFile('" + path + "',[ref]$null,[ref]$e); exit $e.Count"
		if out, err := osexec.CommandContext(t.Context(), program, "-NoProfile", "-Command", parse).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s\n%s", suffix, err, out, forms[suffix])
		}
	}
}
