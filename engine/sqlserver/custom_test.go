package sqlserver

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"

	"filewise"
	"filewise/engine/customsql"
	"filewise/engine/enginetest"
	"filewise/internal/marker"
	"filewise/lab/workload"
)

// customWork is SQL as a user would bring it.
func customWork(t *testing.T, statement, check string) filewise.Workload {
	t.Helper()
	text := func(all ...string) workload.Script {
		var texts []filewise.CustomText
		for i, s := range all {
			texts = append(texts, filewise.CustomText{Text: s, File: "my.yaml", Line: 10 + i})
		}
		return workload.Script{"": texts}
	}
	w, err := workload.NewCustom(workload.Params{Connections: 3, Custom: &workload.Custom{
		Tables: []filewise.CustomTable{{Name: "accounts", Key: "id"}},
		Setup: text(`CREATE TABLE dbo.accounts (id int NOT NULL PRIMARY KEY, balance int NOT NULL) {{spread "accounts"}};
CREATE TABLE dbo.notes (account int NOT NULL, note varchar(20)); INSERT INTO dbo.accounts (id, balance) VALUES (1, 0), (2, 0)`),
		Parameters: []workload.Parameter{{Name: "id", Draw: workload.DrawInt, From: 1, To: 2},
			{Name: "note", Draw: workload.DrawText, From: 1, To: 20}},
		Transactions: []workload.Transaction{
			{Name: "deposit", Weight: 2, SQL: text(statement, "INSERT INTO dbo.notes (note, account) VALUES (:note, :id)")},
			{Name: "look", Weight: 1, SQL: text("SELECT balance, ':id' AS text FROM dbo.accounts WHERE id = :id")},
		},
		Checks: []workload.CustomCheck{
			{Query: text("SELECT SUM(balance) AS n FROM dbo.accounts"), Committed: "deposit", Each: 1},
			{Query: text("SELECT COUNT(*) AS n FROM dbo.notes"), Committed: "deposit", Each: 1},
			{Query: text(check), NoRows: true},
		},
	}}, 1)
	ok(t, err)
	return w
}

const (
	deposit   = "UPDATE dbo.accounts SET balance = balance + 1 WHERE id = :id"
	overdrawn = "SELECT id FROM dbo.accounts WHERE balance < 0"
)

var (
	customNames   = regexp.MustCompile(`\b(accounts|notes)\b`)
	declarations  = regexp.MustCompile(`^DECLARE (@p\d+ (bigint|float|nvarchar\(4000\))(, )?)+;\n`)
	customErrors  = map[string]int32{"no such column": 207, "no such table": 208, "NOT NULL": 515, "syntax": 102}
	notForNoExec  = "BEGIN TRANSACTION COMMIT TRANSACTION"
	customNumbers = regexp.MustCompile(`@p(\d)`)
)

// prepare compiles a statement.
func (t *modelTables) prepare(text string) error {
	s, err := t.db.Prepare(text)
	if err != nil {
		return err
	}
	defer s.Close()
	return nil
}

// onlyCompiled describes how a session is instructed to execute nothing.
var onlyCompiled = regexp.MustCompile(`^SET (NOEXEC|SHOWPLAN_XML) (ON|OFF)$`)

// customModel has a model keep the tables of customWork in SQLite, and compile without
// executing if a session has set it.
func customModel(m *model) {
	var mu sync.Mutex
	compiling := map[*Session]string{} // NOEXEC, SHOWPLAN_XML or nothing
	m.fault = func(_ context.Context, q Request, r *Reply) (bool, error) {
		mu.Lock()
		set := onlyCompiled.FindStringSubmatch(q.SQL)
		is := set != nil
		if is {
			compiling[q.Session] = map[string]string{"ON": set[1]}[set[2]]
		}
		mode := compiling[q.Session]
		compiled := mode != ""
		mu.Unlock()
		if is {
			return true, nil
		}
		if compiled && strings.Contains(notForNoExec, q.SQL) {
			return true, errors.New("a transaction while nothing is executed")
		}
		if !customNames.MatchString(q.SQL) {
			return false, nil
		}
		l, is := q.Session.Data.(*loading)
		if !is {
			l = &loading{}
			q.Session.Data = l
		}
		m.mu.Lock()
		tables := &m.databases[q.Session.Login.Database].tables
		m.mu.Unlock()
		a := &asked{m, context.Background(), q, nil}
		a.q.SQL = customNumbers.ReplaceAllString(declarations.ReplaceAllString(q.SQL, ""), "?$1")
		var err error
		switch {
		case strings.Contains(q.SQL, "CREATE TABLE"):
			a.q.SQL = a.q.SQL[strings.Index(a.q.SQL, "CREATE"):]
			err = tables.create(a.q.SQL)
		case compiled:
			err = tables.prepare(translated(a.q.SQL))
			if err != nil && mode == "NOEXEC" && strings.Contains(err.Error(), "no such table") {
				err = nil // its name is resolved when it is executed
			}
		default:
			err = modelSQL(a, r, tables, l)
		}
		if err != nil {
			for text, number := range customErrors {
				if strings.Contains(err.Error(), text) {
					r.Error(number, 16, err.Error())
					return true, nil
				}
			}
		}
		return true, err
	}
}

