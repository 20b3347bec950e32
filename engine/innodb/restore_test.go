package innodb

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/innodb/servertest"
	"filewise/engine/internal/sqlrows"
	"filewise/lab/workload"
)

// shop is a database as users have them, with odd names.
var shop = []string{
	"CREATE DATABASE `la den` CHARACTER SET latin1", "CREATE USER keeper@localhost IDENTIFIED BY 'x9_Long-enough'",
	"GRANT ALL ON `la den`.* TO keeper@localhost", "USE `la den`", "SET NAMES utf8mb4",
	"CREATE TABLE `Länder` (code CHAR(2) PRIMARY KEY, `der Name; --` VARCHAR(50) CHARACTER SET utf8mb4 NOT NULL COMMENT 'a''b;')",
	"INSERT INTO `Länder` VALUES ('de', 'Österreich; nein'), ('fr', 'a\\nb\\\\.;\\n')",
	"CREATE TABLE orders (id BIGINT NOT NULL AUTO_INCREMENT, land CHAR(2) NOT NULL, net DECIMAL(9,2) NOT NULL, " +
		"gross DECIMAL(9,2) AS (net * 1.2) STORED, half DECIMAL(9,2) AS (net / 2) VIRTUAL, note TEXT, bytes VARBINARY(20), " +
		"PRIMARY KEY (id), UNIQUE KEY `u``k` (land, id), KEY (half)) AUTO_INCREMENT=5000",
	"CREATE TABLE `Cödes-2 日本` (`der Cöde` VARCHAR(20) PRIMARY KEY, n INT)",
	"CREATE TABLE states (code CHAR(2) PRIMARY KEY)",
	"CREATE TABLE `lines` (id INT AUTO_INCREMENT PRIMARY KEY, land CHAR(2), body TEXT, FULLTEXT (body), " +
		"CONSTRAINT `f;k` FOREIGN KEY (land) REFERENCES `Länder` (code), state CHAR(2), FOREIGN KEY (state) REFERENCES states (code))",
	"CREATE TABLE log (n INT)",
	"CREATE DEFINER=keeper@localhost SQL SECURITY INVOKER VIEW big AS SELECT id, note FROM orders WHERE net > 500",
	"CREATE DEFINER=keeper@localhost TRIGGER up BEFORE INSERT ON orders FOR EACH ROW BEGIN\n" +
		"  IF NEW.net < 0 THEN\n SET NEW.note = ';\n';\n END IF;\n INSERT INTO log VALUES (1);\nEND",
	"CREATE DEFINER=keeper@localhost PROCEDURE count_up(IN n INT) BEGIN\n -- GRANT nothing;\n SELECT n;\nEND",
	"CREATE DEFINER=keeper@localhost EVENT nightly ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01' DO DELETE FROM orders WHERE id < 0",
	"SET SESSION sql_mode = ''",
	"CREATE TABLE `group` (`select` INT PRIMARY KEY, `up;` INT, CONSTRAINT self FOREIGN KEY (`up;`) REFERENCES `group` (`select`))",
	"INSERT INTO `group` VALUES (1, 1), (2, 1)", "CREATE TABLE hen (id INT PRIMARY KEY)",
	"CREATE TABLE egg (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES hen (id))",
	"ALTER TABLE hen ADD CONSTRAINT egg_first FOREIGN KEY (id) REFERENCES egg (id)",
	"CREATE TABLE `sh.apes` (at POINT NOT NULL, SPATIAL KEY (at), e ENUM('a''b', 'ü;') COMMENT 'US$ ;\n*/ --', s SET('x', 'y'), b BIT(9), " +
		"j JSON, y YEAR, z DATETIME NOT NULL DEFAULT '0000-00-00 00:00:00', t TIMESTAMP NULL, d DATE, f FLOAT, l VARCHAR(9) " +
		"CHARACTER SET latin1 COLLATE latin1_german2_ci, n VARCHAR(9) CHARACTER SET utf16, raw BLOB, CHECK (f < 1e9)) " +
		"COMMENT 'PARTITION BY none;\nENGINE=x'",
	"INSERT INTO `sh.apes` VALUES (ST_GeomFromText('POINT(1 2)'), 'ü;', 'x,y', b'100000001', '{\"a\": \";\\\\n\"}', 2026, '0000-00-00', " +
		"NULL, '2026-00-00', 1.5, 'Straße', 'ü', 0x00FF0A3B)",
	"CREATE DEFINER=keeper@localhost FUNCTION `plus;one`(n INT) RETURNS INT DETERMINISTIC BEGIN\n DECLARE x INT DEFAULT 1;\n" +
		" CREATE TEMPORARY TABLE IF NOT EXISTS `t;` (a INT);\n RETURN n + x;\nEND",
	"CREATE DEFINER=keeper@localhost TRIGGER `af;ter` AFTER UPDATE ON `group` FOR EACH ROW SET @x = ';'",
	"CREATE VIEW bigger AS SELECT id, ';\n' AS `t;` FROM big WHERE note <> 'DEFINER=`a`@`b`'",
	"CREATE VIEW `a first` AS SELECT id FROM big WHERE id < 100 WITH CHECK OPTION", "CREATE VIEW `a again` AS SELECT * FROM `a first`",
	"CREATE VIEW ones AS SELECT `plus;one`(id) AS n FROM states JOIN big",
	"INSERT INTO `Cödes-2 日本` VALUES ('ü', 1), ('b', 2), ('c', 3)", "INSERT INTO `lines` (land, body) VALUES ('de', 'x'), (NULL, 'y')",
}

