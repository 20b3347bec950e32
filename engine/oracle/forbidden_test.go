package oracle

import (
	"regexp"
	"strings"
	"testing"
)

// forbidden holds what no statement must hold: what sets something of the server, reads
// a licensed view, overwrites a file, or reaches beyond the account's schema.
var forbidden = regexp.MustCompile(`(?i)\b(ALTER\s+SYSTEM|ALTER\s+DATABASE|ALTER\s+SESSION|ALTER\s+USER|CREATE\s+USER|DROP\s+USER|` +
	`GRANT|REVOKE|SHUTDOWN|STARTUP|TRUNCATE|MERGE|REUSE|CASCADE|FLUSH|` +
	`DBA_HIST\w*|V_?\$?ACTIVE_SESSION_HISTORY|GV_?\$\w+|DBA_ADDM\w*|DBMS_WORKLOAD_REPOSITORY|DBMS_SQLTUNE|DBMS_ADVISOR|` +
	`V_?\$SQL_MONITOR|V_?\$SQL_PLAN_MONITOR|` +
	`EXECUTE\s+IMMEDIATE|DBMS_SQL|UTL_FILE|DBMS_SCHEDULER|CREATE\s+OR\s+REPLACE|ANY\s+TABLE|PUBLIC|DATABASE\s+LINK|` +
	`UNLIMITED|UPDATE|DELETE|TEMPFILE|DEFAULT\s+TABLESPACE)\b`)

// changes are the beginnings of statements that change something, each on what has
// a name of the build's.
var changes = regexp.MustCompile(`^(?:CREATE (?:SMALLFILE|BIGFILE) TABLESPACE|ALTER TABLESPACE|DROP TABLESPACE|CREATE TABLE|` +
	`CREATE(?: UNIQUE)? INDEX|INSERT INTO|DROP TABLE|ALTER TABLE|ALTER INDEX|CREATE PACKAGE(?: BODY)?|CREATE PROCEDURE|` +
	`DROP (?:PACKAGE|PROCEDURE)|COMMENT ON (?:TABLE|COLUMN)) "(FILEWISE_[A-Z]{18})`)

// buildRows are the workloads' changes of rows of the build's own tables.
var buildRows = regexp.MustCompile(`\b(?:UPDATE|DELETE FROM) "FILEWISE_[A-Z]{18}T[0-9A-Z]{2}"|\bFOR UPDATE;|\bFOR UPDATE$|` +
	`\bEXECUTE IMMEDIATE 'SELECT random_int, random_float FROM "FILEWISE_[A-Z]{18}T00" WHERE "KEY" = ' \|\| k;`)

var comments = regexp.MustCompile(`(?m)--.*$`)

// ofCopies are statements on the user of a copy, who has the build's name, and can connect.
var ofCopies = regexp.MustCompile(`^(CREATE USER "FILEWISE_[A-Z]{18}" IDENTIFIED BY "[^"]+" ` +
	`DEFAULT TABLESPACE "FILEWISE_[A-Z]{18}" QUOTA UNLIMITED ON "FILEWISE_[A-Z]{18}"` +
	`|GRANT CREATE SESSION TO "FILEWISE_[A-Z]{18}"|DROP USER "FILEWISE_[A-Z]{18}" CASCADE)$`)

func TestForbidden(t *testing.T) {
	changing := 0
	everyStatement(t).each(func(section, text string) {
		plain := strings.TrimSpace(comments.ReplaceAllString(text, ""))
		if section == "server/parse" || section == "capture/capture-parse" { // of custom SQL, which is guarded, and of rows' work
			plain = strings.ReplaceAll(plain, "DBMS_SQL", "PARSER")
		}
		if section == "server/plan" { // it executes nothing, and takes its rows back
			plain = strings.Replace(plain, "EXECUTE IMMEDIATE 'EXPLAIN PLAN SET", "'SET", 1)
		}
		if section == "server/parameters" || section == "server/privileges" {
			plain = regexp.MustCompile(`'[^']*'`).ReplaceAllString(plain, "''")
		}
		if !strings.HasPrefix(section, "server/") {
			plain = buildRows.ReplaceAllString(plain, "rows")
		}
		if section == "server/copy-import" { // the list of what is left out
			plain = regexp.MustCompile(`'IN \(''USER''.*?\)'`).ReplaceAllString(plain, "''")
		}
		if section == "server/copy-unlink" { // of a file that Filewise has named
			plain = strings.Replace(plain, "SYS.UTL_FILE.FREMOVE(", "(", 1)
		}
		if ofCopies.MatchString(plain) {
			changing++
			return
		}
		if found := forbidden.FindString(plain); found != "" {
			t.Errorf("%s holds %s:\n%.300s", section, found, text)
		}
		word, _, _ := strings.Cut(plain, " ")
		switch word {
		case "SELECT", "ROLLBACK", "BEGIN\n", "DECLARE\n":
			return
		}
		if strings.HasPrefix(plain, "BEGIN") || strings.HasPrefix(plain, "DECLARE") {
			return // of the sections announce, call and lock, whose words are looked at above
		}
		changing++
		if !changes.MatchString(plain) {
			t.Errorf("%s changes what is not the build's:\n%.300s", section, text)
		}
	})
	if changing < 50 {
		t.Errorf("only %d statements change something: the test looks past them", changing)
	}
	for _, bad := range []string{`DROP USER "SALES" CASCADE`, `GRANT DBA TO "FILEWISE_ABCDEFGHIJKLMNOPQR"`,
		`CREATE USER "SALES" IDENTIFIED BY "x"`} {
		if ofCopies.MatchString(bad) {
			t.Errorf("%q passes", bad)
		}
	}
	for _, bad := range []string{
		buildRows.ReplaceAllString(`UPDATE "SALES" SET x = 1`, "rows"), buildRows.ReplaceAllString("DELETE FROM sales", "rows"),
		"ALTER SYSTEM CHECKPOINT", "SELECT * FROM dba_hist_snapshot", "select 1 from v$active_session_history",
		"DROP TABLESPACE x INCLUDING CONTENTS CASCADE CONSTRAINTS", "GRANT DBA TO x", "SIZE 1M REUSE",
	} {
		if !forbidden.MatchString(bad) {
			t.Errorf("%q passes", bad)
		}
	}
}

// What fakes answer by the section's name alone is queried from the views and columns that say it.
func TestAsked(t *testing.T) {
	want := map[string]string{
		"server/homes": "SELECT tablespace_name FROM user_segments WHERE segment_name LIKE :1",
		"server/waits": "total_waits, time_waited_micro, total_waits_fg, time_waited_micro_fg FROM sys.v_$system_event",
		"server/files": "maxblocks, user_blocks",
	}
	everyStatement(t).each(func(section, text string) {
		if strings.Contains(text, want[section]) {
			delete(want, section)
		}
	})
	if len(want) > 0 {
		t.Errorf("not asked: %q", want)
	}
}
