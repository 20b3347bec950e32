package external

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/servertest"
	"filewise/lab/workload"
	"filewise/own/capture"
	"filewise/run/study"
)

// TestCapture: MariaDB counts statements if performance_schema is on.
func TestCapture(t *testing.T) {
	testCapture(t, bench{products()[0], servertest.Start(t, servertest.MariaDB, "--performance-schema=ON"), ""})
}

// testCapture: from a known mix the shares are found, by the server's counts as by its
// general log; parameters are drawn as the columns have it, what is left out is named,
// and nothing is changed.
func testCapture(t *testing.T, b bench) {
	var counts bool
	fatal(t, b.Root.QueryRow("SELECT @@performance_schema").Scan(&counts))
	if !counts {
		b.Account(t, "unseen", []string{"GRANT SELECT ON shop.* TO `filewise`@`%`"})
		defer b.Exec(t, "DROP USER unseen")
		_, err := takeCapture(t, b, "unseen", capture.Options{Database: "shop"})
		if !strings.Contains(filewise.RemedyOf(err), "performance_schema = ON") {
			t.Errorf("%v; %s", err, filewise.RemedyOf(err))
		}
		return
	}
	b.Exec(t, "CREATE DATABASE theirshop",
		"CREATE TABLE theirshop.`Kunden Ö` (id BIGINT PRIMARY KEY, email VARCHAR(60) NOT NULL, region CHAR(2) NOT NULL)",
		"CREATE TABLE theirshop.orders (id BIGINT PRIMARY KEY AUTO_INCREMENT, customer BIGINT NOT NULL, status VARCHAR(10) NOT NULL, "+
			"at DATETIME NOT NULL, total DECIMAL(9,2))",
		"INSERT INTO theirshop.orders VALUES (1, 1, 'open', '2026-01-01', 1), (2, 2, 'done', '2026-01-02', 2), (3, 3, 'done', '2026-01-03', 3)")
	for range 8 {
		b.Exec(t, "INSERT INTO theirshop.orders (customer, status, at, total) SELECT customer, status, at + INTERVAL 1 DAY, total FROM "+
			"theirshop.orders")
	}
	b.Exec(t, "INSERT INTO theirshop.`Kunden Ö` SELECT id, CONCAT('p', id, '@example.org'), 'eu' FROM theirshop.orders WHERE id < 100",
		"ANALYZE TABLE theirshop.orders, theirshop.`Kunden Ö`")
	b.Account(t, "blind", []string{"GRANT SELECT ON theirshop.* TO `filewise`@`%`"})
	b.Account(t, "watcher", []string{"GRANT SELECT ON performance_schema.* TO `filewise`@`%`", "GRANT SELECT, INSERT, UPDATE, DELETE ON " +
		"theirshop.* TO `filewise`@`%`"})
	defer b.Exec(t, "DROP USER blind, watcher", "DROP DATABASE theirshop")
	log := filepath.Join(b.Dir, "general.log")
	var usual string
	fatal(t, b.Root.QueryRow("SELECT @@general_log_file").Scan(&usual))
	b.Exec(t, "TRUNCATE TABLE performance_schema.events_statements_summary_by_digest", "SET GLOBAL general_log_file = "+dialect.Literal(log),
		"SET GLOBAL general_log = ON")
	capturedMix(t, b)
	b.Exec(t, "SET GLOBAL general_log = OFF", "SET GLOBAL general_log_file = "+dialect.Literal(usual))
	o := capture.Options{Engine: b.engine.Name, Database: "theirshop"}
	if _, err := takeCapture(t, b, "blind", o); err == nil || !strings.Contains(filewise.RemedyOf(err), "performance_schema.*") {
		t.Errorf("without the right: %v; %s", err, filewise.RemedyOf(err))
	}
	parented(t, b)
	s, err := takeCapture(t, b, "watcher", o)
	fatal(t, err)
	text := s.YAML()
	shares(t, s, map[string]float64{"SELECT total": 0.5, "UPDATE orders": 0.2, "SELECT region": 0.1, "INSERT INTO": 0.1, "SELECT *": 0.1})
	for _, says := range []string{"orders: id #", "orders_id: {int: {from: 1, to: 1", "orders_id_insert: {sequential: {from: 1",
		`orders_status_new: {choice: {"done": 6`, "Kunden_email: {text:", "looks personal", "begun and ended by the study"} {
		if !strings.Contains(text, says) {
			t.Errorf("the study does not say %q", says)
		}
	}
	if strings.Contains(text, "example.org") || s.Covered <= 0 {
		t.Errorf("a personal value is in it, or it covers %v", s.Covered)
	}
	studied(t, b, text)
	before := b.Others(t)
	logged, err := os.Open(log)
	fatal(t, err)
	defer logged.Close()
	o.Log, o.LogName = logged, log
	s, err = takeCapture(t, b, "watcher", o)
	fatal(t, err)
	shares(t, s, map[string]float64{"SELECT total": 5. / 9, "UPDATE orders": 1. / 9, "UPDATE orders INSERT INTO": 1. / 9,
		"SELECT region": 1. / 9})
	studied(t, b, s.YAML())
	connected, err := os.ReadFile(log)
	fatal(t, err)
	o.Log = strings.NewReader(placing.ReplaceAllString(string(connected), ""))
	s, err = takeCapture(t, b, "watcher", o)
	fatal(t, err)
	shares(t, s, map[string]float64{"SELECT total": 5. / 9, "SELECT region": 1. / 9})
	if s.Earlier < 200 || !strings.Contains(s.YAML(), "lines name none") {
		t.Errorf("%d statements of sessions that are older than the log", s.Earlier)
	}
	oddlyNamed(t, b)
	twoEllipses(t, b)
	tokens(t, b)
	if after := b.Others(t); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Error("something of the user's has changed")
	}
}

