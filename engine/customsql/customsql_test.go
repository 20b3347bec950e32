package customsql

import (
	"slices"
	"strings"
	"testing"

	"filewise"
)

var (
	plain    = Rules{Brackets: true}
	mysql    = Rules{Backslash: true, Hash: true, Qualified: true}
	postgres = Rules{Dollar: true, Numbered: "$"}
	oracle   = Rules{Upper: true, Qualified: true, Numbered: ":", Each: true}
	transact = Rules{Transact: true, Numbered: "@p"}
)

func custom(text string) *filewise.CustomSQL {
	return &filewise.CustomSQL{
		Tables: []filewise.CustomTable{{Name: "t", Key: "id"}},
		Setup:  []filewise.CustomText{{Text: text, File: "f", Line: 10}},
		Sections: map[string]filewise.CustomSection{"s": {Params: []string{"a", "b"},
			Texts: []filewise.CustomText{{Text: text, File: "f", Line: 10}}}},
	}
}

func TestSection(t *testing.T) {
	for _, c := range []struct {
		rules      Rules
		text, want string
		order      []int
	}{
		{plain, "SELECT :b, :a, :b", "SELECT ?, ?, ?", []int{1, 0, 1}},
		{postgres, "SELECT :b, :a::int, :b", "SELECT $1, $2::int, $1", []int{1, 0}},
		{plain, "SELECT ':a', \":a\", `:a`, [:a] -- :a\n, :a /* :a */", "SELECT ':a', \":a\", `:a`, [:a] -- :a\n, ? /* :a */", []int{0}},
		{plain, "SELECT 'it''s :a', :a", "SELECT 'it''s :a', ?", []int{0}},
		{mysql, `SELECT 'it\'s :a', :a # :a`, `SELECT 'it\'s :a', ? # :a`, []int{0}},
		{mysql, "SELECT 5--3, :a", "SELECT 5--3, ?", []int{0}},
		{postgres, `SELECT 'it\', :a`, `SELECT 'it\', $1`, []int{0}},
		{postgres, `SELECT E'it\' :a', x[1:b], $q$ :a ; $q$, :a`, `SELECT E'it\' :a', x[1:b], $q$ :a ; $q$, $1`, []int{0}},
		{postgres, "SELECT /* a /* b */ :a */ :b", "SELECT /* a /* b */ :a */ $1", []int{1}},
		{transact, "SELECT [a]] :a], :b, \":a\", 'it''s :a', :b /* a /* b */ :a */",
			"SELECT [a]] :a], @p1, \":a\", 'it''s :a', @p1 /* a /* b */ :a */", []int{1}},
	} {
		all, err := c.rules.Section(custom(c.text), "s")
		if err != nil || len(all) != 1 || all[0].Text != c.want || !slices.Equal(all[0].Order, c.order) {
			t.Errorf("%s: %+v, %v", c.text, all, err)
		}
	}
	all, err := plain.Section(custom("SELECT 1;\n\n -- why\nSELECT ';';\n;"), "s")
	if err != nil || len(all) != 2 || all[0].Place != "f:10" || all[1].Place != "f:13" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := plain.Section(custom("SELECT\n :c"), "s"); err == nil || !strings.Contains(err.Error(), "f:11: parameter :c is unknown") {
		t.Error(err)
	}
}

func TestChance(t *testing.T) {
	o := custom("")
	section := o.Sections["s"]
	section.Drawn = []string{"b"}
	for text, want := range map[string]bool{
		"INSERT INTO t VALUES (1, ':b')":         false,
		"INSERT INTO t VALUES (:a, 1)":           false,
		"INSERT INTO t VALUES (:a, :b)":          true,
		"INSERT INTO t VALUES (random(), 1)":     true,
		"INSERT INTO t SELECT MAX(i) + 1 FROM t": true,
	} {
		section.Texts = []filewise.CustomText{{Text: text, File: "f", Line: 1}}
		o.Sections["s"] = section
		if all, err := postgres.Section(o, "s"); err != nil || all[0].Chance != want {
			t.Errorf("%s: %+v, %v", text, all, err)
		}
	}
}

