package capture

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
)

// A slow log shows where the database changes, and MariaDB's names it.
func TestReadSlowLog(t *testing.T) {
	text := "/usr/sbin/mysqld, Version: 8.0\n# Time: 2026-11-23T05:00:00Z\n# User@Host: ada[ada] @ localhost []  Id:    12\n" +
		"# Query_time: 0.250000  Lock_time: 0.0 Rows_sent: 1\nuse shop;\nSET timestamp=1;\nSELECT 1\nFROM a;\n" +
		"# Time: 2026-11-23T05:00:01Z\n# User@Host: ada[ada] @ localhost []  Id:    13\n# Query_time: 0.5  Lock_time: 0.0\nSET timestamp=1;\n" +
		"DELETE FROM a WHERE b IN (1,2,3);\n# Thread_id: 14  Schema: other  QC_hit: No\n# Query_time: 1.0  Lock_time: 0\nSELECT 2;\n"
	var got []string
	fatal(t, logsOf("mysql").ReadLog(strings.NewReader(text), "shop", func(s filewise.LoggedStatement) {
		got = append(got, fmt.Sprint(s.Session, " ", s.Key, " ", s.Seconds))
	}))
	if want := "12 SELECT ? FROM a 0.25|13 DELETE FROM a WHERE b IN(?, …) 0.5"; strings.Join(got, "|") != want {
		t.Errorf("%s", strings.Join(got, "|"))
	}
	if err := logsOf("mysql").ReadLog(strings.NewReader("2026 LOG: statement\n"), "shop", nil); filewise.RemedyOf(err) == "" {
		t.Errorf("no log: %v", err)
	}
	const head = "\t\t    12 Connect\ta@localhost on shop using Socket\n\t\t    12 Query\tSELECT "
	for _, bomb := range []string{strings.Repeat("1", 70<<20), strings.Repeat("\tx"+strings.Repeat("1", 1<<20)+"\n", 70)} {
		if err := logsOf("mysql").ReadLog(strings.NewReader(head+bomb), "shop", nil); filewise.CodeOf(err) != filewise.CodeUsage ||
			!strings.Contains(err.Error(), "longer than") ||
			strings.Contains(err.Error(), "no slow log") {
			t.Errorf("a statement without end: %v", err)
		}
	}
}