// TestCustom runs the user's own SQL, checks what it left, and drops what only its marker shows
// to be Filewise's.
func TestCustom(t *testing.T) {
	lab := newLab(t, customModel)
	s := lab.open()
	w := customWork(t, deposit, overdrawn)
	db := lab.build(s, layout(2), w)
	lab.model.mu.Lock()
	d := lab.model.databases[db.Build.(*build).design.name]
	d.strange = []string{"accounts"} // which Filewise does not make
	lab.model.mu.Unlock()
	ledger := make(filewise.Ledger, 3)
	ok(t, work(t, t.Context(), db, w.Program(), ledger, 20)...)
	_, err := db.Observe(t.Context())
	ok(t, err, w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}))
	ledger[0] -= 10
	if err := w.Check(t.Context(), db, 0, []filewise.Ledger{ledger}); !errors.Is(err, filewise.ErrCheck) {
		t.Errorf("the check does not see transactions too many: %v", err)
	}
	if m, err := marker.Parse(d.name, d.properties["filewise"]); err != nil || !m.Custom {
		t.Errorf("the mark says nothing of custom SQL: %+v, %v", m, err)
	}
	ok(t, db.Drop(t.Context()))
}

// TestCustomLeftover: what a killed run of custom SQL has left is removed with all that is in it.
func TestCustomLeftover(t *testing.T) {
	lab := newLab(t, nil)
	markedName := marker.NewName()
	m, err := marker.Parse(markedName, enginetest.DeadMarker(t, markedName, false))
	ok(t, err)
	for custom, kept := range map[string]bool{m.ForCustom().Text(): false, m.Text(): true} {
		lab.add(markedName, func(d *modelDatabase) { d.properties["filewise"], d.strange = custom, []string{"accounts"} })
		s := lab.open()
		left, err := s.Leftovers(t.Context())
		ok(t, err)
		if len(left) != 1 || (left[0].Kept != "") != kept {
			t.Fatalf("%+v", left)
		}
		if err := s.Remove(t.Context(), left[0]); (err != nil) != kept || (len(lab.names()) > 0) != kept {
			t.Errorf("custom %v: %v, left %v", !kept, err, lab.names())
		}
		ok(t, s.Close())
	}
}

// TestCustomMistakes are found before the work, with their place, and what is a constraint's
// is distinguished by whether values are drawn.
// First contact: fault 5.
func TestCustomMistakes(t *testing.T) {
	lab := newLab(t, customModel)
	s := lab.open()
	for _, w := range []filewise.Workload{
		customWork(t, "UPDATE dbo.accounts SET balence = 1 WHERE id = :id", overdrawn),
		customWork(t, deposit, "SELECT id FROM dbo.accounts WHERE balence < 0"),
		// The name is resolved late.
		customWork(t, "UPDATE dbo.accounts SET balance = (SELECT MAX(x) FROM dbo.acounts) WHERE id = :id", overdrawn),
	} {
		db := lab.build(s, layout(1), w)
		_, err := db.Connect(t.Context(), 0, 0)
		if err == nil || !strings.Contains(err.Error(), "my.yaml:10") || filewise.ClassOf(err) != filewise.ClassMistake {
			t.Errorf("a mistake is told as %v", err)
		}
		ok(t, db.Drop(t.Context()))
	}
	for statement, unvaried := range map[string]bool{
		"INSERT INTO dbo.accounts (id, balance) VALUES (1, NULL)":   true,
		"INSERT INTO dbo.accounts (id, balance) VALUES (:id, NULL)": false,
	} {
		db := lab.build(s, layout(1), customWork(t, statement, overdrawn))
		c, err := db.Connect(t.Context(), 0, 0)
		ok(t, err)
		before, rolledBack := lab.model.fault, false
		lab.model.fault = func(ctx context.Context, q Request, r *Reply) (bool, error) {
			rolledBack = rolledBack || strings.Contains(q.SQL, "ROLLBACK TRANSACTION")
			return before(ctx, q, r)
		}
		_, err = c.Do(t.Context(), 0, 20)
		if lab.model.fault = before; !rolledBack {
			t.Errorf("%s: its transaction is left open", statement)
		}
		var same *filewise.Unvaried
		if filewise.ClassOf(err) != filewise.ClassConstraint || errors.As(err, &same) != unvaried ||
			!strings.Contains(err.Error(), "my.yaml:10") {
			t.Errorf("%s: unvaried %v, want %v: %v", statement, same != nil, unvaried, err)
		}
		ok(t, c.Close(), db.Drop(t.Context()))
	}
}

