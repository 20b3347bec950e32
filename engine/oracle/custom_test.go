package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// bankSetup is a set-up of everything that one may have; a block is a separate item.
var bankSetup = []string{
	`CREATE TABLE accounts (id NUMBER(10) CONSTRAINT accounts_pk PRIMARY KEY, "Owner" VARCHAR2(30) UNIQUE, note CLOB,
  place NUMBER DEFAULT 0 NOT NULL, CONSTRAINT owner_place UNIQUE ("Owner", place) USING INDEX) {{spread "accounts"}}`,
	"CREATE TABLE history AS SELECT id, place FROM Accounts",
	"CREATE INDEX history_place ON history (place)",
	"CREATE SEQUENCE numbers",
	"CREATE OR REPLACE VIEW rich AS SELECT id FROM accounts WHERE place > 100",
	`CREATE PROCEDURE move (p_id IN NUMBER) AS
BEGIN
  UPDATE accounts SET place = place + 1 WHERE id = p_id;
END;`,
	"ALTER TABLE history ADD CONSTRAINT history_pk PRIMARY KEY (id)",
	`BEGIN
  FOR i IN 1 .. 100 LOOP
    INSERT INTO accounts (id, "Owner") VALUES (i, 'accounts ' || i);
  END LOOP;
  COMMIT;
END;`,
	"DROP TABLE history",
}

func bank(t *testing.T, transactions map[string]workload.Script) filewise.Program {
	t.Helper()
	script := func(texts ...string) workload.Script {
		s := workload.Script{}
		for i, text := range texts {
			s[""] = append(s[""], filewise.CustomText{Text: text, File: "o'hara.yaml", Line: 10 * (i + 1), Whole: true})
		}
		return s
	}
	c := &workload.Custom{Tables: []filewise.CustomTable{{Name: "accounts", Key: "id"}}, Setup: script(bankSetup...),
		Parameters: []workload.Parameter{{Name: "id", Draw: workload.DrawInt, From: 1, To: 100}},
		Checks:     []workload.CustomCheck{{Query: script("SELECT COUNT(*) FROM accounts"), Expect: "100"}}}
	for name, s := range transactions {
		c.Transactions = append(c.Transactions, workload.Transaction{Name: name, Weight: 1, SQL: s})
	}
	if transactions == nil {
		c.Transactions = []workload.Transaction{{Name: "move", Weight: 1, SQL: script(
			"UPDATE accounts a SET a.place = :id WHERE a.id = :id", "INSERT INTO accounts (id, place) VALUES (numbers.NEXTVAL, :id)",
			"SELECT id FROM rich FOR UPDATE", "BEGIN\n  move(:id);\nEND;", "MERGE INTO accounts a USING rich r ON (a.id = r.id) WHEN MATCHED THEN "+
				"UPDATE SET a.place = 0 DELETE WHERE a.id = :id")}}
	}
	w, err := workload.NewCustom(workload.Params{Connections: 2, Custom: c}, 7)
	if err != nil {
		t.Fatal(err)
	}
	return w.Program()
}

