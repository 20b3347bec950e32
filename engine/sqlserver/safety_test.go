package sqlserver

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"filewise/engine/sqlserver/dialect"
	"filewise/internal/marker"
)

// forbidden holds what no statement of the adapter must hold, whatever the layout.
var forbidden = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\bsp_configure\b`),
	regexp.MustCompile(`(?i)\bRECONFIGURE\b`),
	regexp.MustCompile(`(?i)\bDBCC\s+([^C]|C[^H]|CH[^E]|CHECK[^D])`), // CHECKDB reads; see checked
	regexp.MustCompile(`(?i)\bALTER\s+SERVER\b`),
	regexp.MustCompile(`(?i)\bALTER\s+(LOGIN|RESOURCE|ENDPOINT|EVENT)\b`),
	regexp.MustCompile(`(?i)\bCREATE\s+(LOGIN|USER|EVENT|SERVER)\b`),
	regexp.MustCompile(`(?i)\b(GRANT|DENY|REVOKE)\s+\w+.*\bTO\b`),
	regexp.MustCompile(`(?i)\bKILL\b`),
	regexp.MustCompile(`(?i)\bSINGLE_USER\b|\bROLLBACK\s+(IMMEDIATE|AFTER)\b`), // throws others out
	regexp.MustCompile(`(?i)\bSHUTDOWN\b`),
	regexp.MustCompile(`(?i)\bxp_\w+`),
	regexp.MustCompile(`(?i)\bsp_(executesql|OA\w+|dboption|detach_db|attach_db|add_job)\b`),
	regexp.MustCompile(`(?i)\bBACKUP\s+LOG\b`),
	regexp.MustCompile(`(?i)\b(REPLACE|TRUNCATE)\b`),
	regexp.MustCompile(`(?i)\bINIT\b|\bFORMAT\b`), // but over Filewise's own: see renewed
	regexp.MustCompile(`(?i)\btempdb\b`),
	regexp.MustCompile(`(?i)\bdm_db_index_(physical|operational)_stats\b|\bdm_db_database_page_allocations\b`), // scans
	regexp.MustCompile(`(?i)\bWITH\s+TABLOCK|\bSET\s+OFFLINE\b|\bREMOVE\s+FILE\b|\bSHRINKFILE\b`),
}

// named are the statements that change or drop a database, with its name.
var named = regexp.MustCompile(`(?i)\b(?:ALTER|DROP|CREATE|RESTORE)\s+DATABASE\s+(\[(?:[^\]]|\]\])*\]|\S+)`)

// cooled describes how a build goes offline: with no one in it, and back at once.
var cooled = regexp.MustCompile(`ALTER DATABASE (\S+) SET OFFLINE WITH NO_WAIT;\n` +
	`(?:SET @away = SYSUTCDATETIME\(\);\n)?ALTER DATABASE \S+ SET ONLINE;`)

// renewed is a backup over files whose names Filewise made up.
var renewed = regexp.MustCompile(`(?s)^(.*\bDISK = N'[^']*filewise_\w+_backup_1_\d\d\.bak'\s+WITH COPY_ONLY, )FORMAT, INIT,`)

// checked is a server's own check of a database, with its name.
var checked = regexp.MustCompile(`(?i)\bDBCC\s+CHECKDB\s*\(\s*(\[(?:[^\]]|\]\])*\]|[^\s,)]+)\s*(\)\s*WITH\s+NO_INFOMSGS)?`)

// quoted are texts between quotes: names of files and the marker, which say nothing
// to the server. Comments and everything else are looked at.
var quoted = regexp.MustCompile(`N'(?:[^']|'')*'`)