// shopOf holds what one product has and the other has not.
var shopOf = map[Engine][]string{
	MariaDB: {"CREATE SEQUENCE `num;bers` START 5 INCREMENT 3 CACHE 7", "DO NEXTVAL(`num;bers`)",
		"CREATE TABLE drawn (id INT PRIMARY KEY DEFAULT NEXTVAL(`num;bers`))", "INSERT INTO drawn VALUES (1)",
		"CREATE TABLE past (id INT PRIMARY KEY, n INT) WITH SYSTEM VERSIONING", "INSERT INTO past VALUES (1, 1)", "UPDATE past SET n = 2"},
	MySQL: {"CREATE TABLE late (id INT PRIMARY KEY, a INT DEFAULT (1 + 1), b VARCHAR(9) INVISIBLE, KEY f ((a + 1) DESC), KEY h (b) INVISIBLE)",
		"INSERT INTO late (id, b) VALUES (1, 'x')", "ANALYZE TABLE late UPDATE HISTOGRAM ON a"},
}

var shopRows = "INSERT INTO orders (land, net, note, bytes) VALUES " +
	strings.TrimSuffix(strings.Repeat("('de', 700, 'x\\\\\\'\\n;\\n', 0xFF00275C0A), ('fr', 1, NULL, NULL), ", 250), ", ")

// shown are queried from the original and of what was restored.
var shown = []string{
	"SHOW CREATE TABLE orders", "SHOW CREATE TABLE `Länder`", "SHOW CREATE TABLE `lines`", "SHOW CREATE TABLE `Cödes-2 日本`",
	"SHOW CREATE VIEW big", "SHOW CREATE TRIGGER up", "SHOW CREATE PROCEDURE count_up", "SHOW CREATE EVENT nightly",
	"SELECT * FROM orders ORDER BY id", "SELECT * FROM `Länder` ORDER BY code", "SELECT * FROM `lines` ORDER BY id",
	"SELECT * FROM `Cödes-2 日本` ORDER BY 1", "SELECT * FROM log", "SELECT * FROM big ORDER BY id", "SHOW TABLES",
	"SHOW CREATE TABLE `group`", "SHOW CREATE TABLE hen", "SHOW CREATE TABLE egg", "SHOW CREATE TABLE `sh.apes`",
	"SELECT * FROM `group` ORDER BY 1",
	"SELECT ST_AsText(at), e, s, b + 0, j, y, CAST(z AS CHAR), t, CAST(d AS CHAR), f, l, HEX(n), HEX(raw) FROM `sh.apes`",
	"SHOW CREATE FUNCTION `plus;one`", "SHOW CREATE TRIGGER `af;ter`", "SHOW CREATE VIEW bigger", "SELECT * FROM bigger ORDER BY id",
	"SELECT COUNT(*) FROM ones", "SHOW CREATE VIEW `a first`", "SELECT * FROM `a again` ORDER BY 1",
}

