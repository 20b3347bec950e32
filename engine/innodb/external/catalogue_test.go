package external

import (
	"fmt"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/lab/workload"
)

// testCatalogue: questions about MariaDB's catalogue open no tables of databases that are not in question. The exception is
// the sizes of tables for inspect, if the account does not see files.
func testCatalogue(t *testing.T, b bench) {
	if b.engine.Product != dialect.MariaDB { // MySQL has a dictionary of tables
		return
	}
	b.Exec(t, "CREATE DATABASE asked", "CREATE TABLE asked.parent (id INT PRIMARY KEY)", "CREATE DATABASE `as-ked`",
		"CREATE TABLE `as-ked`.`c/d` (id INT PRIMARY KEY, CONSTRAINT far FOREIGN KEY (id) REFERENCES asked.parent (id))",
		"CREATE TABLE asked.spread (id INT PRIMARY KEY)")
	b.Account(t, "narrow", []string{"GRANT SELECT ON asked.* TO `filewise`@`%`"})
	b.Account(t, "curious", []string{"GRANT SELECT, PROCESS ON *.* TO `filewise`@`%`"})
	b.Exec(t, "SET GLOBAL log_output = 'TABLE'", "TRUNCATE TABLE mysql.general_log", "SET GLOBAL general_log = ON")
	defer b.Exec(t, "SET GLOBAL general_log = OFF", "SET GLOBAL log_output = 'FILE'", "TRUNCATE TABLE mysql.general_log",
		"DROP USER narrow, curious", "DROP DATABASE `as-ked`", "DROP DATABASE asked")
	for account, tied := range map[string]string{"narrow": "", "curious": "far"} {
		in := b.Target(account)
		_, err := lookAt(b, deadline(t), in)
		fatal(t, err)
		w, err := watch(t, b, in, "asked")
		fatal(t, err)
		f, err := w.Table(deadline(t), "parent", func(string) bool { return false })
		fatal(t, err)
		_, err = w.Shape(deadline(t), "INSERT INTO parent VALUES (1)", nil)
		fatal(t, err)
		fatal(t, w.Close())
		if f.Name == "" || strings.Contains(f.Whole, "foreign key far") != (tied != "") {
			t.Errorf("%s: %+v", account, f)
		}
		wish := filewise.Wish{Database: "asked", Run: 1, Layout: layout(filewise.KindPartitions, 2), Tables: []string{"spread"}}
		_, err = migrate(b, in, wish)
		fatal(t, err)
		wish.Tables = []string{"parent"}
		if _, err := migrate(b, in, wish); tied != "" && (err == nil || !strings.Contains(err.Error(),
			"foreign key far of table c/d to parent")) {
			t.Errorf("%s: %v", account, err)
		}
	}
	s := open(t, b, b.Target("filewise"))
	w := inserts(t, func(p *workload.Params) { p.Connections = 1 })
	fatal(t, buildOn(t, s, layout(filewise.KindPerTable, 1), w).Drop(deadline(t)))
	b.Exec(t, "SET GLOBAL general_log = OFF")
	asked, err := dialect.Column(deadline(t), b.Root, "SELECT DISTINCT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE "+
		"command_type IN ('Query', 'Execute') AND argument LIKE '%information_schema.%' AND argument LIKE '%SELECT%'")
	fatal(t, err)
	for _, question := range asked {
		if hows, err := explained(b, question); err != nil {
			t.Errorf("%v: %s", err, question)
		} else if strings.Contains(hows, "Scanned all databases") && !strings.Contains(question, "PARTITION_NAME") {
			t.Errorf("%s: %s", hows, question)
		}
	}
	if len(asked) < 20 {
		t.Errorf("%d questions: %q", len(asked), asked)
	}
}

// explained returns what the server reports on how it reads for a question, without what it takes without opening tables.
func explained(b bench, question string) (hows string, err error) {
	rows, err := b.Root.Query("EXPLAIN " + question)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var row [10]any
		into := make([]any, len(row))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return "", err
		}
		if how := fmt.Sprintf("%s", row[9]); !strings.Contains(how, "Skip_open_table") {
			hows += how + "; "
		}
	}
	return hows, rows.Err()
}