// Names are folded if the server does, and modes that decide which values are taken go into the study.
func TestSettingsOfADatabase(t *testing.T) {
	s := servertest.Start(t, servertest.MariaDB, "--lower-case-table-names=1", "--sql-mode=NO_ZERO_DATE,ANSI_QUOTES,ALLOW_INVALID_DATES")
	b := bench{products()[0], s, ""}
	b.Exec(t, "CREATE DATABASE theirshop", "CREATE TABLE theirshop.orders (id INT PRIMARY KEY)")
	b.Account(t, "watcher", []string{"GRANT SELECT ON theirshop.* TO `filewise`@`%`"})
	w, err := watch(t, b, b.Target("watcher"), "theirshop")
	fatal(t, err)
	defer w.Close()
	_, err = w.Shape(deadline(t), "SELECT JSON_EXTRACT('{}', '$.a'), id + INTERVAL 1 DAY FROM orders WHERE 1 = 1 LIMIT 5", nil)
	fatal(t, err)
	shape, err := w.Shape(deadline(t), "UPDATE Orders SET id = 5 WHERE id = 7", nil)
	fatal(t, err)
	settings, err := w.Settings(deadline(t), nil)
	fatal(t, err)
	if fmt.Sprint(shape.Tables) != "[orders]" || shape.Values[1].Table != "orders" || settings["lower_case_table_names"] != "1" ||
		settings["sql_mode"] != "NO_ZERO_DATE,ALLOW_INVALID_DATES" {
		t.Errorf("%+v, %v", shape, settings)
	}
	fatal(t, dialect.CheckSettings(settings))
	b.Exec(t, "SET GLOBAL autocommit = 0", "SET SESSION sql_mode = ''",
		"CREATE TABLE theirshop.old (id INT PRIMARY KEY, at DATETIME DEFAULT '0000-00-00 00:00:00')")
	w, err = watch(t, b, b.Target("watcher"), "theirshop")
	fatal(t, err)
	defer w.Close()
	for set, want := range map[string]string{"-": "ALLOW_INVALID_DATES 0", "": " 0", "NO_ZERO_DATE,ONLY_FULL_GROUP_BY": "NO_ZERO_DATE 0"} {
		own := map[string]string{"sql_mode": set}
		if set == "-" { // of the server, except what the table's zero dates show
			own = nil
		}
		if settings, err := w.Settings(deadline(t), own); err != nil ||
			settings["sql_mode"]+" "+settings["autocommit"] != want {
			t.Errorf("%s: %v, %v", set, settings, err)
		}
	}
	for name, value := range map[string]string{"sql_mode": "ANSI_QUOTES", "lower-case-table-names": "2"} {
		if err := dialect.CheckSettings(map[string]string{name: value}); filewise.RemedyOf(err) == "" {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

// tokens: of bytes no value is in the study, and of a text's few values those that stand in many rows.
func tokens(t *testing.T, b bench) {
	b.Exec(t, "CREATE TABLE theirshop.t (id INT PRIMARY KEY, tok BINARY(16) NOT NULL UNIQUE, comment_approved VARCHAR(20), nick VARCHAR(20))",
		"INSERT INTO theirshop.t SELECT id, UNHEX(MD5(id)), IF(id % 9 = 0, 'spam', '1'), CONCAT('ada', id) FROM theirshop.orders",
		"ANALYZE TABLE theirshop.t", "TRUNCATE TABLE performance_schema.events_statements_summary_by_digest")
	defer b.Exec(t, "DROP TABLE theirshop.t")
	db := b.Open(t, "watcher", servertest.Password)
	for _, sql := range []string{"USE theirshop", "SELECT id FROM t WHERE tok = x'30313233343536373839616263646566'",
		"UPDATE t SET comment_approved = 'spam' WHERE id = 7", "SELECT id FROM t WHERE nick = 'ada9'"} {
		_, err := db.Exec(sql)
		fatal(t, err)
	}
	s, err := takeCapture(t, b, "watcher", capture.Options{Database: "theirshop"})
	fatal(t, err)
	text := s.YAML()
	for _, says := range []string{"t_tok: {text: {from: ", `t_comment_approved_new: {choice: {"1": 8`, "\n#   t.comment_approved\n",
		"#   t.tok: bytes", "#   t.nick: "} {
		if !strings.Contains(text, says) {
			t.Errorf("the study does not say %q:\n%s", says, text)
		}
	}
	if strings.Contains(text, "ada") {
		t.Errorf("a nickname is in it:\n%s", text)
	}
}

// twoEllipses: a digest that leaves out values before and behind an expression is taken by a sample, or named.
func twoEllipses(t *testing.T, b bench) {
	b.Exec(t, "CREATE TABLE theirshop.e (a INT, b VARCHAR(20), at DATETIME, c INT, d INT, e VARCHAR(9))",
		"TRUNCATE TABLE performance_schema.events_statements_summary_by_digest")
	defer b.Exec(t, "DROP TABLE theirshop.e")
	db := b.Open(t, "watcher", servertest.Password)
	db.SetMaxOpenConns(1)
	for _, s := range []string{"USE theirshop", "INSERT INTO e (a,b,at,c,d,e) VALUES (1,'hunter2',NOW(),2,3,'y')",
		"SELECT a FROM e WHERE a = 1"} {
		_, err := db.Exec(s)
		fatal(t, err)
	}
	s, err := takeCapture(t, b, "watcher", capture.Options{Database: "theirshop"})
	fatal(t, err)
	want := "how many values a row has before and behind"
	if b.engine.Product == dialect.MySQL {
		want = "VALUES(:e_a_insert,:e_b_insert,NOW(),:e_c_insert,:e_d_insert,:e_e_insert)"
	}
	if text := s.YAML(); !strings.Contains(text, want) || strings.Contains(text, "hunter2") {
		t.Errorf("the study does not say %q:\n%s", want, text)
	}
}

// oddlyNamed: names that are keywords, or have a backtick, are the table's in a study as well.
func oddlyNamed(t *testing.T, b bench) {
	b.Exec(t, "CREATE TABLE theirshop.status (id INT PRIMARY KEY)", "CREATE TABLE theirshop.`st``a` (`b``c` INT PRIMARY KEY)",
		"CREATE TABLE theirshop.`a.b` (id INT PRIMARY KEY, v INT)")
	defer b.Exec(t, "DROP TABLE theirshop.status, theirshop.`st``a`, theirshop.`a.b`")
	db := b.Open(t, "watcher", servertest.Password)
	db.SetMaxOpenConns(1)
	for _, s := range []string{"USE theirshop", "SELECT id FROM status WHERE id = 3", "INSERT INTO status VALUES (3)",
		"SELECT `b``c` FROM `st``a` WHERE `b``c` = 5", "UPDATE `a.b` SET v = 7 WHERE v = 5",
		"SELECT v, COUNT(*) FROM `a.b` GROUP BY 1 HAVING COUNT(*) > 7",
		"UPDATE orders SET at = CURDATE() + INTERVAL 7 DAY WHERE id = 0"} {
		_, err := db.Exec(s)
		fatal(t, err)
	}
	s, err := takeCapture(t, b, "watcher", capture.Options{Engine: b.engine.Name, Database: "theirshop"})
	fatal(t, err)
	text := s.YAML()
	for _, says := range []string{"FROM `status` WHERE", "INSERT INTO `status` VALUES(:status_id_insert)",
		"SELECT `b``c` FROM `st``a` WHERE `b``c` = :", "UPDATE `a.b` SET `v` = :", "GROUP BY 1 HAVING", " DAY WHERE `id` = :orders_id"} {
		if !strings.Contains(text, says) && !strings.Contains(text, strings.Replace(says, "`id`", "ID", 1)) {
			t.Errorf("the study does not say %q:\n%s", says, text)
		}
	}
}

// placing are the lines of a general log that name a session's database.
var placing = regexp.MustCompile(`(?m)^.*(Connect|Init DB|USE ).*\n`)

// parented: a column names the parent that holds its values, or the labels of its type; one with a CHECK is marked.
func parented(t *testing.T, b bench) {
	b.Exec(t, "CREATE TABLE theirshop.parts (id INT PRIMARY KEY, g INT AS (id), `of` BIGINT, e SET('a','b''c'), j JSON, "+
		"n INT CHECK (n > 2), FOREIGN KEY (`of`) REFERENCES theirshop.orders (id), UNIQUE (n, id))",
		"CREATE TABLE theirshop.pairs (x INT, y INT, PRIMARY KEY (x, y), FOREIGN KEY (y, x) REFERENCES theirshop.parts (n, id))")
	defer b.Exec(t, "DROP TABLE theirshop.pairs, theirshop.parts")
	named := b.Target("watcher")
	named.Address.Path = "theirshop" // as the URL may name it
	w, err := watch(t, b, named, "theirshop")
	fatal(t, err)
	defer w.Close()
	parts, err := w.Table(deadline(t), "parts", func(string) bool { return false })
	fatal(t, err)
	if c := parts.Columns; c[0].Parent != "" || c[2].Parent != "`orders`" || c[2].ParentKey != "`id`" || !c[3].Closed ||
		strings.Join(c[3].Common, " ") != "a b'c" || c[4].Type != filewise.TypeJSON || c[4].Checked || !c[5].Checked || c[2].Checked {
		t.Errorf("%+v", c)
	}
	pairs, err := w.Table(deadline(t), "pairs", func(string) bool { return false })
	fatal(t, err)
	if got := fmt.Sprint(pairs.Foreign); got != "[{[y x] `parts` [`n` `id`]}]" ||
		!pairs.Columns[1].Composite || parts.Columns[2].ParentTable != "orders" {
		t.Errorf("%s, %+v, %+v", got, pairs.Columns, parts.Columns[2])
	}
	s, err := w.Shape(deadline(t), "INSERT INTO parts VALUES (1, DEFAULT, 5, 'a', '{}', 3)", nil)
	if err != nil || len(s.Values) != 5 || s.Values[1].Column != "of" {
		t.Errorf("%v; %+v", err, s)
	}
	for text, fails := range map[string]string{"INSERT INTO nowhere SELECT id FROM parts": "nowhere",
		"INSERT INTO parts (id, nope) VALUES (1, 2)": "nope",
		"UPDATE parts SET n = 4 WHERE nope = 3":      "nope", "DELETE FROM parts WHERE nope IS NULL": "nope",
		"INSERT INTO parts (id) SELECT nope FROM orders": "nope", "DELETE FROM parts WHERE id = 7": "",
		"INSERT INTO parts (id, n) SELECT id, 5 FROM orders ON DUPLICATE KEY UPDATE n = 6": "",
		"UPDATE parts p JOIN orders o ON o.id = p.id SET n = 4 WHERE o.total > 3":          "", "REPLACE INTO parts (id) VALUES (4)": ""} {
		if _, err := w.Shape(deadline(t), text, nil); (err == nil) != (fails == "") || err != nil && !strings.Contains(err.Error(), fails) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if s, err := w.Shape(deadline(t), "SELECT `ST_GeomFromText` ('POINT(1 2)')", nil); err != nil || s.Values[0].Said != "geometry" {
		t.Errorf("geometry of made-up texts: %+v, %v", s, err)
	}
}

func capturedMix(t *testing.T, b bench) {
	db := b.Open(t, "watcher", servertest.Password)
	db.SetMaxOpenConns(1)
	for i := range 20 {
		n := i*37 + 1
		for _, s := range []string{"USE theirshop", fmt.Sprintf("SELECT total FROM orders WHERE id = %d", n),
			fmt.Sprintf("SELECT total FROM orders WHERE id = %d", n+1), fmt.Sprintf("SELECT total FROM orders WHERE id = %d", n+2),
			fmt.Sprintf("SELECT total FROM orders WHERE id = %d", n+3), fmt.Sprintf("SELECT total FROM orders WHERE id = %d", n+4),
			"BEGIN", fmt.Sprintf("UPDATE orders SET status = 'done' WHERE id = %d", n),
			fmt.Sprintf("INSERT INTO orders VALUES (%d, 7, 'open', NOW(), 1)", 10000+i), "COMMIT",
			fmt.Sprintf("UPDATE orders SET status = 'open' WHERE id = %d", n+1),
			fmt.Sprintf("SELECT region FROM `Kunden Ö` WHERE email = 'p%d@example.org'", n),
			fmt.Sprintf("SELECT * FROM orders WHERE id BETWEEN %d AND %d LIMIT 100", n, n+49)} {
			_, err := db.Exec(s)
			fatal(t, err)
		}
	}
}

func takeCapture(t *testing.T, b bench, account string, o capture.Options) (*capture.Study, error) {
	t.Helper()
	w, err := watch(t, b, b.Target(account), o.Database)
	fatal(t, err)
	defer w.Close()
	e, _ := capture.Of(named{b.engine})
	return capture.Take(deadline(t), e, w, o)
}

func watch(t *testing.T, b bench, in filewise.Target, database string) (capture.Watcher, error) {
	t.Helper()
	e, _ := capture.Of(named{b.engine})
	return e.Watch(deadline(t), in, database)
}

func shares(t *testing.T, s *capture.Study, want map[string]float64) {
	t.Helper()
	found := map[string]float64{}
	for _, x := range s.Transactions {
		var begins []string
		for _, text := range x.SQL {
			begins = append(begins, strings.Join(strings.Fields(strings.ReplaceAll(text, "`", ""))[:2], " "))
		}
		found[strings.Join(begins, " ")] = x.Share
	}
	for name, share := range want {
		if math.Abs(found[name]-share) > 0.02 {
			t.Errorf("%s: %.3f instead of %.3f", name, found[name], share)
		}
	}
}

// studied: a study file is one that run takes.
func studied(t *testing.T, b bench, text string) {
	t.Helper()
	s, err := study.Parse("captured.yaml", []byte(text),
		study.Form{Engines: []string{b.engine.Name}, Scenarios: []string{"custom"}}, os.LookupEnv)
	fatal(t, err)
	_, err = workload.NewCustom(workload.Params{Custom: s.Experiments[0].Custom, Connections: 1}, 1)
	fatal(t, err)
}