// Each statement of a log is passed as it was given, and nothing else is taken for one of it.
func TestReadLogsOfInnoDB(t *testing.T) {
	const general = "/usr/sbin/mysqld, Version: 8.0.31 (MySQL Community Server - GPL). started with:\nTcp port: 3306  Unix socket: /s\n" +
		"Time                 Id Command    Argument\n2026-11-25T10:00:00.0Z\t    8 Connect\tapp@web on shop using TCP/IP\n"
	const slow = "# Time: 2027\n# User@Host: h[h] @ w []  Id:  77\n# Query_time: 0.5  Lock_time: 0\n"
	for name, x := range map[string]struct{ log, want string }{
		"Processlist": {general + "2026-11-25T10:00:00.0Z\t    8 Query\tUPDATE a\n2026-11-25T10:00:00.0Z\t    9 Processlist\t\n" +
			"2026-11-25T10:00:00.0Z\t    9 Brand new\t\n", "UPDATE a"},
		"EXECUTE": {general + "2026-11-25T10:00:00.0Z\t    8 Query\tEXECUTE s USING @a\n2026-11-25T10:00:00.0Z\t    8 Execute\tSELECT 7\n" +
			"2026-11-25T10:00:00.0Z\t    8 Query\tSELECT COUNT(*) INTO v FROM a WHERE b = NAME_CONST('p',5)\n", "SELECT 7"},
		"trigger": {general + "2026-11-25T10:00:00.0Z\t    8 Query\tUPDATE a SET b = 'see new.html'\n" +
			"2026-11-25T10:00:00.0Z\t    8 Query\tUPDATE c SET d = new.d WHERE id = OLD.id\n" +
			"2026-11-25T10:00:00.0Z\t    8 Query\tINSERT INTO a VALUES (1) AS new ON DUPLICATE KEY UPDATE b = new.b\n",
			"UPDATE a SET b = 'see new.html'|INSERT INTO a VALUES (1) AS new ON DUPLICATE KEY UPDATE b = new.b"},
		"restart": {general + "2026-11-25T10:00:00.0Z\t    8 Query\tUPDATE a\n" + general +
			"2026-11-25T10:00:00.0Z\t    8 Query\tSELECT 1\n# x\n\t2\n",
			"UPDATE a||SELECT 1\n# x\n\t2"},
		"MariaDB": {"\t\t    12 Connect\ta@localhost on shop using Socket\n261127 11:43:02\t    12 Query\tSELECT 1\n\t\t    5 AND b\n" +
			"\t\t    12 Quit\t\n", "SELECT 1\n\t\t    5 AND b|"},
		"insert_id": {slow + "use shop;\nSET insert_id=100,timestamp=1764060000;\nINSERT INTO a VALUES (1);\n" + slow +
			"SET last_insert_id=4,insert_id=5,timestamp=1.5;\nINSERT INTO a VALUES (2);\n",
			"INSERT INTO a VALUES (1); 0.5|INSERT INTO a VALUES (2); 0.5"},
		"explain": {slow + "#\n# explain: id\ttype\n# explain: 1\tSIMPLE\n#\nuse `shop`;\nSET timestamp=1;\nSELECT 1;\n", "SELECT 1; 0.5"},
		"header": {slow + "use shop;\nSET timestamp=1;\nSELECT 1;\n/usr/sbin/mariadbd, Version: 10.11-log (D). started with:\nTcp port: 0\n" +
			"Time\t\t    Id Command\tArgument\n" + slow + "SET timestamp=1;\nSELECT 2\n# a comment\nFROM a;\n",
			"SELECT 1; 0.5|SELECT 2\n# a comment\nFROM a; 0.5"},
		"no use": {slow + "SET timestamp=1;\nSELECT 1;\n" + slow + "use other;\nSET timestamp=1;\nSELECT 2;\n", "SELECT 1; 0.5 earlier"},
		"table's file": {`"2026-11-28 10:00:00.123456","[app] @ localhost []",8,1,"Connect","app@localhost on shop using Socket"` + "\n" +
			`"2026-11-28 10:00:00.2","app[app] @ localhost []",8,1,"Query","SELECT \"a\", 'x\\'y'\nFROM b"` + "\n", "SELECT \"a\", 'x\\'y'\nFROM b"},
		"table, exported": {"event_time,user_host,thread_id,server_id,command_type,argument\r\n" +
			`2026-11-28 10:00:00,app[app] @ localhost [],8,1,Connect,app@localhost on shop using Socket` + "\r\n" +
			`2026-11-28 10:00:00,app[app] @ localhost [],8,1,Execute,"SELECT ""a"", 'x\'y'` + "\n" + `FROM b, c"` + "\r\n",
			"SELECT \"a\", 'x\\'y'\nFROM b, c"},
		"table by mysql": {"event_time\tuser_host\tthread_id\tserver_id\tcommand_type\tCONVERT(argument USING utf8)\n" +
			"2026-11-28 10:00:00.1\tapp[app] @  [10.0.0.7]\t8\t1\tInit DB\tshop\n2026-11-28 10:00:00.1\tapp[app] @  [10.0.0.7]\t8\t1\tQuery\t" +
			"UPDATE a\\nSET b = '\\t'\n2026-11-28 10:00:00.1\tapp[app] @  [10.0.0.7]\t8\t1\tQuery\t0x53454C4543542031\n",
			"UPDATE a\nSET b = '\t'|SELECT 1"},
		"slow table": {`"2026-11-28 10:00:00.1","app[app] @ localhost []","00:00:01.250000","00:00:00",1,1,"shop",0,0,1,"DELETE FROM a, b",8,0` +
			"\n" +
			`"2026-11-28 10:00:00.1","app[app] @ localhost []","00:00:01.250000","00:00:00",1,1,"other",0,0,1,"DELETE FROM c",9,0` + "\n" +
			`"2026-11-28 10:00:00.1","app[app] @ localhost []","00:00:00","00:00:00",0,0,"shop",0,0,1,"Quit",8,0` + "\n",
			"DELETE FROM a, b 1.25"},
		"Percona": {"# Time: 2026-11-28T10:00:00.1Z\n# User@Host: app[app] @ localhost []  Id:    12\n" +
			"# Schema: shop  Last_errno: 0  Killed: 0\n" +
			"# Query_time: 0.5  Lock_time: 0.0  Rows_sent: 1  Rows_examined: 1  Rows_affected: 0  Bytes_sent: 62\n" +
			"# Tmp_tables: 0  Tmp_disk_tables: 0\n" +
			"# InnoDB_trx_id: 5F\n# Full_scan: No  Full_join: No\n#   InnoDB_IO_r_ops: 0  InnoDB_IO_r_bytes: 0\n#   InnoDB_pages_distinct: 7\n" +
			"# Log_slow_rate_type: query  Log_slow_rate_limit: 10\nSET timestamp=1;\nSELECT 1;\n", "SELECT 1; 0.5"},
		"CloudWatch": {`{"events":[{"timestamp":1,"message":"# Time: 2026-11-28T10:00:00.1Z\n# User@Host: a[a] @ b []  Id: 3\n# ` +
			`Query_time: 0.5  Lock_time: 0\nuse shop;\nSET timestamp=1;\nSELECT 1\n FROM a;"}]}`, "SELECT 1\n FROM a; 0.5"},
		"Azure": {`{"properties":{"event_class":"slow_log","start_time":"2026-11-28T10:00:00Z","query_time":0.5,"thread_id":12,"db":"shop",` +
			`"sql_text":"SELECT 1\nFROM a"}}` + "\n", "SELECT 1\nFROM a; 0.5"},
		"ANSI": {slow + "use shop;\nSET timestamp=1;\nset session sql_mode = 'ANSI,TRADITIONAL';\n" + slow + "SET timestamp=1;\n" +
			"SELECT \"a\".\"b`\" FROM \"a\" WHERE c = 'it''s \"x\"';\n" + strings.Replace(slow, "77", "78", 1) + "SET timestamp=1;\nSELECT \"x\";\n",
			"set session sql_mode = 'ANSI,TRADITIONAL'; 0.5|SELECT `a`.`b``` FROM `a` WHERE c = 'it''s \"x\"'; 0.5|SELECT \"x\"; 0.5"},
		"server_audit": {"20261128 10:00:00,vm,app,web,8,0,CONNECT,shop,,0\n20261128 10:00:00,vm,app,web,8,5,WRITE,shop,a,\n" +
			`20261128 10:00:00,vm,app,web,8,5,QUERY,shop,'UPDATE a SET b=\'it\'\'s, \\\\\nx\'',0` + "\n20261128 10:00:00,vm,app,web,8,6,QUERY," +
			"shop,'SELECT nix',1054\n20261128 10:00:00,vm,app,web,9,7,QUERY,other,'SELECT 2',0\n20261128 10:00:00,vm,app,web,8,8,QUERY,shop," +
			"'SELECT \\'" + strings.Repeat("x", 1015) + "',0\n20261128 10:00:00,vm,app,web,8,0,DISCONNECT,shop,,0\n",
			"UPDATE a SET b='it''s, \\\\\nx'|" + filewise.Unreadable + "|"},
		"several": {slow + "use shop;\nSET timestamp=1;\nBEGIN; DELETE FROM a;\n", "BEGIN 0.25|DELETE FROM a 0.25"},
	} {
		var got []string
		err := logsOf("mysql").ReadLog(strings.NewReader(x.log), "shop", func(s filewise.LoggedStatement) {
			text := s.Text
			if s.Seconds > 0 {
				text += fmt.Sprint(" ", s.Seconds)
			}
			if s.Earlier {
				text += " earlier"
			}
			got = append(got, text)
		})
		if strings.Join(got, "|") != x.want || err != nil {
			t.Errorf("%s: %q, %v", name, strings.Join(got, "|"), err)
		}
	}
	for at, set := range map[string]string{"261125 10:00:01": "", "2026-11-25T10:00:01Z": "", "2027": "SET timestamp=1795600801;\n",
		"261125 12:00:01": "SET timestamp=1795600800.5;\n"} {
		log := strings.NewReader(strings.Replace(slow, "2027", at, 1) + "use shop;\n" + set + "SELECT 1;\n")
		fatal(t, logsOf("mysql").ReadLog(log, "shop", func(s filewise.LoggedStatement) {
			if want := time.Date(2026, 11, 25, 10, 0, 1, 0, time.UTC); !s.Ended.Equal(want) {
				t.Errorf("it ended at %v", s.Ended)
			}
		}))
	}
	err := logsOf("mysql").ReadLog(strings.NewReader(slow+"use other;\nSET timestamp=1;\nSELECT 2;\n"), "shop", nil)
	if err == nil || !strings.Contains(err.Error(), "6 lines read, with statements of other (1), but none of database shop") {
		t.Errorf("%v", err)
	}
}

