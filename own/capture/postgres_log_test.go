package capture

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/postgres/dialect"
)

// endless returns a text that goes on with a byte for longer than any statement can be.
func endless(text string) io.Reader {
	return io.MultiReader(strings.NewReader(text), strings.NewReader(strings.Repeat("1", 70<<20)), strings.NewReader("\"\n"))
}

// A statement without end is refused before it is in memory; lines that are being written are not.
func TestBombInALogOfPostgres(t *testing.T) {
	const line = `{"dbname":"shop","session_id":"1","message":"statement: SELECT `
	const row = `t,u,shop,1,l,5f.1,1,SELECT,t,1/1,0,LOG,0,"statement: SELECT `
	for _, text := range []string{line, row} {
		err := readPostgresLog(endless(text), "shop", nil)
		if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(err.Error(), "longer than") ||
			strings.Contains(err.Error(), "no csvlog") {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	n := 0
	if err := readPostgresLog(strings.NewReader(line+"1\"}\n\n"+line), "shop", func(filewise.LoggedStatement) { n++ }); err != nil || n != 1 {
		t.Errorf("%d statements, %v", n, err)
	}
}

// row returns a line of a csvlog.
func row(tag, message, detail string) string {
	quoted := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
	return `2026-11-25 10:00:01.250 CET,u,shop,1,l,5f.1,1,` + tag + `,t,1/1,0,LOG,0,` + quoted(message) + "," +
		quoted(detail) + ",,,,,,,,p,client backend,,0\n"
}

// Statements are read from each form of log that has them, once.
func TestReadLogsOfPostgres(t *testing.T) {
	const plan = "duration: 2.5 ms  plan:\nQuery Text: SELECT a\nFROM b WHERE id = $1;\nQuery Parameters: $1 = '5'\n" +
		"Index Scan using b on b  (cost=0.28..8.30 rows=1 width=5)\n  Index Cond: (id = 4)"
	const inner = `"session_id":"1","message":"duration: 1.5 ms  statement: SELECT 1"}`
	for name, x := range map[string]struct{ log, want string }{
		"German": {row("SELECT", "Dauer: 1.5 ms  Anweisung: SELECT 1", "") + row("BIND", "Dauer: 1.5 ms  Binden <unnamed>: SELECT $1", "") +
			row("SELECT", "Dauer: 1.5 ms  Ausführen <unnamed>: SELECT $1::int", ""), "SELECT 1 1.5|SELECT $1::int 1.5"},
		"French":  {row("SELECT", "durée : 1.5 ms, instruction : SELECT 1", ""), "SELECT 1 1.5"},
		"Chinese": {row("SELECT", "持续时间: 1.5 ms  语句: SELECT 1", ""), "SELECT 1 1.5"},
		"bind": {row("BIND", "duration: 1.5 ms  bind s: SELECT $1", "") +
			row("SELECT", "duration: 1 ms  execute s: SELECT $1", ""), "SELECT $1 1"},
		"CloudNativePG": {`{"level":"info","msg":"started","record":"none"}` + "\n" +
			`{"msg":"record","record":{"database_name":"shop",` + inner + "}\n",
			"SELECT 1 1.5"},
		"Cloud SQL": {`{"textPayload":"[100]: [1-1] db=shop,user=app LOG:  duration: 1.5 ms  statement: SELECT 1"}`, "SELECT 1 1.5"},
		"jsonlog":   {`{"dbname":"shop",` + inner, "SELECT 1 1.5"},
		"plans": {row("SELECT", plan, "") + row("SELECT", plan, "") + row("SELECT", "duration: 4 ms  statement: SELECT c", ""),
			"SELECT a\nFROM b WHERE id = $1; 2.5|SELECT a\nFROM b WHERE id = $1; 2.5|SELECT c 4"},
		"its end is being written": {row("SELECT", "duration: 4 ms  statement: SELECT c", "") + `2026-11-27 10:00:53,"app","shop",919,"SELE`,
			"SELECT c 4"},
		"its end is being written, between fields": {row("SELECT", "duration: 4 ms  statement: SELECT c", "") + `2026-11-27 10:00:53,"app"`,
			"SELECT c 4"},
		"glued of two files": {row("SELECT", "duration: 4 ms  statement: SELECT c", "") +
			`2026-11-27 10:00:53,"app","shop",919,"l",5f.1,1,SELECT,t,1/1,0,LOG,0,"duration: 4 ms  state` + "\n" +
			row("", "connection authorized", "") + row("SELECT", "duration: 5 ms  statement: SELECT d", ""),
			"SELECT c 4|SELECT d 5|" + filewise.Unreadable + " 0"},
		"its begin is cut": {row("SELECT", "duration: 4 ms  statement: SELECT c", "")[40:] +
			row("SELECT", "duration: 5 ms  statement: SELECT d", ""),
			"SELECT d 5|" + filewise.Unreadable + " 0"},
		"jsonlog glued of two": {`{"dbname":"shop",` + inner + "\n" + `{"dbname":"shop","session_id":"1","mess` + "\n\x00" +
			`{"dbname":"shop",` + inner,
			"SELECT 1 1.5|SELECT 1 1.5|" + filewise.Unreadable + " 0"},
		"jsonlog whose begin is cut": {`session_id":"1","message":"a"}` + "\n" + `{"dbname":"shop",` + inner,
			"SELECT 1 1.5|" + filewise.Unreadable + " 0"},
		"jsonlog as an array": {`[{"dbname":"shop",` + inner + ",\n" + `{"dbname":"shop",` + inner + "]", "SELECT 1 1.5|SELECT 1 1.5"},
		"plan in YAML": {row("SELECT", "duration: 2 ms  plan:\nQuery Text: \"SELECT \\\"a\\\"\\nFROM b\"\nPlan: \n  Node Type: \"Seq Scan\"", ""),
			"SELECT \"a\"\nFROM b 2"},
		"plan in XML": {row("SELECT", "duration: 2 ms  plan:\n<explain>\n  <Query-Text>SELECT a &lt; 5</Query-Text>\n  <Plan>", ""),
			"SELECT a < 5 2"},
		"pgaudit": {row("UPDATE", `AUDIT: SESSION,1,1,WRITE,UPDATE,,,"UPDATE a SET b = 'x, ""y""'",<none>`, "") +
			row("SELECT", "AUDIT: SESSION,2,1,READ,SELECT,,,SELECT f(1),<none>", "") +
			row("SELECT", "AUDIT: SESSION,2,2,READ,SELECT,,,SELECT 2 FROM a,<none>", "") + // within f
			row("COMMIT", "AUDIT: SESSION,3,1,MISC,COMMIT,,,COMMIT,<none>", "") + row("COMMIT", "duration: 3 ms  statement: COMMIT", ""),
			`UPDATE a SET b = 'x, "y"' 0|SELECT f(1) 0|COMMIT 3`},
		"pgaudit and log_statement": {row("UPDATE", "statement: UPDATE a", "") +
			row("UPDATE", "AUDIT: SESSION,1,1,WRITE,UPDATE,,,UPDATE a,<none>", "") + row("UPDATE", "duration: 3 ms", ""), "UPDATE a 3"},
		"cursor": {row("DECLARE CURSOR", "duration: 1 ms  statement: DECLARE \"c_1\" NO SCROLL CURSOR WITH HOLD FOR SELECT a FOR UPDATE", ""),
			"SELECT a FOR UPDATE 1"},
		"plan and statement": {row("SELECT", plan, "") + row("SELECT", "duration: 4 ms  execute s: SELECT a\nFROM b WHERE id = $1", "") +
			row("SELECT", "duration: 3 ms  plan:\n{\n  \"Query Text\": \"SELECT 7\"\n}", ""), "SELECT a\nFROM b WHERE id = $1 4|SELECT 7 3"},
		"EXECUTE": {row("EXECUTE", "duration: 1 ms  statement: EXECUTE p(1);", "prepare: PREPARE p(int) AS SELECT a FROM b WHERE c = $1;") +
			row("PREPARE", "statement: PREPARE q AS DELETE FROM a", "") + row("EXECUTE", "statement: EXECUTE q", ""),
			"SELECT a FROM b WHERE c = $1; 1|PREPARE q AS DELETE FROM a 0|DELETE FROM a 0"},
		"log_statement and log_duration": {row("UPDATE", "statement: UPDATE a", "") + row("UPDATE", "duration: 7 ms", "") +
			row("SELECT", "execute s: SELECT $1", "parameters: $1 = '5'") + row("SELECT", "duration: 8 ms  plan:\nQuery Text: SELECT $1\n"+
			"Result  (cost=0.00..0.01 rows=1 width=4)", "") + row("SELECT", "duration: 9 ms", "") + row("DELETE", "statement: DELETE FROM a", ""),
			"UPDATE a 7|SELECT $1 8|DELETE FROM a 0"},
	} {
		var got []string
		err := readPostgresLog(strings.NewReader(x.log), "shop", func(s filewise.LoggedStatement) {
			got = append(got, fmt.Sprint(s.Text, " ", s.Seconds*1000))
		})
		if strings.Join(got, "|") != x.want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	fmt.Fprint(w, row("SELECT", "duration: 1 ms  statement: SELECT 1", ""))
	w.Close()
	if err := readPostgresLog(&packed, "shop", func(s filewise.LoggedStatement) {
		if want := time.Date(2026, 11, 25, 10, 0, 1, 250e6, time.UTC); !s.Ended.Equal(want) {
			t.Errorf("it ended at %v", s.Ended)
		}
	}); err != nil {
		t.Error(err)
	}
	values := ""
	for _, log := range []string{
		row("SELECT", `AUDIT: SESSION,2,1,READ,SELECT,,,SELECT a WHERE b = $1 AND c = $2,"x,"`, ""),
		row("SELECT", "duration: 2 ms  plan:\nQuery Text: SELECT a WHERE b = $1 AND c = $2\nQuery Parameters: $1 = 'x', $2 = NULL\n"+
			"Result  (cost=0.00..0.01 rows=1 width=4)", ""),
		row("EXECUTE", "statement: EXECUTE q('x'::text, NULL)", "prepare: PREPARE q AS SELECT a WHERE b = $1 AND c = $2"),
	} {
		if err := readPostgresLog(strings.NewReader(log), "shop",
			func(s filewise.LoggedStatement) { values = strings.Join(s.Arguments, "|") }); err != nil || values != "'x'|NULL" {
			t.Errorf("%s: %s, %v", log, values, err)
		}
	}
	bound := row("SELECT", "duration: 1 ms  execute s: SELECT $1", "parameters: $1 = 'it''s, $2', $2 = NULL")
	if err := readPostgresLog(strings.NewReader(bound), "shop",
		func(s filewise.LoggedStatement) { values = strings.Join(s.Arguments, "|") }); err != nil || values != "'it''s, $2'|NULL" {
		t.Errorf("%s, %v", values, err)
	}
	for log, want := range map[string]string{
		row("SELECT", "duration: 3 ms  plan:\n<explain/>", ""): "1 line read: none of 1 record about database shop has a form that is known: dur",
		`{"dbname":"other",` + inner:                           "1 line read, with statements of other (1), but none of database shop",
	} {
		if err := readPostgresLog(strings.NewReader(log), "shop", nil); err == nil || !strings.Contains(err.Error(), want) ||
			filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", log, err)
		}
	}
}

// texts are the two records of a session as each prefix shows them, by what a log is wrapped in.
func textRecords(prefix string, pid int, user, database string) (lines []string) {
	prefix = strings.NewReplacer("%m", "2026-11-28 10:00:01.250 UTC", "%t", "2026-11-28 10:00:01 UTC", "%p", fmt.Sprint(pid), "%u", user, "%d",
		database, "%r", "10.0.0.7(53412)", "%h", "10.0.0.7", "%c", fmt.Sprintf("6a1b2c3d.%x", pid), "%l", "1234", "%n", "1795860001.250", "%a",
		"psql", "%s", "2026-11-28 09:00:00 UTC", "%v", fmt.Sprintf("%d/77", pid), "%e", "00000", "%i", "SELECT", "%q", "").Replace(prefix)
	return []string{prefix + "LOG:  duration: 1.5 ms  execute <unnamed>: SELECT a\n", "\tFROM b -- LOG:  x\n", "\tWHERE id = $1\n",
		prefix + "DETAIL:  parameters: $1 = '5'\n"}
}

// Text that log_line_prefix begins is read whatever its form, and whatever has shipped it.
func TestTextLogsOfPostgres(t *testing.T) {
	lines := func(all []string) string { return strings.Join(all, "") }
	quoted := func(text string) string {
		raw, _ := json.Marshal(text) // a string
		return string(raw)
	}
	each := func(form string) func([]string) string {
		return func(all []string) (text string) {
			for _, line := range all {
				text += strings.Replace(form, "%s", quoted(line), 1) + "\n"
			}
			return text
		}
	}
	whole := func(form string) func([]string) string {
		return func(all []string) string {
			return fmt.Sprintf(form, quoted(strings.TrimSpace(lines(all[:3]))), quoted(strings.TrimSpace(all[3])))
		}
	}
	const debian, rds = "%m [%p] %q%u@%d ", "%t:%r:%u@%d:[%p]:"
	for name, x := range map[string]struct {
		prefix string
		wrap   func([]string) string
	}{
		"Debian": {debian, lines}, "RDS": {rds, lines}, "pgBadger": {"%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h ", lines},
		"no names": {"%m %p %u %d ", lines}, "epoch": {"%n|%c|%d|%u|", lines}, "Azure": {"%t-%c-", lines}, "default": {"%m [%p] ", lines},
		"process last": {"%u/%d %s %e %i pid=%p ", lines}, "virtual": {"%t %d %v ", lines}, "angles": {"<%m %v %p %u@%d/%a> ", lines},
		"Docker": {"%m [%p] ", each(`{"log":%s,"stream":"stderr","time":"2026-11-28T10:00:01Z"}`)},
		"compose": {debian, func(all []string) string {
			return "db-1  | " + strings.Join(all, "db-1  | ")
		}},
		"containerd": {debian, func(all []string) string {
			return "2026-11-28T10:00:01.2Z stderr F " + strings.Join(all, "2026-11-28T10:00:01.2Z stderr F ")
		}},
		"syslog": {"user=%u,db=%d ", func(all []string) (text string) {
			for n, line := range all {
				text += fmt.Sprintf("Nov 28 10:00:01 db postgres[77]: [%d-%d] %s", 5+n/3, 1+n%3, strings.Replace(line, "\t", "#011", 1))
			}
			return text
		}},
		"CloudWatch": {rds, whole(`{"events": [{"timestamp": 1795860001250, "message": %s, "eventId": "1"}, {"message": %s}]}`)},
		"pretty":     {rds, whole("{\n  \"events\": [\n    {\n      \"message\": %s\n    },\n    {\n      \"message\": %s\n    }\n  ]\n}\n")},
		"Cloud SQL": {"[%p]: [3-1] db=%d,user=%u ", whole(`[{"insertId":"x","textPayload":%s,"timestamp":"2026-11-28T10:00:01.250Z"},` +
			`{"textPayload":%s,"timestamp":"2026-11-28T10:00:01.250Z"}]`)},
		"Azure's records": {"%t-%c-", whole(`{"category":"PostgreSQLLogs","properties":{"timestamp":"2026-11-28 10:00:01",` +
			`"message":%s,"detail":%s}}`)},
	} {
		var got []string
		log := x.wrap(textRecords(x.prefix, 77, "app", "shop"))
		err := readPostgresLog(strings.NewReader(log), "shop", func(s filewise.LoggedStatement) {
			got = append(got, fmt.Sprint(s.Text, s.Seconds*1000, s.Arguments, s.Session != "", s.Ended.IsZero(), s.Earlier))
		})
		want := fmt.Sprintf("SELECT a\nFROM b -- LOG:  x\nWHERE id = $11.5 ['5'] true %v %v", name == "syslog", !strings.Contains(x.prefix, "%d"))
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%s: %q, %v, want %q\n%s", name, got, err, want, log)
		}
		if log := x.wrap(textRecords(x.prefix, 78, "shop", "other")); strings.Contains(x.prefix, "@%d") {
			if err := readPostgresLog(strings.NewReader(log), "shop", nil); err == nil || !strings.Contains(err.Error(), "of other (1)") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for log, want := range map[string]string{
		lines(textRecords("%t %d ", 1, "app", "shop")): "name no process",
		"[{\"textPayload\":\"[5]: [1-1] db=shop LOG:  duration: 1 ms  statement: SELECT 1\",\"timestamp\":\"2026-11-28T10:00:02Z\"},\n" +
			"{\"textPayload\":\"[5]: [1-1] db=shop LOG:  duration: 1 ms  statement: SELECT 2\",\"timestamp\":\"2026-11-28\"}]": "to the first",
		"2026-11-28 10:00:02 UTC [5] a@shop LOG:  kestus: 1 ms  lause: SELECT 1\n": "has a form that is known: kestus",
	} {
		err := readPostgresLog(strings.NewReader(log), "shop", func(filewise.LoggedStatement) {})
		if text := fmt.Sprint(err); want != "" && (!strings.Contains(text, want) || filewise.RemedyOf(err) == "") {
			t.Errorf("%s: %v, want %s", log, err, want)
		}
	}
}

// Statements, their times and values are read in any language in which PostgreSQL writes them; parsing and binding are not.
func TestLogsOfPostgresInOtherLanguages(t *testing.T) {
	for name, x := range map[string]string{
		"de": "LOG|DETAIL|FEHLER|ANWEISUNG|Dauer: 2 ms|  Anweisung: |  Ausführen s: |  Binden s: |  Ausführen Fetch von c: |Parameter: ",
		"fr": "LOG|DÉTAIL|ERREUR|INSTRUCTION\u00a0|durée : 2 ms|, instruction : |  exécute s: |, lien s : " +
			"|  exécute fetch à partir de c: |paramètres : ",
		"es": "LOG|DETALLE|ERROR|SENTENCIA|duración: 2 ms|  sentencia: |  ejecutar s: |  bind s: |  ejecutar fetch desde c: |parámetros: ",
		"it": "LOG|DETTAGLI|ERRORE|ISTRUZIONE|durata: 2 ms|  istruzione: |  esecuzione di s: |  bind s: " +
			"|  esecuzione di fetch da c: |parametri: ",
		"ja": "LOG|詳細|ERROR|文|期間: 2 ミリ秒|  文: |  実行 s: |  バインド s: |  取り出し実行 c: |パラメータ: ",
		"ko": "로그|상세정보|오류|명령 구문|실행시간: 2 ms|  명령 구문: |  쿼리실행 s: |  s 접속: |  자료뽑기 c: |매개 변수: ",
		"ru": "СООБЩЕНИЕ|ПОДРОБНОСТИ|ОШИБКА|ОПЕРАТОР|продолжительность: 2 мс|, оператор: |  выполнение s: |, Bind s: " +
			"|  выборка из c: |параметры: ",
		"zh": "日志|详细信息|错误|语句|执行时间: 2 ms| 语句: | 执行s: | 绑定s: | 执行FETCH操作 c: |参数: ",
	} {
		w := strings.Split(x, "|")
		said, detail := func(level, text string) string {
			return "2026-11-28 10:00:01.250 UTC [7] app@shop " + level + ":  " + text + "\n"
		}, w[9]+"$1 = '5'"
		log := said(w[0], w[4]+w[5]+"SELECT 1") + said(w[0], w[4]+w[7]+"SELECT $1") + said(w[0], w[4]+w[6]+"SELECT a\n\tWHERE b = $1") +
			said(w[1], detail) + said(w[0], w[4]+w[8]+"SELECT c") + said(w[2], "x") + said(w[3], "SELECT d") +
			said(w[0], strings.TrimLeft(w[5], ", ")+"SELECT e") + said(w[0], w[4]) +
			said(w[0], strings.TrimLeft(w[6], " ")+"SELECT f") + said(w[1], detail) + said(w[0], w[4])
		csv := row("", w[4]+w[5]+"SELECT 1", "") + row("", w[4]+w[6]+"SELECT a\nWHERE b = $1", detail) + row("BIND", w[4]+w[7]+"SELECT $1", "") +
			row("", w[4]+w[8]+"SELECT c", "") +
			strings.Replace(row("", "x", ""), ",LOG,", ","+w[2]+",", 1) + row("", strings.TrimLeft(w[5], ", ")+"SELECT e", "") + row("", w[4], "") +
			row("", strings.TrimLeft(w[6], " ")+"SELECT f", detail) + row("", w[4], "")
		for _, log := range []string{log, csv} {
			var got []string
			err := readPostgresLog(strings.NewReader(log), "shop", func(s filewise.LoggedStatement) {
				got = append(got, fmt.Sprint(s.Text, " ", s.Seconds*1000, " ", s.Arguments))
				if s.Failed != (s.Text == "") {
					t.Errorf("%s: %+v", name, s)
				}
			})
			want := "SELECT 1 2 []|SELECT a\nWHERE b = $1 2 ['5']|FETCH 2 []| 0 []|SELECT e 2 []|SELECT f 2 ['5']"
			if err != nil || strings.Join(got, "|") != want {
				t.Errorf("%s: %q, %v, want %q\n%s", name, got, err, want, log)
			}
		}
	}
}

// A study of any log covers what was fed, by csvlog and by jsonlog within CloudNativePG's records.
func TestMutatedLogsOfPostgres(t *testing.T) {
	shape := func(text string) (filewise.Shape, error) { return dialect.CustomRules.Shape(text, "", nil) }
	message := func(l loggedLine) (tag, text string) {
		return strings.ToUpper(strings.Fields(l.Text)[0]), fmt.Sprintf("duration: %d.000 ms  statement: %s", l.Millis, l.Text)
	}
	mutatedLogs(t, logsOf("postgres"), true, shape, func(all []loggedLine) (text string) {
		for i, l := range all {
			tag, said := message(l)
			line := strings.Replace(row(tag, said, ""), "5f.1", fmt.Sprint("5f.", l.Session), 1)
			text += strings.Replace(line, "10:00:01.250 CET", l.At.Format("15:04:05.000 UTC"), 1)
			if i%7 == 2 {
				more := strings.Replace(row("SELECT", "duration: 9 ms  statement: SELECT 1", ""), "shop", "other", 1) +
					row("", "connection authorized: user=u database=shop", "")
				text += strings.ReplaceAll(more, "5f.1", "5f.9")
			}
			if i%11 == 5 { // two files that meet
				text += line[:len(line)/2] + "\n" + row("", "checkpoint starting: time", "")
			}
		}
		return text
	})
	mutatedLogs(t, logsOf("postgres"), true, shape, func(all []loggedLine) (text string) {
		for _, l := range all {
			tag, said := message(l)
			line, err := json.Marshal(map[string]any{"msg": "record", "record": map[string]any{
				"log_time":      l.At.Format("2006-01-02 15:04:05.000 UTC"),
				"database_name": "shop", "session_id": fmt.Sprint(l.Session), "command_tag": tag, "message": said}})
			if err != nil {
				t.Fatal(err)
			}
			if text += string(line) + "\r\n"; len(text)%11 == 5 {
				text += string(line[:len(line)/2]) + "\n\x00\x00"
			}
		}
		return text
	})
	for n, prefix := range []string{"%m [%p] %q%u@%d ", "%t:%r:%u@%d:[%p]:", "%m %p %u %d "} {
		mutatedLogs(t, logsOf("postgres"), true, shape, func(all []loggedLine) (text string) {
			for i, l := range all {
				before := strings.NewReplacer("%m", l.At.Format("2006-01-02 15:04:05.000 UTC"), "%t", l.At.Format("2006-01-02 15:04:05 UTC"), "%p",
					fmt.Sprint(50+l.Session), "%u", "app", "%d", "shop", "%r", "10.0.0.7(53412)", "%q", "").Replace(prefix)
				said := strings.ReplaceAll(l.Text, "\n", "\n\t")
				if n == 1 { // log_statement = all, log_duration = on
					text += before + "LOG:  statement: " + said + "\n" + before + fmt.Sprintf("LOG:  duration: %d.000 ms\n", l.Millis)
				} else {
					text += before + fmt.Sprintf("LOG:  duration: %d.000 ms  statement: ", l.Millis) + said + "\n"
				}
				if i%7 == 2 {
					other := strings.NewReplacer("shop", "other", fmt.Sprint(50+l.Session), "99").Replace(before)
					text += other + "LOG:  duration: 9 ms  statement: SELECT 1\n" + other + "ERROR:  no\n" + other + "STATEMENT:  SELECT\n\t1\n"
				}
			}
			return text
		})
	}
}

// Most keys are drawn from where most rows are, if the newest lie far from them.
func TestBulkOfKeys(t *testing.T) {
	for _, c := range []struct{ last, from, to string }{{"100", "", ""}, {"20000", "0", "90"}} {
		bounds := []string{}
		for i := range 10 {
			bounds = append(bounds, fmt.Sprint(10*i))
		}
		from, to := bulk(append(bounds, c.last))
		if from != c.from || to != c.to {
			t.Errorf("%s: %s to %s", c.last, from, to)
		}
	}
}
