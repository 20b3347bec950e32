package oracle

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

const copyFrom = "datapump:dumps/shop%U.dmp?schema=shop"

// copyProgram works on a copy of a schema.
func copyProgram(t *testing.T, from string) filewise.Program {
	t.Helper()
	script := func(text string) workload.Script {
		return workload.Script{"": {{Text: text, File: "shop.yaml", Line: 3}}}
	}
	c := &workload.Custom{From: from, Tables: []filewise.CustomTable{{Name: "orders", Key: "id"}},
		Parameters:   []workload.Parameter{{Name: "id", Draw: workload.DrawInt, From: 1, To: 9}},
		Transactions: []workload.Transaction{{Name: "pay", Weight: 1, SQL: script("UPDATE orders SET paid = 1 WHERE id = :id")}},
		Checks:       []workload.CustomCheck{{Query: script("SELECT COUNT(*) FROM orders"), Expect: "9"}}}
	w, err := workload.NewCustom(workload.Params{Connections: 2, Custom: c}, 7)
	if err != nil {
		t.Fatal(err)
	}
	return w.Program()
}

// A plan describes what a copy is made by, in the order in which it is, and which grants it takes;
// the user's name is the build's everywhere, and the password is in no plan.
func TestCopyIsPlanned(t *testing.T) {
	script, err := Engine{}.Statements(serverTarget(), smallfile(2), copyProgram(t, copyFrom))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, s := range script.Steps {
		all.WriteString(s.SQL + "\n")
	}
	text := all.String()
	at := -1
	for _, part := range []string{"CREATE SMALLFILE TABLESPACE", "COMMENT ON TABLE", "ADD DATAFILE", "CREATE USER", "GRANT CREATE SESSION",
		"'REMAP_SCHEMA', old_value => 'SHOP', value => 'FILEWISE_XXXXXXXXXXXXXXXXXX'", "UPDATE orders", "DROP USER", "DROP TABLESPACE"} {
		i := strings.Index(text, part)
		if i <= at {
			t.Errorf("%q stands at %d, after what stands at %d", part, i, at)
		}
		at = i
	}
	said := ""
	for _, w := range script.Warnings {
		said += w.Remedy
	}
	if !strings.Contains(text, `IDENTIFIED BY "…"`) || !strings.Contains(said, "GRANT DATAPUMP_IMP_FULL_DATABASE TO") ||
		!strings.Contains(said, "ON DIRECTORY DUMPS") {
		t.Errorf("%s\n%s", said, text)
	}
	l := smallfile(2)
	l.Indexes = filewise.IndexesApart
	if _, err := (Engine{}).Statements(serverTarget(), l, copyProgram(t, copyFrom)); !errors.Is(err, filewise.ErrUnsupported) {
		t.Error(err)
	}
	for _, from := range []string{"shop.dmp", "datapump:shop.dmp?schema=x", "datapump:D/../x.dmp?schema=x", "datapump:D/x.dmp",
		`datapump:D/x.dmp?schema=a"b`, "datapump:D/x'.dmp?schema=a"} {
		if _, err := (Engine{}).Statements(serverTarget(), smallfile(2), copyProgram(t, from)); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", from, err)
		}
	}
}

// A schema of the server is exported once, as of one moment, to a file of Filewise's, and the file goes at the
// end, or is reported as staying.
func TestCopyIsTaken(t *testing.T) {
	const from = "datapump:dumps?schema=shop"
	script, err := Engine{}.Statements(serverTarget(), smallfile(2), copyProgram(t, from))
	if err != nil {
		t.Fatal(err)
	}
	all, said := "", ""
	for _, s := range script.Steps {
		all += s.SQL + "\n"
	}
	for _, w := range script.Warnings {
		said += w.Message + w.Remedy
	}
	export := strings.Index(all, "operation => 'EXPORT'")
	if export < 0 || export > strings.Index(all, "operation => 'IMPORT'") || !strings.Contains(all, "'FLASHBACK_SCN'") ||
		!strings.Contains(said, "GRANT DATAPUMP_IMP_FULL_DATABASE, DATAPUMP_EXP_FULL_DATABASE TO") || !strings.Contains(said, "exported once") {
		t.Errorf("%s\n%s", said, all)
	}
	f := newFake()
	identity(f)
	s := opened(t, f)
	f.fails["copy-export"] = oracleError(31626)
	for i := range 3 {
		d, err := newDesign(serverTarget(), smallfile(1), copyProgram(t, from), newNames(false), usualBlock)
		if err != nil {
			t.Fatal(err)
		}
		s.taken.name(&d.dump)
		b := &build{server: s, design: d, conn: held{client: f}, markers: f.markers()}
		if err := b.create(t.Context()); (err == nil) != (i > 0) {
			t.Errorf("build %d: %v", i, err)
		}
		delete(f.fails, "copy-export")
	}
	log := strings.Join(f.log, "\n")
	if strings.Count(log, "copy-export") != 2 || strings.Count(log, "copy-import") != 2 || len(f.dumps) != 1 ||
		!f.dumps["'"+s.taken.dump.File+"'"] {
		t.Errorf("%v after\n%s", f.dumps, log)
	}
	f.fails["copy-unlink"] = oracleError(29283)
	if err := s.taken.remove(t.Context(), f); err == nil || !strings.Contains(err.Error(), s.taken.dump.File+" stays in directory DUMPS") {
		t.Error(err)
	}
	delete(f.fails, "copy-unlink")
	if err := s.taken.remove(t.Context(), f); err != nil || len(f.dumps) > 0 {
		t.Errorf("%v: %v", f.dumps, err)
	}
}