var shownOf = map[Engine][]string{
	MariaDB: {"SHOW CREATE SEQUENCE `num;bers`", "SELECT next_not_cached_value FROM `num;bers`", "SHOW CREATE TABLE past",
		"SELECT * FROM past"},
	MySQL: {"SHOW CREATE TABLE late", "SELECT id, a, b FROM late"},
}

// unlike holds what a layout, and a server without the original's accounts, makes different.
var unlike = regexp.MustCompile("(?s)DEFINER=`\\w+`@`\\w+` ?|/\\*!50100 TABLESPACE `\\w+` \\*/ | DATA DIRECTORY='[^']*'|" +
	"\\s*(/\\*!50100)?\\s*PARTITION BY.*$| \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d\\d$| *\\bdefiner=\\S+")

var code = regexp.MustCompile("^SHOW CREATE (TRIGGER|PROCEDURE|FUNCTION|EVENT)")

// restored: dumps of both kinds fill a managed server's layouts; all that was in them is
// there, in the layout's files; the original is as it was; what a layout cannot hold is
// refused with the table's name.
func restored(t *testing.T, e Engine, server *servertest.Server) {
	conn, err := server.Root.Conn(t.Context())
	fatal(t, err)
	defer conn.Close()
	exec := func(statement string) {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%.300s: %v", statement, err)
		}
	}
	for _, statement := range slices.Concat(shop, shopOf[e], []string{shopRows}) {
		exec(statement)
	}
	defer func() { exec("DROP DATABASE `la den`"); exec("DROP USER keeper@localhost") }()
	before, shown := dump(t, server, "--skip-dump-date"), slices.Concat(shown, shownOf[e])
	program := func(from string, tables ...filewise.CustomTable) filewise.Program {
		custom := &workload.Custom{From: from, Tables: tables, Transactions: []workload.Transaction{{Name: "clear", Weight: 1,
			SQL: script("DELETE FROM orders")}}}
		for _, q := range shown {
			custom.Checks = append(custom.Checks, workload.CustomCheck{Query: script(q), NoRows: true})
		}
		w, err := workload.NewCustom(workload.Params{Connections: 1, Custom: custom}, 1)
		fatal(t, err)
		return w.Program()
	}
	dir := t.TempDir()
	plain, several := filepath.Join(dir, "plain.sql"), filepath.Join(dir, "dumped")
	fatal(t, os.WriteFile(plain, dump(t, server, "--routines", "--events", "--databases"), 0o600))
	unnamed := filepath.Join(dir, "unnamed.sql") // its database is in its head alone
	fatal(t, os.WriteFile(unnamed, dump(t, server, "--routines", "--events"), 0o600))
	mydumped(t, server, several)
	orders, codes := filewise.CustomTable{Name: "orders", Key: "id"}, filewise.CustomTable{Name: "Cödes-2 日本", Key: "der Cöde"}
	target := enginetest.Scratch(t, e.Name(), 2, filewise.DurabilityFull)
	refused(t, e, target, func(tables ...filewise.CustomTable) filewise.Program { return program(plain, tables...) })
	refusedTogether(t, e, target, func(tables ...filewise.CustomTable) filewise.Program { return program(plain, tables...) })
	s := enginetest.Open(t, enginetest.Within(t, minutes), e, target)
	for _, c := range []struct {
		from string
		kind filewise.Kind
	}{{plain, filewise.KindPartitions}, {several, filewise.KindSystem}, {unnamed, filewise.KindPerTable}} {
		l := filewise.Layout{Name: "l", Kind: c.kind, Data: filewise.Spread{Files: 2, Bytes: 24 << 20, Allocation: filewise.Growing,
			Placement: filewise.PlaceRoundRobin}}
		p := program(c.from, orders, codes)
		fatal(t, e.CheckDump(t.Context(), target, []filewise.Layout{l}, p))
		db, err := s.Build(enginetest.Within(t, minutes), l, p)
		fatal(t, err)
		for i, q := range shown {
			rows, err := db.Query(t.Context(), fmt.Sprintf("check-%d", i+1))
			fatal(t, err)
			original, err := sqlrows.Query(t.Context(), conn, q)
			fatal(t, err)
			if c.from != plain && code.MatchString(q) { // mydumper writes their text in another way, and they name the database's collation
				rows, original = rows[:1], original[:1]
				rows[0], original[0] = rows[0][:1], original[0][:1]
			}
			if got, want := flat(rows), flat(original); got != want {
				t.Errorf("%s: %s:\n%s\ninstead of\n%s", c.kind, q, got, want)
			}
		}
		placed(t, db, c.kind)
		if c.kind == filewise.KindPartitions {
			resets(t, db)
		}
		fatal(t, db.Drop(t.Context()))
	}
	ansi := filepath.Join(dir, "ansi.sql.zst")
	packed, err := zstd.NewWriter(nil)
	fatal(t, err)
	text := append([]byte("SET not_known_yet = 1;\n"), dump(t, server, "--compatible=ansi", "--default-character-set=utf8mb4",
		"--skip-triggers", "--routines", "--hex-blob")...)
	fatal(t, os.WriteFile(ansi, packed.EncodeAll(text, nil), 0o600))
	l := filewise.Layout{Name: "l", Kind: filewise.KindPartitions, Data: filewise.Spread{Files: 2, Bytes: 24 << 20,
		Allocation: filewise.Growing, Placement: filewise.PlaceRoundRobin}}
	shown = []string{"SELECT * FROM orders ORDER BY id", "SELECT * FROM `Länder` ORDER BY code"}
	p := program(ansi, orders)
	fatal(t, e.CheckDump(t.Context(), target, []filewise.Layout{l}, p))
	db, err := s.Build(enginetest.Within(t, minutes), l, p)
	fatal(t, err)
	for i, q := range shown {
		rows, err := db.Query(t.Context(), fmt.Sprintf("check-%d", i+1))
		fatal(t, err)
		original, err := sqlrows.Query(t.Context(), conn, q)
		fatal(t, err)
		if got, want := flat(rows), flat(original); got != want {
			t.Errorf("--compatible=ansi: %s:\n%s\ninstead of\n%s", q, got, want)
		}
	}
	fatal(t, db.Drop(t.Context()))
	if after := dump(t, server, "--skip-dump-date"); !slices.Equal(before, after) {
		t.Error("the original has changed")
	}
}