// checkHarmless explains why a batch breaks the rules of DESIGN.md, Safety. If empty, it
// does not.
func checkHarmless(batch string, marked func(name string) bool) string {
	if m := renewed.FindStringSubmatch(batch); m != nil && strings.Count(batch, "DISK =") == strings.Count(batch, "_backup_1_") {
		batch = renewed.ReplaceAllString(batch, "${1}NOFORMAT, NOINIT,")
	}
	bare := strings.Replace(quoted.ReplaceAllString(batch, "N''"), "FROM tempdb.sys.database_files", "FROM sys.database_files", 1) // only read
	bare = strings.Replace(bare, "DBCC TRACESTATUS (-1) WITH NO_INFOMSGS", "", 1)
	bare = cooled.ReplaceAllString(bare, "ALTER DATABASE $1")
	for _, f := range forbidden {
		if m := f.FindString(bare); m != "" {
			return "it says " + m
		}
	}
	for _, m := range named.FindAllStringSubmatch(bare, -1) {
		name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(m[1], "["), "]"), "]]", "]")
		if !marked(strings.TrimSuffix(name, ";")) {
			return "it changes database " + name
		}
	}
	for _, m := range checked.FindAllStringSubmatch(bare, -1) {
		if name := strings.Trim(m[1], "[]"); !marked(name) || m[2] == "" {
			return "it checks database " + name + ", or repairs it"
		}
	}
	alters := regexp.MustCompile(`(?i)\b(ALTER|DROP)\s+DATABASE\b`).MatchString(bare)
	guarded := strings.Contains(bare, ".sys.extended_properties WHERE class = 0") && strings.Contains(bare, "THROW 50002")
	restoring := strings.Contains(bare, "DATABASEPROPERTYEX") && strings.Contains(bare, "THROW 50003")
	waking := strings.Contains(bare, "d.owner_sid = SUSER_SID()") && strings.Contains(bare, "THROW 50007") &&
		strings.Count(bare, "ALTER DATABASE") == 1 && strings.HasSuffix(strings.TrimSuffix(bare, ";"), "SET ONLINE")
	if alters && !guarded && !restoring && !waking {
		return "it alters or drops a database without reading the mark in the same batch"
	}
	others := strings.Contains(bare, ".sys.objects AS o") && strings.Contains(bare, "THROW 50004")
	atOnce := strings.Contains(bare, "DATEDIFF(second, create_date, SYSDATETIME()) < 60)") && strings.Contains(bare, "THROW 50005")
	custom := strings.Contains(batch, `"custom":true`) // in the marker that the batch reads: what is in it is the user's SQL's
	if regexp.MustCompile(`(?i)\bDROP\s+DATABASE\b`).MatchString(bare) && !custom && !others && !restoring && !atOnce {
		return "it drops a database without a look at what others have put in, in the same batch"
	}
	if strings.Contains(bare, "BACKUP DATABASE") && (!strings.Contains(bare, "COPY_ONLY") || !strings.Contains(bare, "NOINIT")) {
		return "it is a backup without COPY_ONLY and NOINIT"
	}
	if strings.Contains(bare, "RESTORE DATABASE") && (!strings.Contains(bare, "MOVE") || !strings.Contains(bare, "IS NOT NULL")) {
		return "it is a restore without MOVE, or over a database that exists"
	}
	return ""
}

func TestNoStatementHarmsAnything(t *testing.T) {
	for _, text := range render(t).batches() {
		if why := checkHarmless(text, func(name string) bool { return name == testName }); why != "" {
			t.Errorf("%s:\n%s", why, text)
		}
	}
}

// TestHarmIsSeen proves that the check above can fail.
func TestHarmIsSeen(t *testing.T) {
	for _, bad := range []string{
		"DBCC CHECKDB ([sales]) WITH NO_INFOMSGS", "DBCC CHECKDB ([" + testName + "], REPAIR_ALLOW_DATA_LOSS)", "DBCC SHRINKDATABASE (x)",
		"DBCC CHECKIDENT (x)", "DBCC TRACEON (3604)",
		"EXEC sp_configure 'x', 1", "reconfigure", "DBCC DROPCLEANBUFFERS", "DBCC FREEPROCCACHE", "DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR)",
		"ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 1", "KILL 55", "BACKUP LOG x TO DISK = N'a'", "BACKUP DATABASE x TO DISK = N'a'",
		"BACKUP DATABASE x TO DISK = N'a' WITH COPY_ONLY, INIT",
		"BACKUP DATABASE x TO\n  DISK = N'D:\\sales.bak'\nWITH COPY_ONLY, FORMAT, INIT, CHECKSUM",
		"RESTORE DATABASE [" + testName + "] FROM DISK = N'a' WITH REPLACE",
		"DROP DATABASE [sales]", "ALTER DATABASE sales SET RECOVERY SIMPLE", "DROP DATABASE [" + testName + "]",
		"ALTER DATABASE [" + testName + "] SET OFFLINE", "ALTER DATABASE [sales] SET OFFLINE WITH NO_WAIT;\nALTER DATABASE [sales] SET ONLINE;",
		"ALTER DATABASE [" + testName + "] SET ONLINE",
		"ALTER DATABASE tempdb MODIFY FILE (NAME = x)",
		"RESTORE DATABASE [" + testName + "] FROM DISK = N'a'", "EXEC xp_cmdshell N'del'", "SHUTDOWN", "CREATE DATABASE [sales]",
		"GRANT CONTROL SERVER TO x", "SELECT * FROM sys.dm_db_index_physical_stats(NULL, NULL, NULL, NULL, NULL)",
		"IF NOT EXISTS (SELECT 1 FROM [" + testName + "].sys.extended_properties WHERE class = 0) BEGIN; THROW 50002, N'x', 1; END; DROP " +
			"DATABASE [" + testName + "]",
		"ALTER DATABASE [" + testName + "] SET SINGLE_USER WITH ROLLBACK IMMEDIATE",
	} {
		if checkHarmless(bad, func(name string) bool { return name == testName }) == "" {
			t.Errorf("passes: %s", bad)
		}
	}
}