// TestCustomPlan: a plan has what a build and its sessions execute, right by the grammar.
func TestCustomPlan(t *testing.T) {
	lab := newLab(t, nil)
	s, err := Engine{}.Statements(lab.target, layout(4), customWork(t, deposit, overdrawn).Program())
	ok(t, err)
	stages, batches := map[string]string{}, []string{}
	for _, x := range s.Steps {
		stages[x.Stage] += x.SQL + "\n"
		batches = append(batches, x.SQL)
	}
	for stage, want := range map[string]string{
		filewise.StageBuild:   "/* my.yaml:10 */ CREATE TABLE dbo.accounts (id int NOT NULL PRIMARY KEY, balance int NOT NULL) ON [PRIMARY]",
		filewise.StageMeasure: "BEGIN TRANSACTION\nUPDATE dbo.accounts SET balance = balance + 1 WHERE id = @p1",
		filewise.StageCheck:   "SELECT SUM(balance) AS n FROM dbo.accounts", filewise.StageDrop: "DROP DATABASE",
	} {
		if !strings.Contains(stages[stage], want) {
			t.Errorf("%s: %s", stage, stages[stage])
		}
	}
	if strings.Contains(stages[filewise.StageDrop], "THROW 50004") {
		t.Error("a database for custom SQL is not dropped, whatever is in it")
	}
	checkGrammar(t, batches)
	for what, change := range map[string]func(*filewise.Layout, *filewise.Program){
		"added later":   func(l *filewise.Layout, _ *filewise.Program) { l.AddedLater = filewise.LaterNewData },
		"indexes apart": func(l *filewise.Layout, _ *filewise.Program) { l.Indexes = filewise.IndexesApart },
	} {
		l, p := layout(2), customWork(t, deposit, overdrawn).Program()
		change(&l, &p)
		if _, err := (Engine{}).Statements(lab.target, l, p); !errors.Is(err, filewise.ErrUnsupported) || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// guarded describes what is refused of a statement of a user.
func guarded(text string, setup bool) error {
	at := []filewise.CustomText{{Text: text, File: "f", Line: 1, Whole: setup}}
	if setup {
		_, err := customRules.Setup(&filewise.CustomSQL{Setup: at}, customsql.Site{})
		return err
	}
	section := filewise.CustomSection{Params: []string{"a"}, Texts: at}
	_, err := customRules.Section(&filewise.CustomSQL{Sections: map[string]filewise.CustomSection{"s": section}}, "s")
	return err
}

// TestGuard: what leaves the build's database is refused, however it is written.
func TestGuard(t *testing.T) {
	anywhere := []string{"USE master", "SELECT 1 USE master", "DBCC CHECKDB", "SELECT 1 DBCC FREEPROCCACHE",
		"BACKUP DATABASE x TO DISK = N'x'",
		"ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 1", "DROP DATABASE x", "SELECT 1 DROP DATABASE x", "KILL 55", "SHUTDOWN",
		"SELECT * FROM other.dbo.t", "SELECT * FROM other..t", "INSERT INTO [other].[dbo].[t] VALUES (1)", `SELECT * FROM "s"."o"."d"."t"`,
		"EXEC xp_cmdshell N'del'", "EXEC master..xp_cmdshell N'del'", "EXEC sys.sp_configure", "EXEC dbo.[sp_configure] 1",
		"EXEC ('DROP DATABASE x')", "EXEC sp_executesql N'DROP DATABASE x'", "EXECUTE AS LOGIN = 'sa'", "EXEC @p1", "INSERT t EXEC('x')",
		"SELECT * FROM OPENROWSET(BULK N'/etc/passwd', SINGLE_CLOB) AS x", "BULK INSERT t FROM N'/x'", "GRANT CONTROL TO public", "CHECKPOINT",
		"CREATE LOGIN x WITH PASSWORD = 'x'", "ALTER DATABASE CURRENT SET RECOVERY FULL", "CREATE EVENT SESSION x ON SERVER",
		"RECONFIGURE", "SELECT [a]]'] ; DROP DATABASE x --'", "SELECT /* /* */ */ 1 DROP DATABASE x", "sp_configure 'x', 1",
		"SELECT ` DROP DATABASE x", "REVERT", "ALTER AUTHORIZATION ON DATABASE::x TO sa", "ALTER TABLE t ADD x int DROP DATABASE y"}
	for _, text := range anywhere {
		for _, setup := range []bool{false, true} {
			if err := guarded(text, setup); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
				t.Errorf("setup %v: %s: %v", setup, text, err)
			}
		}
	}
	inSetup := []string{"CREATE UNIQUE CLUSTERED INDEX i ON t (a)", "CREATE OR ALTER PROCEDURE dbo.p @a int WITH " +
		"EXECUTE AS OWNER AS\nBEGIN\n  BEGIN TRAN;\n  UPDATE t SET b = 1; DELETE FROM u; EXEC dbo.q @a; COMMIT;\nEND",
		"CREATE TRIGGER tr ON dbo.t AFTER INSERT AS DELETE FROM u",
		"DECLARE @i int = 0; WHILE @i < 9 BEGIN INSERT INTO t VALUES (@i); SET @i += 1; END", "ALTER TABLE t DROP COLUMN x",
		"ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES u (a) ON DELETE CASCADE", "CREATE SCHEMA s", "CREATE TYPE s.x FROM int",
		"IF OBJECT_ID('t') IS NULL CREATE TABLE t (i int)", "CREATE PARTITION FUNCTION f (int) AS RANGE LEFT FOR VALUES (1)",
		"CREATE PARTITION SCHEME s AS PARTITION f ALL TO ([PRIMARY])", "CREATE TABLE t (i int NOT NULL PRIMARY KEY) ON s (i)",
		"CREATE COLUMNSTORE INDEX c ON t (a)"}
	for _, text := range inSetup {
		ok(t, guarded(text, true))
		if guarded(text, false) == nil {
			t.Errorf("passes in a transaction: %s", text)
		}
	}
	works := []string{"SELECT TOP (:a) t.x, s.[use] FROM dbo.t AS t JOIN s.u AS s ON s.i = t.i OPTION (MAXDOP 1, USE HINT ('X'))",
		"WITH c AS (SELECT 1 AS n) UPDATE t SET x = 1.5 * c.n FROM t JOIN c ON 1 = 1", "EXEC dbo.p @x = :a", "EXEC @r = [p]",
		"INSERT INTO t EXEC p",
		"MERGE t USING s ON t.i = s.i WHEN MATCHED THEN UPDATE SET x = 1 WHEN NOT MATCHED THEN INSERT VALUES (1);", "TRUNCATE TABLE t",
		"SELECT 'DROP DATABASE x', [DROP] FROM t -- KILL 5", "SELECT x FROM t ORDER BY x OFFSET 1 ROWS FETCH NEXT 5 ROWS ONLY",
		"INSERT INTO t OUTPUT inserted.i VALUES (:a)", "SELECT SYSDATETIME() AT TIME ZONE 'UTC'"}
	for _, text := range works {
		ok(t, guarded(text, false), guarded(text, true))
	}
	for _, text := range []string{"COMMIT", "SELECT 1 COMMIT", "BEGIN TRAN", "SAVE TRAN x", "DELETE FROM t DELETE FROM u", "SET NOEXEC ON",
		"GO",
		"DECLARE @i int = 1", "UPDATE t SET x = 1 EXEC p"} {
		if err := guarded(text, false); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", text, err)
		}
	}
	checkGrammar(t, strings.Split(strings.ReplaceAll(strings.Join(append(inSetup, works...), "\x00"), ":a", "@p1"), "\x00"))
}

// TestDeclared: parameters are compiled with the types that the driver gives them.
func TestDeclared(t *testing.T) {
	if got := declared([]any{int64(1), 0.5, "x"}); got != "DECLARE @p1 bigint, @p2 float, @p3 nvarchar(4000);\n" {
		t.Error(got)
	}
}

// TestCustomMerge: MERGE needs the semicolon that users leave out, or the server refuses it.
func TestCustomMerge(t *testing.T) {
	const given = "MERGE INTO a USING (SELECT @p1 AS id) AS b ON a.id = b.id WHEN NOT MATCHED THEN INSERT (id) VALUES (b.id)"
	text, err := customRules.Adapt(given, false)
	ok(t, err)
	refused, err := parseAll(t.Context(), parser(t), grammars[0], []string{text, given})
	ok(t, err)
	if refused[0] != "" || refused[1] == "" {
		t.Errorf("%v", refused)
	}
}