const minutes = 3 * time.Minute

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v; %s", err, filewise.RemedyOf(err))
	}
}

func script(text string) workload.Script { return workload.Script{"": {{Text: text}}} }

// dump returns the database as MariaDB's program writes it, for MySQL as well.
func dump(t *testing.T, s *servertest.Server, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "mariadb-dump", append(append([]string{"--no-defaults", "--socket=" + s.Socket, "--user=root",
		"--single-transaction"}, args...), "la den")...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, cmd.Stderr)
	}
	return out
}

func mydumped(t *testing.T, s *servertest.Server, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "mydumper", "--socket="+s.Socket, "--user=root", "--database=la den", "--outputdir="+dir,
		"--triggers", "--routines", "--events", "--compress")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// refused: what a layout of partitions cannot hold.
func refused(t *testing.T, e Engine, target filewise.Target, program func(...filewise.CustomTable) filewise.Program) {
	t.Helper()
	l := filewise.Layout{Kind: filewise.KindPartitions, Data: filewise.Spread{Files: 2, Bytes: 8 << 20, Allocation: filewise.Growing}}
	for table, says := range map[filewise.CustomTable]string{
		{Name: "orders", Key: "land"}: "table orders cannot be divided by land: its key (id) does not contain it",
		{Name: "lines", Key: "id"}:    "table lines cannot be divided: it has FULLTEXT KEY `body`",
		{Name: "states", Key: "code"}: "table lines refers to states", {Name: "none", Key: "id"}: "no table none",
	} {
		err := e.CheckDump(t.Context(), target, []filewise.Layout{l}, program(table))
		if err == nil || !strings.Contains(err.Error(), says) || filewise.CodeOf(err) != filewise.CodeUsage ||
			filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v; %s", table.Name, err, filewise.RemedyOf(err))
		}
	}
}