func bankDesign(t *testing.T, durability filewise.Durability) *design {
	t.Helper()
	target, l := serverTarget(), smallfile(2)
	target.Durability, l.Indexes = durability, filewise.IndexesApart
	d, err := newDesign(target, l, bank(t, nil), testNames[1], usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What a set-up creates has names of the build and lies in its tablespaces, and all of it is
// Oracle's by the grammar (customGrammar).
func TestCustomNames(t *testing.T) {
	d := bankDesign(t, filewise.DurabilityFull)
	const build, index = "FILEWISE_ABCDEFGHIJKLMNOPQR", "FILEWISE_RQPONMLKJIHGFEDCBA"
	steps, err := d.steps(d.markerText)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(steps.Of("custom").Texts(), "\n;;\n")
	for _, want := range []string{
		"/* ohara.yaml:10 */ CREATE TABLE \"" + build + `T00" (id NUMBER(10) CONSTRAINT "` + build +
			`K00" PRIMARY KEY USING INDEX TABLESPACE "` + index +
			`", "Owner" VARCHAR2(30) UNIQUE USING INDEX TABLESPACE "` + index + `", note CLOB,`,
		`CONSTRAINT "` + build + `K01" UNIQUE ("Owner", place) USING INDEX TABLESPACE "` + index + `") TABLESPACE "` + build + `"`,
		`CREATE TABLE "` + build + `T01"  TABLESPACE "` + build + `" AS SELECT id, place FROM "` + build + `T00"`,
		`CREATE INDEX "` + build + `K02" ON "` + build + `T01" (place) TABLESPACE "` + index + `"`,
		`CREATE SEQUENCE "` + build + `Q00"`,
		`CREATE PROCEDURE "` + build + `Q02" (p_id`, "p_id;\nEND;\n",
		`INSERT INTO "` + build + `T00" (id, "Owner") VALUES (i, 'accounts ' || i)`, `DROP TABLE "` + build + `T01" PURGE`,
		`UPDATE "` + build + `T00" a SET a.place = :1 WHERE a.id = :2`, `VALUES ("` + build + `Q00".NEXTVAL, :1)`,
		"BEGIN\nBEGIN\n  \"" + build + "Q02\"(:1);\nEND;\nEXCEPTION\n  WHEN NO_DATA_FOUND THEN", "COMMIT WRITE IMMEDIATE WAIT",
		`SELECT COUNT(*) FROM "` + build + `T00"`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not in\n%s", want, all)
		}
	}
	drops := strings.Join(steps.At(filewise.StageDrop).Texts(), "\n")
	for _, want := range []string{`DROP SEQUENCE "` + build + `Q00"`, `DROP VIEW "` + build + `Q01"`, `DROP PROCEDURE "` + build + `Q02"`,
		`DROP TABLE "` + build + `T00" PURGE`} {
		if !strings.Contains(drops, want) {
			t.Errorf("%s is not in\n%s", want, drops)
		}
	}
}

// What a set-up asks for otherwise than usual stays Oracle's, and in the build's tablespaces: where
// a comment ends it, partitions follow the columns, or UNIQUE is no key of a table.
var placed = map[string]string{
	"CREATE INDEX history_place ON history (place) -- by place":             `(place) TABLESPACE "I" -- by place`,
	"DROP TABLE history /* gone */":                                         ` PURGE /* gone */`,
	"CREATE PROCEDURE move (p_id IN NUMBER) AS BEGIN NULL; END -- it":       "END; -- it",
	"CREATE TABLE accounts (id NUMBER) PARTITION BY HASH (id) PARTITIONS 4": `(id NUMBER) TABLESPACE "D"  PARTITION BY HASH (id) PARTITIONS 4`,
	"CREATE TABLE history PARTITION BY HASH (id) PARTITIONS 4 AS SELECT UNIQUE id FROM accounts": ` TABLESPACE "D" PARTITION BY HASH (id) ` +
		`PARTITIONS 4 AS SELECT UNIQUE id FROM "` + build0 + `T00"`,
	"CREATE TABLE history (id NUMBER PRIMARY KEY, a NUMBER UNIQUE) ORGANIZATION INDEX": `(id NUMBER PRIMARY KEY, a NUMBER UNIQUE USING ` +
		`INDEX TABLESPACE "I") ORGANIZATION INDEX TABLESPACE "D"`,
	"CREATE TABLE history (a CLOB CHECK (a IS JSON WITH UNIQUE KEYS))":   `JSON WITH UNIQUE KEYS)) TABLESPACE "D"`,
	"ALTER TABLE history DROP PRIMARY KEY":                               "DROP PRIMARY KEY",
	"ALTER TABLE history ENABLE PRIMARY KEY":                             `ENABLE PRIMARY KEY USING INDEX TABLESPACE "I"`,
	"ALTER TABLE history ADD PRIMARY KEY (id) USING INDEX history_place": `(id) USING INDEX "` + build0 + `K02"`,
}

const build0 = "FILEWISE_ABCDEFGHIJKLMNOPQR"

func TestCustomPlaces(t *testing.T) {
	d := bankDesign(t, filewise.DurabilityFull)
	short := strings.NewReplacer(`TABLESPACE "`+d.names.Tablespace+`"`, `TABLESPACE "D"`, `TABLESPACE "`+d.names.Index+`"`, `TABLESPACE "I"`)
	for text, want := range placed {
		got, err := d.custom.Adapt(text, true)
		if got = strings.TrimSpace(short.Replace(got)); err != nil || !strings.HasSuffix(got, want) {
			t.Errorf("%s becomes %s, %v", text, got, err)
		}
	}
}

// What a set-up creates needs its own rights, which preflight names.
func TestCustomRights(t *testing.T) {
	server := newFake()
	identity(server)
	server.answers["privileges"] = server.answers["privileges"][:len(privileges)]
	s := opened(t, server)
	for _, f := range s.examine(t.Context(), server, filewise.Demand{Program: bank(t, nil)}) {
		if f.Status == filewise.StatusFailed && strings.Contains(f.Remedy, "GRANT CREATE VIEW TO ADA") {
			return
		}
	}
	t.Error("a view that cannot be created is found by nothing")
}

// exampleProgram is of the set-up for Oracle that `filewise init custom` writes, and of its statements (Oracle 12 of the first
// contact: what stood there was SQLite's).
func exampleProgram(t *testing.T) filewise.Program {
	t.Helper()
	text, err := os.ReadFile("../../run/study/example_custom.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n    oracle: |\n")
	setup, _, ends := strings.Cut(rest, "\n    sqlserver: |\n")
	if !found || !ends {
		t.Fatal("the example has no set-up for Oracle")
	}
	script := func(text string) workload.Script {
		return workload.Script{"": []filewise.CustomText{{Text: text, File: "e.yaml"}}}
	}
	w, err := workload.NewCustom(workload.Params{Connections: 2, Custom: &workload.Custom{
		Tables: []filewise.CustomTable{{Name: "accounts", Key: "id"}}, Setup: script(setup),
		Parameters: []workload.Parameter{{Name: "id", Draw: workload.DrawInt, From: 1, To: 1000}},
		Transactions: []workload.Transaction{{Name: "deposit", Weight: 1, SQL: script("UPDATE accounts SET balance = balance + 1, note = 'x' " +
			"WHERE id = :id; INSERT INTO history (account, amount) VALUES (:id, 1)")}}}}, 7)
	if err != nil {
		t.Fatal(err)
	}
	return w.Program()
}

// TestExampleOfInit: its rows lie where the layout puts them.
func TestExampleOfInit(t *testing.T) {
	d, err := newDesign(serverTarget(), smallfile(2), exampleProgram(t), testNames[0], usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	all, err := d.customSetup()
	if text := strings.Join(all, "\n"); err != nil || len(all) != 3 || strings.Contains(text, "RECURSIVE") ||
		!strings.Contains(text, `note VARCHAR2(40)) TABLESPACE "`+build0) || !strings.Contains(text, "CONNECT BY LEVEL <= 1000") {
		t.Errorf("%v\n%s", err, text)
	}
}

// customGrammar checks what custom SQL becomes.
func customGrammar(t *testing.T, p *parser) {
	d := bankDesign(t, filewise.DurabilityFull)
	for text := range placed {
		text, err := d.custom.Adapt(text, true)
		if a := p.check(t, text); err != nil || len(a.Errors) > 0 {
			t.Errorf("%v: %v\n%s", err, a.Errors, text)
		}
	}
	c, err := newDesign(serverTarget(), smallfile(2), capturedProgram(t), testNames[0], usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	example, err := newDesign(serverTarget(), smallfile(2), exampleProgram(t), testNames[0], usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*design{d, c, example} {
		steps, err := d.steps(d.markerText)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range steps.Of("custom").Texts() {
			if a := p.check(t, text); len(a.Errors) > 0 {
				t.Errorf("%v\n%s", a.Errors, text)
			}
		}
	}
}

// What would reach beyond what the set-up creates is refused, in transactions and set-ups.
func TestCustomGuard(t *testing.T) {
	d := bankDesign(t, filewise.DurabilityFull)
	check := func(texts []string, setup, refused bool) {
		t.Helper()
		for _, text := range texts {
			what, remedy := d.custom.Guard(d.custom.Rules().Words(text), setup)
			if (what != "") != refused || refused && remedy == "" {
				t.Errorf("set-up %v: %s: %q, %q", setup, text, what, remedy)
			}
		}
	}
	both := []string{"ALTER SYSTEM SET a = 1", "ALTER SESSION SET a = 1", "GRANT DBA TO x", "CREATE USER x IDENTIFIED BY y", "DROP USER x",
		"CREATE TABLESPACE x", "ALTER TABLESPACE users OFFLINE", "DROP TABLESPACE users", "CREATE DATABASE LINK x", "SELECT * FROM emp@far",
		"SELECT * FROM emp @far", "INSERT INTO ledger VALUES (1)", "INSERT INTO hr.accounts VALUES (1)", "UPDATE ledger SET a = 1",
		"DELETE FROM ledger", "DELETE ledger", "DELETE ledger WHERE id = 1",
		"MERGE INTO ledger USING accounts ON (1 = 1) WHEN MATCHED THEN DELETE",
		"INSERT ALL INTO ledger VALUES (1) SELECT 1 FROM dual", "LOCK TABLE ledger IN EXCLUSIVE MODE", "SET ROLE dba", "CALL move(1)",
		"BEGIN UPDATE accounts SET place = 1", "END", "BEGIN UPDATE ledger SET a = 1; END",
		"BEGIN EXECUTE IMMEDIATE 'DROP TABLE x'; END",
		"BEGIN DBMS_SCHEDULER.RUN_JOB('x'); END", "BEGIN UTL_FILE.FREMOVE('a', 'b'); END", "BEGIN SYS.DBMS_SQL.PARSE(1, 'x', 1); END",
		"DECLARE PRAGMA AUTONOMOUS_TRANSACTION; BEGIN NULL; END", "SELECT orders_seq.NEXTVAL FROM dual", "SELECT hr.orders_seq.nextval FROM dual",
		`SELECT "HR"."S"."NEXTVAL" FROM dual`, `BEGIN "DBMS_LOCK".SLEEP(1); END`, `SELECT SYS."UTL_HTTP".REQUEST('x') FROM dual`,
		"SELECT hr.pay.raise(1) FROM dual", "SELECT HTTPURITYPE('http://x').GETCLOB() FROM dual",
		"SELECT q'[']' FROM dual", "EXPLAIN PLAN FOR SELECT 1 FROM dual",
		"SHUTDOWN",
		"PURGE RECYCLEBIN", "FLASHBACK TABLE accounts TO BEFORE DROP", "ROLLBACK", "TRUNCATE TABLE ledger", "DROP TABLE ledger",
		"ALTER TABLE ledger ADD x NUMBER", "CREATE GLOBAL TEMPORARY TABLE x (a NUMBER)",
		"CREATE TRIGGER x AFTER LOGON ON DATABASE BEGIN NULL; END"}
	check(both, false, true)
	check(both, true, true)
	check([]string{"COMMIT", "CREATE TABLE accounts (a NUMBER)", "TRUNCATE TABLE accounts", "BEGIN COMMIT; END"}, false, true)
	check([]string{"CREATE TABLE accounts (a NUMBER) TABLESPACE users", "ALTER TABLE accounts RENAME TO x", "CREATE INDEX i ON ledger (a)",
		"CREATE TABLE accounts (a CLOB) LOB (a) STORE AS x", "ALTER TABLE accounts MOVE TABLESPACE users", "COMMENT ON TABLE ledger IS 'x'",
		"CREATE FUNCTION move RETURN NUMBER AS LANGUAGE C LIBRARY x"}, true, true)
	work := []string{"SELECT 'DROP USER x' FROM dual",
		"WITH a AS (SELECT 1 FROM dual) SELECT * FROM a", "SELECT id FROM accounts FOR UPDATE",
		"UPDATE Accounts SET place = 1", `UPDATE "ACCOUNTS" SET place = 1`, "DELETE FROM accounts WHERE id = 1",
		"LOCK TABLE accounts IN SHARE MODE",
		"BEGIN UPDATE accounts SET place = DBMS_RANDOM.VALUE; END",
		"DECLARE n NUMBER; BEGIN SELECT 1 INTO n FROM dual; END blk"}
	check(work, false, false)
	check(work, true, false)
	check([]string{"COMMIT", "TRUNCATE TABLE history", "ANALYZE TABLE accounts COMPUTE STATISTICS", "COMMENT ON COLUMN accounts.id IS 'x'",
		"DROP TABLE IF EXISTS history", "ALTER INDEX history_place REBUILD",
		"CREATE TABLE history (a NUMBER REFERENCES accounts ON DELETE CASCADE)"}, true, false)
}

// A name that a column has, too, cannot be distinguished behind a dot.
func TestCustomNameTwice(t *testing.T) {
	d := bankDesign(t, filewise.DurabilityFull)
	_, err := d.custom.Adapt("SELECT a.accounts FROM b a", false)
	if filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
		t.Error(err)
	}
}

// banking is a connection of a driver's that counts transactions.
type banking struct{ begun, committed, rolledBack int }

func (b *banking) Commit() error   { b.committed++; return nil }
func (b *banking) Rollback() error { b.rolledBack++; return nil }

// rowsRead refuses to execute what has rows without reading them.
type rowsRead struct{ *fakeServer }

func (r rowsRead) exec(ctx context.Context, s statement) error {
	if strings.Contains(s.text, "SELECT") {
		return errors.New("its rows are not read: " + s.text)
	}
	return r.fakeServer.exec(ctx, s)
}

// Statements are a transaction, which commits as the durability requires; mistakes are found
// before the work; an error rolls back.
func TestCustomSession(t *testing.T) {
	for _, durability := range []filewise.Durability{filewise.DurabilityFull, filewise.DurabilityNormal} {
		f, d := newFake(), bankDesign(t, durability)
		f.answers["this-session"], f.answers["session-serial"] = [][]any{{"7", "1", "1"}}, [][]any{{int64(1)}}
		b := &banking{}
		connect := func() (*customSession, error) {
			machine, err := sessionOf(d)
			if err != nil {
				t.Fatal(err)
			}
			s := &connection{Session: machine, build: &build{design: d, server: &server{pool: &pool{}}},
				held: held{client: f, often: rowsRead{f}, begin: func(context.Context) (driver.Tx, error) { b.begun++; return b, nil }}}
			if err := s.render(); err != nil {
				t.Fatal(err)
			}
			return newCustom(t.Context(), s)
		}
		s, err := connect()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(f.log); n != 6 || !strings.HasPrefix(f.log[0], "parse") {
			t.Errorf("parsed: %v", f.log)
		}
		var texts []string
		f.before = func(x statement) { texts = append(texts, x.text) }
		if n, err := s.Do(t.Context(), 0, 2); n != 2 || err != nil {
			t.Fatal(n, err)
		}
		commits := len(slices.DeleteFunc(texts, func(text string) bool { return text != "COMMIT WRITE BATCH NOWAIT" }))
		if waits := durability == filewise.DurabilityFull; waits && (b.begun != 2 || b.committed != 2 || commits > 0) || !waits &&
			(b.begun != 1 || b.committed > 0 || commits != 2) {
			t.Errorf("%s: %+v, %d commits", durability, b, commits)
		}
		f.before, f.fails["custom"] = nil, explain(oracleError(60))
		n, err := s.Do(t.Context(), 2, 1)
		if n != 0 || filewise.ClassOf(err) != filewise.ClassDeadlock || !strings.Contains(err.Error(), "o'hara.yaml:10") {
			t.Errorf("%s: %d, %v", durability, n, err)
		}
		if back := slices.Contains(f.log, "rollback"); durability == filewise.DurabilityFull && b.rolledBack != 1 || !back {
			t.Errorf("%s: %+v, %v", durability, b, f.log)
		}
		delete(f.fails, "custom")
		if n, err := s.Do(t.Context(), 3, 1); n != 1 || err != nil || durability == filewise.DurabilityFull && b.begun != 4 {
			t.Errorf("%s: after an error: %d, %v, %+v", durability, n, err, b)
		}
		f.fails["parse"] = explain(oracleError(942))
		if _, err := connect(); filewise.ClassOf(err) != filewise.ClassMistake || !strings.Contains(err.Error(), "o'hara.yaml:10") {
			t.Errorf("a mistake: %v", err)
		}
	}
}

// What the server itself has named in a tablespace for custom SQL goes with it; in any other
// it is someone's.
func TestCustomLeftovers(t *testing.T) {
	for _, custom := range []bool{true, false} {
		f, name := newFake(), newName()
		f.add(t, name, true, name, name+"T00", "SYS_C0012", "SYS_LOB001$$")
		f.programs[name+"Q00"] = "SEQUENCE"
		if custom {
			d := bankDesign(t, filewise.DurabilityFull)
			text, err := d.markerText(name)
			if err != nil {
				t.Fatal(err)
			}
			f.comments[name] = text
		}
		err := f.markers().dropBuild(t.Context(), name)
		if (err == nil) != custom || (len(f.tablespaces)+len(f.programs) == 0) != custom {
			t.Errorf("custom %v: %v, left %v %v", custom, err, f.tablespaces, f.programs)
		}
	}
}

// What cannot be done with custom SQL is refused with what to do.
func TestCustomRefusals(t *testing.T) {
	l := smallfile(2)
	l.AddedLater = filewise.LaterUntouched
	if _, err := (Engine{}).Statements(serverTarget(), l, bank(t, nil)); !errors.Is(err, filewise.ErrUnsupported) {
		t.Error(err)
	}
	script := func(text string) map[string]workload.Script {
		return map[string]workload.Script{"x": {"": {{Text: text, File: "my.yaml", Line: 3}}}}
	}
	if _, err := (Engine{}).Statements(serverTarget(), smallfile(2), bank(t, script("DELETE FROM ledger"))); filewise.CodeOf(err) !=
		filewise.CodeUsage || !strings.Contains(err.Error(), "my.yaml:3") || filewise.RemedyOf(err) != ofTheSetup {
		t.Error(err)
	}
}
