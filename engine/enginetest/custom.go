package enginetest

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// customSetup makes a table that the layout spreads, and one that it does not.
const customSetup = `CREATE TABLE accounts (id INTEGER NOT NULL PRIMARY KEY, balance INTEGER NOT NULL) {{spread "accounts"}};
CREATE TABLE history (account INTEGER NOT NULL, note VARCHAR(20)); -- where the engine likes
INSERT INTO accounts WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
  SELECT i, 0 FROM n WHERE i % {{.Shards}} = {{.Shard}}`

// customWorkload is SQL as a user would bring it.
func customWorkload(t *testing.T, statement, check string) filewise.Workload {
	t.Helper()
	text := func(all ...string) workload.Script {
		var texts []filewise.CustomText
		for i, s := range all {
			texts = append(texts, filewise.CustomText{Text: s, File: "my.yaml", Line: 10 + i})
		}
		return workload.Script{"": texts}
	}
	w, err := workload.NewCustom(workload.Params{Connections: 3, Custom: &workload.Custom{
		Tables: []filewise.CustomTable{{Name: "accounts", Key: "id"}}, ShardBy: "id", Setup: text(customSetup),
		Parameters: []workload.Parameter{{Name: "id", Draw: workload.DrawInt, From: 1, To: 50},
			{Name: "note", Draw: workload.DrawText, From: 1, To: 20}},
		Transactions: []workload.Transaction{
			{Name: "deposit", Weight: 2, SQL: text(statement, "INSERT INTO history (note, account) VALUES (:note, :id)")},
			{Name: "look", Weight: 1, SQL: text("SELECT balance, ':id' FROM accounts WHERE id = :id")},
		},
		Checks: []workload.CustomCheck{
			{Query: text("SELECT SUM(balance) FROM accounts"), Committed: "deposit", Each: 1},
			{Query: text("SELECT COUNT(*) FROM history"), Committed: "deposit", Each: 1},
			{Query: text(check), NoRows: true},
		},
	}}, seed(t))
	fatal(t, err)
	return w
}

// testCustom runs SQL of the user's own on two files, checks what it left, and checks that
// an error names the place of a mistake.
func testCustom(t *testing.T, s Subject) {
	b := newBench(t, s)
	ctx := context.Background()
	const statement, overdrawn = "UPDATE accounts SET balance = balance + 1 WHERE id = :id", "SELECT id FROM accounts WHERE balance < 0"
	w := customWorkload(t, statement, overdrawn)
	layout := b.layout(2)
	if s.Kind == filewise.KindPerTable || s.Kind == filewise.KindSingle { // one table has one file
		layout = b.layout(1)
	}
	if !b.covers(layout, w.Program()) {
		return
	}
	db := b.build(layout, w)
	result := b.driven(db, w.Program(), 20)
	_, err := db.Observe(ctx)
	fatal(t, err)
	check := w.Check
	fatal(t, check(ctx, db, 0, []filewise.Ledger{result.Ledger}))
	for worker := range result.Ledger {
		result.Ledger[worker] -= 10
	}
	if err := check(ctx, db, 0, []filewise.Ledger{result.Ledger}); !errors.Is(err, filewise.ErrCheck) {
		t.Errorf("the check does not see transactions too many: %v", err)
	}

	for _, broken := range []filewise.Workload{
		customWorkload(t, "UPDATE accounts SET balence = 1 WHERE id = :id", overdrawn),
		customWorkload(t, statement, "SELECT id FROM accounts WHERE balence < 0"),
	} {
		db = b.build(layout, broken)
		if _, err := db.Connect(ctx, 0, 0); err == nil || !strings.Contains(err.Error(), "my.yaml:10") ||
			filewise.ClassOf(err) != filewise.ClassMistake {
			t.Errorf("a mistake in the user's SQL is reported as %v", err)
		}
	}
	testUnvaried(t, b, layout)
	testRehearsed(t, b, layout)
}

// testRehearsed tries each type of transactions: all that fails is reported, and what does not leaves nothing.
func testRehearsed(t *testing.T, b *bench, layout filewise.Layout) {
	for statement, fails := range map[string]filewise.Class{"UPDATE accounts SET balence = 1 WHERE id = :id": filewise.ClassMistake,
		"INSERT INTO accounts (id, balance) VALUES (:id, NULL)":    filewise.ClassConstraint,
		"UPDATE accounts SET balance = balance + 1 WHERE id = :id": ""} {
		w := customWorkload(t, statement, "SELECT id FROM accounts WHERE balance <> 0")
		db := b.build(layout, w)
		s, err := db.Connect(filewise.Rehearsing(context.Background()), 0, 0)
		fatal(t, err)
		args := w.Program().Phases[0].Args.(filewise.TypedArgs)
		for i := range int64(20) {
			err := s.(filewise.Rehearser).Rehearse(context.Background(), i)
			if deposit := args.TypeOf(0, i) == 0; (err != nil) != (deposit && fails != "") || err != nil && filewise.ClassOf(err) != fails {
				t.Errorf("%s, operation %d: %v", statement, i, err)
			}
		}
		fatal(t, s.Close())
		if fails == "" {
			fatal(t, w.Check(context.Background(), db, 0, []filewise.Ledger{make(filewise.Ledger, 3)}))
		}
	}
}

