package managed

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// A packed file of some kilobytes can hold a statement of gigabytes.
func TestBombInADump(t *testing.T) {
	for _, more := range []string{strings.Repeat("1", 80<<20), strings.Repeat(strings.Repeat("1", 1<<10)+"\n", 80<<10)} {
		all := statements{delimiter: ";", in: bufio.NewReader(strings.NewReader("INSERT INTO t VALUES (" + more))}
		if _, err := all.next(); err == nil || !strings.Contains(err.Error(), "longer than") {
			t.Errorf("%.100v", err)
		}
	}
}

// Values that MariaDB's program writes out for generated columns are the server's to make, whatever
// stands around them.
func TestGeneratedColumnsTakeNoValue(t *testing.T) {
	r := restorer{tables: map[string]definition{}}
	d, is := define("CREATE TABLE `a``b` (\n  `id` int NOT NULL,\n" +
		"  `e` enum('(',' GENERATED ALWAYS AS (') GENERATED ALWAYS AS (`id`) STORED,\n  `t` text COMMENT ' GENERATED ALWAYS AS (',\n" +
		"  `v` varchar(9) CHARACTER SET latin1 COLLATE latin1_bin GENERATED ALWAYS AS (`t`) VIRTUAL\n) ENGINE=InnoDB")
	if !is || len(d.made) != 2 {
		t.Fatalf("%+v", d)
	}
	r.tables[d.name] = d
	for text, want := range map[string]string{
		"INSERT INTO `a``b` VALUES\n(1,'(','x\\'),(',NULL),\n(-2,NULL,_binary 'it''s),','\\\\')": "INSERT INTO `a``b` VALUES\n" +
			"(1,DEFAULT,'x\\'),(',DEFAULT),\n(-2,DEFAULT,_binary 'it''s),',DEFAULT)",
		"INSERT INTO `a``b` (`v`, `id`) VALUES ('a',1),('b',2)": "INSERT INTO `a``b` (`v`, `id`) VALUES (DEFAULT,1),(DEFAULT,2)",
		"INSERT INTO `a``b` (`id`,`t`) VALUES (1,\"v\")":        "INSERT INTO `a``b` (`id`,`t`) VALUES (1,\"v\")",
		"INSERT INTO `other` VALUES (1,2,3,4)":                  "INSERT INTO `other` VALUES (1,2,3,4)",
	} {
		if got := r.making(text); got != want {
			t.Errorf("%s\nbecomes %s\nnot     %s", text, got, want)
		}
	}
}

// A definition that names the original's database means the build's; a table can be called like it.
func TestDefinitionsMoveWithTheDatabase(t *testing.T) {
	r := restorer{database: "the``shop"}
	for text, want := range map[string]string{
		"CREATE TABLE `t` (`n` int DEFAULT nextval(`the``shop`.`s`), `c` text COMMENT 'nextval(`the``shop`.`s`)')": "CREATE TABLE `t` (" +
			"`n` int DEFAULT nextval(`filewise`.`s`), `c` text COMMENT 'nextval(`the``shop`.`s`)')",
		"/*!50001 VIEW `v` AS select `the``shop`.`f`(`the``shop`.`id`) AS `the``shop`,`the``shop`.`t`.`n` from `the``shop` */": "/*!50001 VIEW " +
			"`v` AS select `filewise`.`f`(`the``shop`.`id`) AS `the``shop`,`filewise`.`t`.`n` from `the``shop` */",
		"CREATE PROCEDURE `p`() INSERT INTO `the``shop`.t SELECT * FROM `other`.`the``shop`.x": "CREATE PROCEDURE `p`() INSERT INTO " +
			"`filewise`.t SELECT * FROM `other`.`the``shop`.x",
	} {
		if got := r.moved(text); got != want {
			t.Errorf("%s\nbecomes %s\nnot     %s", text, got, want)
		}
	}
}

// Names in double quotes are names where the dump's sql_mode has it so, and nothing in texts is.
func TestANSIDump(t *testing.T) {
	dump := "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO,ANSI' */;\nCREATE TABLE \"o`r\"\"d\" (\n" +
		"  \"id\" int(11) NOT NULL,\n  PRIMARY KEY (\"id\")\n); \nINSERT INTO \"o`r\"\"d\" VALUES (1,'\"a\\' \"b'';\"');\n" +
		"SET sql_mode = 'STRICT_ALL_TABLES';\nCREATE TRIGGER t SET @x = \"y\";\nSET sql_mode = @saved_sql_mode;\nDROP TABLE \"x\";\n"
	all := statements{delimiter: ";", in: bufio.NewReader(strings.NewReader(dump))}
	for i, want := range []string{"", "CREATE TABLE `o``r\"d` (\n  `id` int(11) NOT NULL,\n  PRIMARY KEY (`id`)\n)",
		"INSERT INTO `o``r\"d` VALUES (1,'\"a\\' \"b'';\"')", "", "CREATE TRIGGER t SET @x = \"y\"", "", "DROP TABLE `x`"} {
		got, err := all.next()
		if err != nil || want != "" && got != want {
			t.Errorf("%v: %s\ninstead of %s", err, got, want)
		}
		if d, is := define(got); i == 1 && (!is || d.name != "o`r\"d" || len(d.keys) != 1) {
			t.Errorf("%+v", d)
		}
	}
}

// A dump in a form of another program's is reported as that.
func TestNotADump(t *testing.T) {
	for text, says := range map[string]string{"create table `orders` (\n  `id` int\n) ENGINE=InnoDB;\n": "CREATE TABLE is not in their form",
		"CREATE TABLE orders (\n  id int\n) ENGINE=InnoDB;\n": "CREATE TABLE is not in their form", "PGDMP\x01": "an archive of pg_dump",
		"CREATE VIEW `orders` AS SELECT 1;\n": "no CREATE TABLE in it", "id,status\n1,new\n": "no CREATE TABLE in it",
		"USE `a`;\nUSE `b`;\n": "several databases"} {
		path := filepath.Join(t.TempDir(), "dump.sql")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := filewise.Program{Custom: &filewise.CustomSQL{From: path, Tables: []filewise.CustomTable{{Name: "orders", Key: "id"}}}}
		err := Engine{dialect.MariaDB}.CheckDump(t.Context(), filewise.Target{}, nil, p)
		of := "not written by mariadb-dump, mysqldump or mydumper: "
		if strings.HasPrefix(says, "several") {
			of = "the dump contains "
		}
		if err == nil || !strings.HasPrefix(err.Error(), of) ||
			!strings.Contains(err.Error(), says) || filewise.RemedyOf(err) == "" {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}