// refusedTogether: all tables that cannot be divided are in one message, with those that can.
func refusedTogether(t *testing.T, e Engine, target filewise.Target, program func(...filewise.CustomTable) filewise.Program) {
	t.Helper()
	l := filewise.Layout{Kind: filewise.KindPartitions, Data: filewise.Spread{Files: 2, Bytes: 8 << 20, Allocation: filewise.Growing}}
	err := e.CheckDump(t.Context(), target, []filewise.Layout{l}, program(filewise.CustomTable{Name: "states", Key: "code"},
		filewise.CustomTable{Name: "orders", Key: "id"}, filewise.CustomTable{Name: "lines", Key: "id"}))
	if err == nil || !strings.Contains(err.Error(), "refers to states") || !strings.Contains(err.Error(), "FULLTEXT") ||
		!strings.Contains(filewise.RemedyOf(err), "can be divided: orders") {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
}

// placed: the files are the layout's, on both volumes.
func placed(t *testing.T, db *filewise.Database, kind filewise.Kind) {
	t.Helper()
	fatal(t, db.Settle(t.Context()))
	files, err := db.Observe(t.Context())
	fatal(t, err)
	volumes := map[string]int{}
	for _, f := range files {
		if f.Role == filewise.RoleData {
			volumes[f.Volume]++
		}
	}
	want := map[filewise.Kind]int{filewise.KindPartitions: 2, filewise.KindSystem: 1, filewise.KindPerTable: 1}[kind]
	if volumes["v1"] != want || volumes["v2"] != want {
		t.Errorf("%s: data are on %v", kind, volumes)
	}
}

// resets: the copy brings the rows back that work has taken away.
func resets(t *testing.T, db *filewise.Database) {
	t.Helper()
	count := func() int {
		rows, err := db.Query(t.Context(), fmt.Sprintf("check-%d", 1+slices.Index(shown, "SELECT * FROM orders ORDER BY id")))
		fatal(t, err)
		return len(rows)
	}
	before := count()
	fatal(t, db.Reset.Snapshot(t.Context()))
	session, err := db.Connect(t.Context(), 0, 0)
	fatal(t, err)
	if _, err = session.Do(t.Context(), 0, 1); err != nil || count() != 0 {
		t.Errorf("%v; %d rows are left", err, count())
	}
	fatal(t, session.Close())
	fatal(t, db.Reset.Reset(t.Context()))
	if after := count(); after != before {
		t.Errorf("%d rows after the reset, %d before", after, before)
	}
}

// flat are rows as text, without what is unlike.
func flat(rows [][]any) string {
	var all []string
	for _, row := range rows {
		all = append(all, unlike.ReplaceAllString(strings.Trim(fmt.Sprint(row), "[]"), ""))
	}
	return strings.Join(all, "\n")
}