// nasty are names and texts that try to break out of their quotes.
var nasty = []string{"a]b", "]]", "[x]", "a'b", "''", "x]; DROP DATABASE [y", "x'; DROP DATABASE y--", "\"", "a\\\nb", "a\\\r\n'b", "\\",
	"ü€𝄞", "--", "/*", "]]]'''[[["}

func TestQuoting(t *testing.T) {
	var batches []string
	for _, n := range nasty {
		if got := readIdent(t, dialect.Ident(n)); got != n {
			t.Errorf("%q as a name reads back as %q", n, got)
		}
		if got := readLiteral(t, dialect.Literal(n)); got != n {
			t.Errorf("%q as a text reads back as %q", n, got)
		}
		batches = append(batches, "SELECT "+dialect.Literal(n)+" AS "+dialect.Ident(n)+";")
	}
	checkGrammar(t, batches)
}

func FuzzQuoting(f *testing.F) {
	for _, n := range nasty {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := readIdent(t, dialect.Ident(text)); got != text {
			t.Errorf("%q as a name reads back as %q", text, got)
		}
		if got := readLiteral(t, dialect.Literal(text)); got != text {
			t.Errorf("%q as a text reads back as %q", text, got)
		}
	})
}

// readIdent reads a bracketed name as the server does: to the first closing
// bracket that is not doubled, which must be the last letter.
func readIdent(t *testing.T, quoted string) string {
	t.Helper()
	inner, ok := strings.CutPrefix(quoted, "[")
	end := 0
	var b strings.Builder
	for ok && end < len(inner) {
		if inner[end] == ']' {
			if end+1 == len(inner) {
				return b.String()
			}
			if inner[end+1] != ']' {
				break
			}
			end++
		}
		b.WriteByte(inner[end])
		end++
	}
	t.Fatalf("%q is no quoted name", quoted)
	return ""
}

// readLiteral reads texts joined by +, with the server's rule of continued lines.
func readLiteral(t *testing.T, quoted string) string {
	t.Helper()
	var out strings.Builder
	rest := quoted
	for {
		inner, ok := strings.CutPrefix(rest, "N'")
		if !ok {
			t.Fatalf("%q is no quoted text", quoted)
		}
		var b strings.Builder
		end := 0
		for ; end < len(inner); end++ {
			if inner[end] == '\'' {
				if end+1 == len(inner) || inner[end+1] != '\'' {
					break
				}
				end++
			}
			b.WriteByte(inner[end])
		}
		if end == len(inner) {
			t.Fatalf("%q does not end", quoted)
		}
		out.WriteString(strings.NewReplacer("\\\r\n", "", "\\\n", "").Replace(b.String()))
		rest = inner[end+1:]
		if rest == "" {
			return out.String()
		}
		rest = strings.TrimPrefix(rest, " + ")
	}
}

// TestNamesOfOthersAreRefused: what is not named by package marker is never looked
// at, let alone dropped.
func TestNamesOfOthersAreRefused(t *testing.T) {
	for _, name := range append([]string{"master", "tempdb", "sales", "filewise", marker.PlanName}, nasty...) {
		if marker.IsName(name) {
			t.Errorf("%q passes for a name of Filewise's", name)
		}
	}
}

// TestHistoryIsSaid: what backups and restores leave in msdb is reported, and what prunes it.
func TestHistoryIsSaid(t *testing.T) {
	page, err := os.ReadFile("../../docs/safety.md")
	ok(t, err)
	if !strings.Contains(string(page), "`msdb`") || !strings.Contains(string(page), "sp_delete_backuphistory") {
		t.Error("docs/safety.md says nothing of the history in msdb")
	}
}