func TestRefuse(t *testing.T) {
	for _, text := range []string{"USE other", "drop  database x", "/* hm */ Drop\nSchema x", "ATTACH 'x' AS y", "ALTER SYSTEM SET a = 1",
		"SET GLOBAL a = 1", "COMMIT", "BEGIN",
		"SET @@GLOBAL.a = 1", "SET SESSION a = 1, GLOBAL b = 2", "SET @@persist.a = 1", "SET PASSWORD = 'x'",
		"SET STATEMENT a = 1 FOR DROP DATABASE x",
		"SET ROLE x", "CHECKPOINT", "FLUSH TABLES", "COMMENT ON DATABASE x IS 'y'", "REINDEX DATABASE x", "CREATE TABLE u (i INT)",
		"LOAD DATA INFILE '/x' INTO TABLE t", "COPY t TO '/x'", "COPY t FROM '/x'", "SELECT pg_logfile_rotate()",
		"SET sql_log_bin = 0", "SET @a = 1, @@session.gtid_next = 'x'", "SET log_statement = 'all'", "SET default_storage_engine = CONNECT",
		"SELECT ts_rewrite('a'::tsquery, 'SELECT pg_read_file($$/x$$)')", "PREPARE TRANSACTION 'x'", "LOCK TABLES t WRITE",
		"SECURITY LABEL ON TABLE t IS 'x'", `SET "role" = x`, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'",
		"SET SESSION a = 1, @@sql_mode = ''",
		"SET standard_conforming_strings = off", "SET/**/`Session_`, \"authorization\" = x",
		"SELECT pg_catalog.pg_read_file('/x')", `SELECT "pg_terminate_backend"(3)`, "INSERT INTO t SELECT lo_export(1, '/x')",
		"UPDATE t SET a = LOAD_FILE('/x')", "SELECT * FROM dblink('x', 'y') AS z", "EXPLAIN ANALYZE SELECT pg_reload_conf()",
		"(SELECT 1 INTO DUMPFILE '/x')",
		"SET @@session.sql_mode = ''", "SET @@local.character_set_client = gbk", "SET @a = 1, autocommit = 0", "SET @@session.autocommit = 0",
		"SET LOCAL session_authorization TO x", "LOCK TABLE mysql.user WRITE", "ANALYZE NO_WRITE_TO_BINLOG TABLE t, o.t", "CALL sys.p()",
		"SELECT pg_copy_physical_replication_slot('a', 'b')", "SELECT pg_log_backend_memory_contexts(1)", "SELECT binary_upgrade_x()",
		"UPDATE pg_catalog.pg_database SET datallowconn = false", "WITH a AS (DELETE FROM pg_authid RETURNING 1) SELECT 1",
		"SELECT 1 INTO OUTFILE '/x'", "COPY t FROM PROGRAM 'x'", "GRANT ALL ON x TO y", "CREATE TABLESPACE x", "SELECT 1; KILL 3"} {
		if _, err := mysql.Section(custom(text), "s"); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"DROP TABLE other.t", "TRUNCATE `other`.`t`", "/*!50000 DROP DATABASE x */", "SELECT 1 /*M! , 2 */"} {
		if _, err := mysql.Section(custom(text), "s"); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"SELECT 'DROP DATABASE x'", "UPDATE t SET used = 1", "SELECT a.b FROM a", "INSERT INTO program VALUES (1)",
		"SELECT grant_date FROM t", "SET @x = 1", "SET SESSION sort_buffer_size = 1", "SET LOCAL work_mem = '1MB'",
		"WITH a AS (SELECT 1) SELECT * FROM a",
		"INSERT INTO t VALUES ('GLOBAL')", "CALL p(1)", "CALL p(t.a)",
		"ANALYZE SELECT a.b FROM a", "DO SLEEP(0)", `SELECT "role", 'pg_read_file(x)' FROM t`,
		"SELECT pg_read FROM t"} {
		if _, err := mysql.Section(custom(text), "s"); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What a server would read in another way than the scanner, so that what is refused stood in what
// looks like a comment or a text.
func TestRefuseWhatIsHidden(t *testing.T) {
	file := "pg_read_file($q$/etc/passwd$q$)"
	for _, c := range []struct {
		rules Rules
		texts []string
	}{
		{postgres, []string{"SELECT 1 -- x\r, " + file, "SELECT 1 AS x$$$, " + file + " AS y$$", "SELECT 1 AS x1$$$, " + file + " AS y$$",
			"SELECT E'a'\n'\\' ', " + file + ", E'' || ' '", "SELECT E'a' -- b\n'\\' ', " + file + ", E'' || ' '", `SELECT x$e'\', ` + file + ` --'`,
			`SELECT U&"\0070g_read_file"('/x')`, `SELECT u&"!0070g_read_file" UESCAPE '!' ('/x')`, `SET U&"!0072ole" UESCAPE '!' = x`,
			`SET U&"\0072ole" = x`,
			"SELECT set_config('role', 'x', false)", "SELECT set_config/**/('ro' || 'le', 'x', false)", `SELECT "set_config"(:a, 'x', false)`,
			"SELECT set_config(E'a.b', 'x', false)", "UPDATE pg_catalog.pg_settings SET setting = 'x' WHERE name = 'role'",
			"SET client_encoding = 'GBK'", "SET NAMES 'SJIS'", "SELECT pg_start_backup('x')", "SELECT pg_file_write('/x', 'y', false)",
			"SELECT pg_stat_statements_reset()", "SELECT pg_buffercache_evict_all()", "SELECT pg_logical_emit_message(true, 'x', 'y')",
			"SELECT query_to_xml('SELECT pg_read_file($$/x$$)', true, false, '')", "SELECT * FROM pg_catalog.ts_stat('SELECT 1')",
			"SELECT query_to_xml_and_xmlschema('SELECT 1', true, false, '')"}},
		{mysql, []string{"SELECT 1 --\x7f' \n, LOAD_FILE('/x') -- '", "SELECT 1 -- '\x00', LOAD_FILE('/x')", "SET NAMES gbk",
			"SET CHARACTER SET sjis", "SET character_set_client = big5", "SET CHARSET gbk", "EXECUTE IMMEDIATE CONCAT('DROP ', 'DATABASE x')",
			"SELECT 1 # x\r, LOAD_FILE('/x')"}},
		{transact, []string{"SELECT 1 -- x\r SHUTDOWN"}},
	} {
		for _, text := range c.texts {
			if _, err := c.rules.Section(custom(text), "s"); filewise.CodeOf(err) != filewise.CodeUsage ||
				!strings.Contains(err.Error(), "is refused") {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
	for _, text := range []string{"SELECT 1 -- x\r\n, 2", "SELECT set_config('app.tenant', 'x', false)", "SELECT E'a'\n'\\'', 1' AS b",
		"SELECT $$it's$$, 1$$;$$", "SELECT U&'\\0041'", `SELECT "U&" FROM t`, "SELECT 'a' 'b'"} {
		if all, err := postgres.Section(custom(text), "s"); err != nil || len(all) != 1 {
			t.Errorf("%q: %d statements, %v", text, len(all), err)
		}
	}
}

// A table of another database, wherever its name stands in DDL; a dot elsewhere is a column's.
func TestRefuseOtherDatabases(t *testing.T) {
	site := Site{Spread: map[string]Place{"t": {}}}
	setup := func(text string) error {
		_, err := mysql.Setup(custom("CREATE TABLE t (id INT) {{spread \"t\"}};"+text), site)
		return err
	}
	for _, text := range []string{"DROP TABLE a, b, c, d, e, f, g, other.t", "RENAME TABLE a TO b, c TO d, e TO other.e",
		"DROP TABLE `o` . `t`",
		"ALTER TABLE t EXCHANGE PARTITION p WITH TABLE other.u", "ALTER TABLE t ADD a INT, ADD b INT, ADD c INT, RENAME TO other.t",
		"ALTER TABLE t ADD a INT, RENAME other . t", "CREATE TABLE IF NOT EXISTS other.t (i INT)", "CREATE TABLE o$x.t (i INT)",
		"CREATE INDEX i USING BTREE ON other.t (a)",
		"CREATE OR REPLACE ALGORITHM=MERGE DEFINER=`a`@`b` SQL SECURITY INVOKER VIEW other.v AS SELECT 1", "TRUNCATE `other`.t",
		"ALTER TABLE t CONVERT PARTITION p TO TABLE o.x", "ALTER TABLE t CONVERT TABLE o.x TO PARTITION p VALUES LESS THAN (1)",
		"CREATE AGGREGATE FUNCTION o.f() RETURNS INT RETURN 1", "OPTIMIZE TABLE o.t", "CREATE GROUP type SUPERUSER", "DROP OWNED BY a, type",
		"CREATE FUNCTION f RETURNS STRING SONAME 'x.so'", "START ALL SLAVES",
		"CREATE FUNCTION f() RETURNS int AS '/x.so', 'system' LANGUAGE C", "CREATE FUNCTION f() RETURNS int LANGUAGE 'c' AS '/x.so'",
		"CREATE PROCEDURE f() LANGUAGE plpython3u AS 'x'", "DO LANGUAGE plperlu 'x'", "CREATE FUNCTION f() RETURNS int AS 'x' LANGUAGE"} {
		if err := setup(text); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"CREATE VIEW v AS SELECT a.x FROM a JOIN b ON a.x = b.x", "CREATE TABLE u AS SELECT t.id FROM t",
		"CREATE FUNCTION f() RETURNS int LANGUAGE \"plpgsql\" AS 'x'", "CREATE TABLE v (language TEXT)", "DO SLEEP(0)",
		"ALTER TABLE t ADD a DECIMAL(9, 2) DEFAULT 1.5", "DROP TABLE IF EXISTS `a.b`", "ALTER TABLE t ADD CHECK (t.id > 0.5)"} {
		if err := setup(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What reaches out of a database on MariaDB and MySQL but by the name behind DDL.
func TestOutward(t *testing.T) {
	site := Site{Spread: map[string]Place{"t": {}}}
	setup := func(text string) error {
		_, err := mysql.Setup(custom("CREATE TABLE t (id INT) {{spread \"t\"}};"+text), site)
		return err
	}
	for _, text := range []string{"DROP FUNCTION f", "DROP FUNCTION IF EXISTS `f`", "PREPARE s FROM 'DROP DATABASE x'", "PREPARE s FROM @x",
		"BEGIN NOT ATOMIC DROP DATABASE x; END", "CREATE TABLE u (i INT) DATA DIRECTORY '/x'", "ALTER TABLE t INDEX/**/DIRECTORY = '/x'",
		"CREATE TABLE u (i INT) PARTITION BY HASH (i) (PARTITION p DATA DIRECTORY '/x')", "CREATE TABLE u (i INT) TABLESPACE innodb_system",
		"CREATE TABLE u (i INT) ENGINE=FEDERATED CONNECTION='mysql://u@h/d/t'", "CREATE TABLE u (i INT) ENGINE 'MRG_MYISAM' UNION=(o.t)",
		"ALTER TABLE t ENGINE `CONNECT`", "CREATE TABLE u (i INT REFERENCES o.t (i))", "ALTER TABLE t ADD FOREIGN KEY (i) REFERENCES `o`.t (i)",
		"CREATE DEFINER=type@x PROCEDURE o.p() BEGIN END", "CREATE DEFINER='a'@type PROCEDURE o.p() BEGIN END",
		"CREATE DEFINER = a @ event PROCEDURE o.p() BEGIN END", "OPTIMIZE TABLES o.t", "CHECK VIEW o.v", "ANALYZE TABLES o.t",
		"CREATE FOREIGN TABLE f (i INT) SERVER s", "CREATE EXTENSION file_fdw",
		"INSERT INTO o.t VALUES (1)", "INSERT IGNORE `o` . t SELECT 1", "REPLACE o.t VALUES (1)", "UPDATE o.t SET a = 1",
		"UPDATE LOW_PRIORITY t, o.u SET u.a = 1", "UPDATE (t JOIN o.u ON t.a = u.a) SET u.a = 1", "UPDATE t JOIN (o.u) SET a = 1",
		"UPDATE {x o.u} SET a = 1", "DELETE FROM o.t", "DELETE u FROM t JOIN o.u USING (a)", "DELETE HISTORY FROM o.t", "ANALYZE DELETE FROM o.t",
		"DELETE FROM u USING t, o.u", "WITH x AS (SELECT 1) DELETE FROM o.t", "CREATE VIEW v AS SELECT * FROM o.t",
		"ALTER VIEW v AS (SELECT 1 UNION SELECT a FROM t, o.u)", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM o.t",
		"CREATE TRIGGER g AFTER UPDATE ON t FOR EACH ROW INSERT INTO o.t VALUES (1)", "CREATE PROCEDURE p() DROP TABLE o.t",
		"CREATE PROCEDURE p(IN s TEXT) EXECUTE IMMEDIATE s", "ALTER EVENT e DO GRANT ALL ON *.* TO x",
		"CREATE FUNCTION f() RETURNS INT CALL o.p()", "CREATE PROCEDURE p() SET @@GLOBAL.x = 1"} {
		if err := setup(text); filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(err.Error(), "is refused") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"CREATE TABLE u (`engine` VARCHAR(9)) ENGINE=InnoDB", "CREATE TABLE u (data INT) ENGINE MyISAM",
		"INSERT INTO t SELECT a.x, REPLACE(b.c, 'a', 'b') FROM o.t AS a, o.b", "CREATE TABLE u LIKE o.t",
		"CREATE DEFINER=root@localhost PROCEDURE p() UPDATE t SET a = 1",
		"CREATE PROCEDURE p() CREATE TEMPORARY TABLE x AS SELECT TRUNCATE(a, 1) FROM t", "ALTER TABLE t DROP COLUMN event, RENAME COLUMN a TO b",
		"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE t.a = 1, t.b = 2", "UPDATE t AS a JOIN u AS b ON a.x = b.x SET a.y = b.y, a.z = 1",
		"UPDATE t JOIN (SELECT o.a, o.b FROM o.t AS o) AS z USING (a) SET t.a = (SELECT MAX(b.c) FROM o.b)",
		"DELETE a.*, b.* FROM t AS a, u AS b WHERE a.x = 1", "CREATE VIEW v AS SELECT EXTRACT(DAY FROM t.d), t.a FROM t JOIN u ON t.a = u.a",
		"CREATE TABLE c (i INT, FOREIGN KEY (i) REFERENCES t (id) ON DELETE CASCADE)",
		"CREATE TRIGGER g AFTER UPDATE ON t FOR EACH ROW INSERT INTO u VALUES (OLD.a, NEW.b)"} {
		if err := setup(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What a statement calls, wherever it stands.
func TestCalls(t *testing.T) {
	for _, c := range []struct {
		rules        Rules
		refused, not []string
	}{
		{mysql, []string{"SELECT NEXTVAL(sales.num)", "INSERT INTO t VALUES (NEXT VALUE FOR sales.num)", "SELECT SETVAL(`sales` . num, 5)",
			"SELECT sales.num.nextval", "UPDATE t SET a = `nextval`(sales.num)", "SELECT GET_LOCK('x', 1)", "SELECT `get_lock`('x', 1)",
			"DO RELEASE_ALL_LOCKS()", "SELECT a FROM t WHERE RELEASE_LOCK ('x')", "SELECT LOAD_FILE('/etc/passwd')", "SELECT sys_exec('id')",
			"SELECT sales.f(1)", "SELECT 1 FROM t JOIN u ON sales . f(1) = 1", "SET @x = `sales`.`f`()", "SELECT keyring_key_remove('x')",
			"CALL p(sales.f())", "SELECT MASTER_GTID_WAIT('0-1-1')"},
			[]string{"SELECT NEXTVAL(num)", "INSERT INTO t VALUES (NEXT VALUE FOR num)", "SELECT a.id FROM t AS a WHERE a.id IN (1, 2)",
				"SELECT t.get_lock FROM t", "SELECT 'GET_LOCK(1)'", "SELECT COUNT(a.id) FROM o.t AS a", "SELECT f(a.x), (a.y) FROM t AS a",
				"INSERT INTO t (a) SELECT LASTVAL(num)"}},
		{postgres, []string{"SELECT pg_notify('a', 'b')", "SELECT pg_catalog.pg_notify('a', 'b')", `SELECT "pg_notify"('a', 'b')`,
			"SELECT dblink_exec('x')", "SELECT cron.schedule('x', 'y')", "SELECT net.http_post('http://x')",
			"SELECT pg_logical_emit_message(true, '', '')", "SELECT pg_prewarm('t')", "SELECT pg_stat_reset()", "SELECT lo_export(1, '/x')",
			"SELECT pg_wait_sampling_reset_profile()", "SELECT http_get('http://x')"},
			[]string{"SELECT nextval('s')", "SELECT pg_advisory_xact_lock(1)", "SELECT lo_create(0)", "SELECT public.f(1)",
				"SELECT s.nextval FROM s", "SELECT setval('public.s', 5)"}},
	} {
		for _, text := range c.refused {
			if _, err := c.rules.Section(custom(text), "s"); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
				t.Errorf("%s: %v", text, err)
			}
		}
		for _, text := range c.not {
			if _, err := c.rules.Section(custom(text), "s"); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	site := Site{Spread: map[string]Place{"t": {}}}
	for _, text := range []string{"CREATE TABLE u (i INT DEFAULT NEXTVAL(sales.num))",
		"CREATE TABLE u (i INT DEFAULT (NEXT VALUE FOR sales.num))", "ALTER TABLE t ALTER id SET DEFAULT (`sales`.f())",
		"CREATE TABLE u (i INT AS (o.f(1)))", "CREATE VIEW v AS SELECT GET_LOCK('x', 0)",
		"CREATE FUNCTION f() RETURNS INT RETURN NEXTVAL(sales.num)", "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.id = sales.f()"} {
		if _, err := mysql.Setup(custom("CREATE TABLE t (id INT) {{spread \"t\"}};"+text), site); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestGuard: an engine's own guard is given a statement's words, and takes the lists' place.
func TestGuard(t *testing.T) {
	var got []Word
	r := transact
	r.Guard = func(words []Word, _ bool) (what, remedy string) {
		if got = words; words[0].Is("DROP") {
			return "DROP", "leave it out"
		}
		return "", ""
	}
	if _, err := r.Section(custom("grant @a -- x\n= [b c].d('e')"), "s"); err != nil {
		t.Error(err)
	}
	if want := []Word{{Text: "GRANT"}, {Text: "@A"}, {Text: "="}, {"[b c]", true}, {Text: "."}, {Text: "D"}, {Text: "("},
		{"'e'", true}, {Text: ")"}}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	_, err := r.Section(custom("DROP TABLE x"), "s")
	if filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) != "leave it out" {
		t.Error(err)
	}
}

func TestSetup(t *testing.T) {
	site := Site{Shard: 1, Shards: 3, Spread: map[string]Place{"t": {Clause: "HERE", After: []string{"AFTER"}}}}
	all, err := plain.Setup(custom("CREATE TABLE t (id INT) {{spread \"t\"}};\nINSERT INTO t SELECT {{.Shard}}, {{.Shards}}, ':x'"), site)
	var texts []string
	for _, s := range all {
		texts = append(texts, s.Place+" "+s.Text)
	}
	if want := []string{"f:10 CREATE TABLE t (id INT) HERE", "f:10 AFTER", "f:11 INSERT INTO t SELECT 1, 3, ':x'"}; err != nil ||
		!slices.Equal(texts, want) {
		t.Errorf("%q, %v", texts, err)
	}
	for text, says := range map[string]string{
		"CREATE TABLE t (id INT)":        "does not say where the layout puts table t",
		"{{spread \"u\"}}":               `no table "u"`,
		"{{.Nothing}}":                   "set-up",
		"{{":                             "set-up",
		"{{range 999}}SELECT 1;{{end}}":  "what follows {{ is unknown",
		`{{printf "%999d" 1}}`:           "what follows {{ is unknown",
		"DROP DATABASE x":                "DROP DATABASE is refused",
		"REINDEX SYSTEM x":               "REINDEX SYSTEM is refused",
		"REINDEX (VERBOSE) DATABASE x":   "REINDEX DATABASE is refused",
		"COMMENT ON DATABASE x IS 'y'":   "COMMENT DATABASE is refused",
		"CREATE OR REPLACE USER u":       "CREATE USER is refused",
		"ALTER DEFAULT PRIVILEGES GRANT": "ALTER PRIVILEGES is refused",
		"VACUUM INTO '/x'":               "VACUUM … INTO is refused",
		"RESET MASTER":                   "RESET … MASTER is refused",
		"START SLAVE":                    "START … SLAVE is refused",
		"CHECKPOINT":                     "CHECKPOINT is refused",
		"LARGE":                          "LARGE is refused",
	} {
		if _, err := plain.Setup(custom(text), site); err == nil || !strings.Contains(err.Error(), says) || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A set-up makes whatever lies within a database.
func TestSetupAllows(t *testing.T) {
	for _, text := range []string{"CREATE UNIQUE INDEX i ON t (a)", "CREATE DEFINER=root@localhost PROCEDURE p() BEGIN END",
		"CREATE OR REPLACE VIEW v AS SELECT 1", "CREATE MATERIALIZED VIEW v AS SELECT 1", "CREATE TYPE mood AS ENUM ('a')",
		"ALTER TABLE t ADD user INT",
		"CREATE EXTENSION hstore", "COMMENT ON COLUMN t.a IS 'x'", "REINDEX TABLE t", "VACUUM ANALYZE", "PRAGMA page_size = 4096",
		"DROP TABLE IF EXISTS role",
		"CREATE TEMPORARY TABLE x (i INT)", "CREATE VIRTUAL TABLE f USING fts5(a)", "RENAME TABLE a TO b", "TRUNCATE t"} {
		if _, err := plain.Setup(custom("CREATE TABLE t (id INT) {{spread \"t\"}};"+text), Site{Spread: map[string]Place{"t": {}}}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzScan: the pieces together are the text, whatever the rules.
func FuzzScan(f *testing.F) {
	for _, text := range []string{"SELECT :a", "'", "$$", "/*", "a[1:b]", `E'\'`, "--", "::x", "$1$"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range []Rules{plain, mysql, postgres, transact} {
			var b strings.Builder
			for _, p := range r.scan(text) {
				if p.kind == pieceParam {
					b.WriteByte(':')
				}
				b.WriteString(p.text)
			}
			if b.String() != text {
				t.Errorf("%q becomes %q", text, b.String())
			}
		}
	})
}