// No error shows the password.
func TestCopyHidesItsPassword(t *testing.T) {
	d, err := newDesign(serverTarget(), smallfile(1), copyProgram(t, copyFrom), newNames(false), usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	p := &pool{}
	f.fails["copy-user"] = p.why(t.Context(), statement{text: "CREATE USER x IDENTIFIED BY \"" + d.names.Password + "\""}, oracleError(1031))
	b := &build{server: &server{control: f, about: about{account: f.account}}, design: d, conn: held{client: f}, markers: f.markers()}
	if err := b.create(t.Context()); err == nil || strings.Contains(err.Error(), d.names.Password) || len(d.names.Password) < 20 {
		t.Errorf("%v", err)
	}
}

// owner is the user of a copy.
type owner struct {
	columns [][]any
	sums    map[string][]any
}

func (owner) exec(context.Context, statement) error { return nil }

func (o owner) rows(_ context.Context, s statement) ([][]any, error) {
	if s.section == "copy-columns" {
		return inOrder(s, o.columns)
	}
	table := s.text[strings.LastIndex(s.text, "FROM")+6:]
	return [][]any{o.sums[strings.Trim(table, `")`)]}, nil
}

// A copy is as the first one, in its place, and has the study's tables; else it is refused by
// the table's name.
func TestCopyIsCompared(t *testing.T) {
	d, err := newDesign(serverTarget(), smallfile(1), copyProgram(t, copyFrom), newNames(false), usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{}
	f := newFake()
	b := &build{server: s, design: d, conn: held{client: f}}
	user := owner{[][]any{{"ORDERS", "ID", "NUMBER"}, {"ORDERS", "Notiz", "CLOB"}, {"ORDERS", "X", "XMLTYPE"}, {"Straße", "A", "DATE"}},
		map[string][]any{"ORDERS": {"9", "123"}, "Straße": {"2", "7"}}}
	for range 2 {
		if err := b.compare(t.Context(), user); err != nil {
			t.Fatal(err)
		}
	}
	user.sums["Straße"] = []any{"2", "8"}
	if err := b.compare(t.Context(), user); err == nil || !strings.Contains(err.Error(), "Straße") {
		t.Error(err)
	}
	user.columns = user.columns[3:]
	d.program.Custom.Tables = append(slices.Clone(d.program.Custom.Tables), filewise.CustomTable{Name: "gone", Key: "id"})
	if err := b.compare(t.Context(), user); filewise.CodeOf(err) != filewise.CodeUsage ||
		!strings.Contains(err.Error(), "table orders or gone") {
		t.Error(err)
	}
	f.answers["copy-elsewhere"] = [][]any{{"ARCHIVE", "USERS"}}
	const stray = "ARCHIVE of the dump lies in tablespace USERS"
	if err := b.compare(t.Context(), user); !errors.Is(err, filewise.ErrUnsupported) || !strings.Contains(err.Error(), stray) {
		t.Error(err)
	}
}

// Before anything is built it is reported what an import lacks, with its grants.
func TestCopyIsExamined(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*fakeServer)
		remedy string
	}{
		"all is well":     {func(*fakeServer) {}, ""},
		"no role":         {func(f *fakeServer) { f.answers["copy-role"] = nil }, "GRANT DATAPUMP_IMP_FULL_DATABASE TO ADA"},
		"no directory":    {func(f *fakeServer) { f.answers["copy-directory"] = nil }, "GRANT READ, WRITE ON DIRECTORY DUMPS TO ADA"},
		"no dump":         {func(f *fakeServer) { f.fails["copy-dump"] = oracleError(20012) }, "expdp"},
		"nothing to take": {func(*fakeServer) {}, "name a user"},
	} {
		f := newFake()
		identity(f)
		f.answers["copy-role"], f.answers["copy-directory"] = [][]any{{"DATAPUMP_IMP_FULL_DATABASE"}}, [][]any{{"DUMPS"}}
		c.change(f)
		e := &examination{server: opened(t, f), client: f}
		from := copyFrom
		if what == "nothing to take" {
			from = "datapump:dumps?schema=shop"
		}
		e.Demand.Program = copyProgram(t, from)
		e.dump(t.Context())
		failed := ""
		for _, x := range e.Findings {
			if x.Status == filewise.StatusFailed {
				failed += x.Remedy
			}
		}
		if (failed == "") != (c.remedy == "") || !strings.Contains(failed, c.remedy) {
			t.Errorf("%s: %+v", what, e.Findings)
		}
	}
}

// SQL of a copy names the schema's own tables; what reaches the server is refused as ever.
func TestCopyGuard(t *testing.T) {
	o := userSQL(planNames(false), copyProgram(t, copyFrom).Custom)
	for text, passes := range map[string]bool{"UPDATE orders SET paid = 1": true, "BEGIN shop_api.pay(1); END;": true,
		"DROP TABLE orders": false, "BEGIN UTL_FILE.FREMOVE('D', 'x'); END;": false, "UPDATE orders@prod SET paid = 1": false,
		"GRANT DBA TO x": false, "BEGIN EXECUTE IMMEDIATE 'x'; END;": false} {
		if what, _ := o.Guard(o.Plain().Words(text), false); (what == "") != passes {
			t.Errorf("%s: %s", text, what)
		}
	}
}