// testUnvaried violates a constraint: once with values that a retry repeats, and once with drawn values.
func testUnvaried(t *testing.T, b *bench, layout filewise.Layout) {
	for statement, x := range map[string]struct {
		unvaried bool
		class    filewise.Class
	}{
		"INSERT INTO accounts (id, balance) VALUES (1, NULL)":   {true, filewise.ClassConstraint},
		"INSERT INTO accounts (id, balance) VALUES (:id, NULL)": {false, filewise.ClassConstraint},
		"INSERT INTO accounts (id, balance) VALUES (:id, 7)":    {false, filewise.ClassDuplicate},
	} {
		db := b.build(layout, customWorkload(t, statement, "SELECT 1 FROM accounts WHERE 1 = 0"))
		s, err := db.Connect(context.Background(), 0, 0)
		fatal(t, err)
		_, err = s.Do(context.Background(), 0, 20)
		var same *filewise.Unvaried
		if filewise.ClassOf(err) != x.class || errors.As(err, &same) != x.unvaried || !strings.Contains(err.Error(), "my.yaml:10") {
			t.Errorf("%s: unvaried %v, expected %v: %v", statement, same != nil, x.unvaried, err)
		}
		fatal(t, s.Close())
	}
}

// tryTemp does cycles of temporary tables on layouts of 1 and of several temporary
// files. All of the files must be there, and the first, at least, must be used.
func tryTemp(t *testing.T, b *bench, offered bool) {
	w, err := workload.NewTemp(workload.Params{Connections: 2, Rows: 9000, RowBytes: 400, Cycle: workload.CycleJoin}, seed(t))
	fatal(t, err)
	for _, n := range []int{1, cmp.Or(b.s.Temps, 4)} {
		l := b.layout(1)
		l.Kind, l.Data.Allocation = ownKind(b.s, l.Kind), filewise.Growing
		l.Temp = filewise.Spread{Files: n, Bytes: 12 << 20, Placement: filewise.PlaceRoundRobin}
		if !offered {
			refused(t, b, l, w.Program())
			continue
		}
		tempCycles(t, b, l, w)
	}
}

// ownKind returns the kind of layout that the engine has for scenario temp.
func ownKind(s Subject, usual filewise.Kind) filewise.Kind {
	if kinds := s.Engine.Describe().TempKinds; len(kinds) > 0 {
		return kinds[0]
	}
	return usual
}

func tempCycles(t *testing.T, b *bench, l filewise.Layout, w filewise.Workload) {
	t.Helper()
	ctx := context.Background()
	script, err := b.s.Engine.Statements(b.target, l, w.Program())
	fatal(t, err)
	db := b.build(l, w)
	ledger := filewise.Ledger{0, 0}
	sessions := make([]filewise.Session, len(ledger))
	for c := range ledger {
		sessions[c], err = db.Connect(ctx, 0, c)
		fatal(t, err)
	}
	for c, n := range []int64{2, 1} {
		ledger[c], err = sessions[c].Do(ctx, 0, n)
		fatal(t, err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if n, err := sessions[0].Do(stopped, ledger[0], 1); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up did %d cycles: %v", n, err)
	}
	check := w.Check
	fatal(t, check(ctx, db, 0, []filewise.Ledger{ledger}))
	ledger[1]++
	if err := check(ctx, db, 0, []filewise.Ledger{ledger}); !errors.Is(err, filewise.ErrCheck) {
		t.Errorf("the check does not see a cycle that was not done: %v", err)
	}
	found, err := db.Observe(ctx)
	fatal(t, err)
	if err := l.Verify(script.Files, found, true); err != nil {
		t.Error(err)
	}
	places, used := 0, 0
	for _, f := range found {
		if f.Role == filewise.RoleTemp {
			places++
			if f.Used != nil && *f.Used > 0 {
				used++
			}
		}
	}
	if places != l.Temp.Files || used == 0 {
		t.Errorf("%d temporary files, of which %d were used: %+v", places, used, found)
	}
	for _, s := range sessions {
		fatal(t, s.Close())
	}
	fatal(t, db.Drop(ctx))
}