// A common table expression in a writing statement is not looked for as a table, and is part of what the statement reads.
func TestExpressionsAreNoTables(t *testing.T) {
	const text = "INSERT INTO `e` WITH RECURSIVE `n` ( `i` ) AS ( SELECT 1 UNION ALL SELECT `i` + 1 FROM `n` ) , " +
		"m AS (SELECT 2) SELECT i FROM n, m"
	var names []string
	for _, m := range expression.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	if reads := selects.FindStringSubmatch(text)[1]; strings.Join(names, " ") != "n m" || !strings.HasPrefix(reads, "WITH RECURSIVE") {
		t.Errorf("%q, %s", names, reads)
	}
}

// A study of any log covers what was fed: statements in transactions of all kinds, of sessions side by side, with
// what else stands in a log between them.
func TestMutatedLogsOfInnoDB(t *testing.T) {
	shape := func(text string) (filewise.Shape, error) { return dialect.CustomRules.Shape(text, "shop", nil) }
	const head = "/usr/sbin/mysqld, Version: 8.0.31 (MySQL Community Server - GPL). started with:\nTcp port: 3306  Unix socket: /s\n" +
		"Time                 Id Command    Argument\n"
	mutatedLogs(t, logsOf("mysql"), true, shape, func(all []loggedLine) string {
		text := head
		for i, l := range all {
			at, set := l.At.Format("2006-01-02T15:04:05.000000Z"), []string{"", "insert_id=7,", "last_insert_id=1,insert_id=2,"}[i%3]
			text += fmt.Sprintf("# Time: %s\n# User@Host: h[h] @ w []  Id:  %d\n# Query_time: %.6f  Lock_time: 0.000001 Rows_sent: 1\n",
				at, l.Session+7, float64(l.Millis)/1000)
			if i%5 == 0 {
				text += "use shop;\n"
			}
			text += "SET " + set + "timestamp=1;\n" + l.Text + ";\n"
			switch i % 17 {
			case 4:
				text += "# Time: " + at + "\n# User@Host: h[h] @ w []  Id:  99\n# Query_time: 1.5  Lock_time: 0\nuse other;\n" +
					"SET timestamp=1;\nSELECT 1;\n# Time: " + at + "\n# User@Host: h[h] @ w []  Id:  98\n# Query_time: 0.0  Lock_time: 0\n" +
					"use shop;\n# administrator command: Ping;\n"
			case 11:
				text += head
			}
		}
		return text
	})
	mutatedLogs(t, logsOf("mariadb"), false, shape, func(all []loggedLine) string {
		text := head
		for id := range 3 {
			text += fmt.Sprintf("2026-11-27T10:00:00.0Z\t    %d Connect\tapp@web on shop using TCP/IP\n", id+7)
		}
		for i, l := range all {
			at := l.At.Format("2006-01-02T15:04:05.000000Z")
			text += fmt.Sprintf("%s\t    %d Query\t%s\n", at, l.Session+7, l.Text)
			if i%9 == 3 {
				text += at + "\t    99 Connect\tmon@localhost on  using Socket\n" + at + "\t    99 Query\tSHOW STATUS\n" + at +
					"\t    99 Processlist\t\n" + at + "\t    99 Quit\t\n"
			}
		}
		return text
	})
}

// Another name of a row is written as it is used, where case counts.
func TestAliasesOfDigests(t *testing.T) {
	const values = "INSERT INTO `t` VALUES (...) AS "
	for text, want := range map[string]string{values + "NEW ON DUPLICATE KEY UPDATE `a` = `new` . `a`": values + "`new` ON DUPLICATE KEY " +
		"UPDATE `a` = `new` . `a`", "SELECT CAST ( ? AS SIGNED )": "SELECT CAST ( ? AS SIGNED )"} {
		if got := aliased(text); got != want {
			t.Errorf("%s\nnot %s", got, want)
		}
	}
}
