package dialect

import (
	"database/sql/driver"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"filewise"
	"filewise/engine/internal/script"
	"filewise/engine/internal/session"
	"filewise/lab/workload"
)

func newOrders(t testing.TB, churn bool) filewise.Workload {
	t.Helper()
	w, err := workload.NewOrders(workload.Params{Connections: 2, Warehouses: 2, Scale: 0.01, Churn: churn}, 3)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func ordersSchema(t testing.TB, churn bool) Schema {
	t.Helper()
	s, err := NewSchema("d`b", filewise.Layout{Kind: filewise.KindPartitions}, newOrders(t, churn).Program())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Arguments stand in statements so that no text ends its literal, in the order of
// the statement's parameters.
func TestStatementText(t *testing.T) {
	var v values
	v.Int(-7)
	v.Text([]byte("it's \\ \"\x00é"))
	v.Null()
	v.Float(0.1)
	got, err := divided("CALL p(?2, '?', ?1, ?4, ?3, ?, ?1)").fill(nil, &v)
	if want := `CALL p('it\'s \\ "\0é', '?', -7, 1e-01, NULL, ?, -7)`; err != nil || string(got) != want {
		t.Errorf("%s, want %s: %v", got, want, err)
	}
	if _, err := divided("SELECT ?12").fill(nil, &v); filewise.CodeOf(err) != filewise.CodeInternal {
		t.Errorf("argument 12 of 4: %v", err)
	}
	v.reset()
	if err := v.write([]any{int64(1), "a", []byte("b"), nil, 2.5}); err != nil || string(v.text) != `1'a''b'NULL2.5e+00` {
		t.Errorf("%s %v", v.text, err)
	}
	if err := v.write([]any{struct{}{}}); err == nil {
		t.Error("an argument of no type that SQL has")
	}
}

// recorder is a driver's connection that keeps the last statements.
type recorder struct {
	last []string
	fail func(statement string) error
}

func (r *recorder) Exec(statement string, _ []driver.Value) (driver.Result, error) {
	if r.last != nil {
		r.last = append(r.last, strings.Clone(statement))
	}
	if r.fail != nil {
		return nil, r.fail(statement)
	}
	return nil, nil
}

func newTestTyped(t testing.TB, churn bool, to executor) *typed {
	t.Helper()
	s := ordersSchema(t, churn)
	p := s.Program.Phases[0]
	machine, err := session.New(s.Program, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	y := &typed{connection: &connection{Session: machine, schema: s}, writer: p.Args.(filewise.ArgsWriter), direct: to}
	for _, section := range p.Sections {
		text, err := s.Statement(SectionStatement+section, s.Tables[0])
		if err != nil {
			t.Fatal(err)
		}
		y.texts = append(y.texts, divided(text))
	}
	if y.churn, err = s.newChurn(); err != nil {
		t.Fatal(err)
	}
	return y
}

// Each operation is one CALL with its arguments, whichever way it gets them, and
// costs no allocation.
func TestTyped(t *testing.T) {
	r := &recorder{last: []string{}}
	y := newTestTyped(t, false, r)
	for i := range int64(200) {
		if err := y.one(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	y.writer = nil
	for i := range int64(200) {
		if err := y.one(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(r.last[:200], r.last[200:]); diff != "" {
		t.Error(diff)
	}
	call := regexp.MustCompile(`^CALL fw_(new_order\((\d+, ){4}'[\d,]+', '[\d,]+', '[\d,]+'\)|payment\((\d+, ){5}'[A-Z]*', \d+, \d+\)|` +
		`order_status\((\d+, ){3}'[A-Z]*'\)|(delivery|stock_level)\(\d+, \d+, \d+\))$`)
	for _, statement := range r.last {
		if !call.MatchString(statement) {
			t.Fatal(statement)
		}
	}
	y = newTestTyped(t, false, &recorder{})
	i := int64(0)
	if n := testing.AllocsPerRun(500, func() {
		if err := y.one(t.Context(), i); err != nil {
			t.Fatal(err)
		}
		i++
	}); n > 0 && !underRace {
		t.Errorf("%v allocations an operation", n)
	}
}

// Tables come and go under names that no other has, on all spots in turns; one that
// cannot be filled goes as well.
func TestChurn(t *testing.T) {
	r := &recorder{last: []string{}}
	y := newTestTyped(t, true, r)
	y.schema.Spots = []string{" DATA DIRECTORY = '/a'", " DATA DIRECTORY = '/b'"}
	var err error
	if y.churn, err = y.schema.newChurn(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for range 4 {
		r.last = r.last[:0]
		if err := y.one(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		name := regexp.MustCompile(`fw_churn_\d+`).FindString(r.last[0])
		if len(r.last) != 4 || !KnownName(name) || !strings.HasPrefix(r.last[1], "INSERT INTO "+name) || r.last[2] != "DROP TABLE "+name {
			t.Errorf("%q", r.last)
		}
		seen[name]++
		seen[r.last[0][len(r.last[0])-4:]]++
	}
	if len(seen) != 6 || seen["'/a'"] != 2 || seen["'/b'"] != 2 {
		t.Errorf("%v", seen)
	}
	r.last = r.last[:0]
	r.fail = func(statement string) error {
		if strings.HasPrefix(statement, "INSERT") {
			return &mysql.MySQLError{Number: 1205}
		}
		return nil
	}
	err = y.one(t.Context(), 0)
	if n, _ := Number(err); n != 1205 || len(r.last) != 3 || !strings.HasPrefix(r.last[2], "DROP TABLE IF EXISTS fw_churn_") {
		t.Errorf("%v after %q", err, r.last)
	}
}

// What the workloads create is recognized by its name, or “clean” would take it for
// another user's and keep it.
func TestNamesAreKnown(t *testing.T) {
	s := ordersSchema(t, true)
	all, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	churn, err := s.churnStatements("17", "")
	if err != nil {
		t.Fatal(err)
	}
	created := regexp.MustCompile("CREATE (?:TABLE|PROCEDURE) (?:`d``b`\\.)?(\\w+)")
	found := 0
	for _, statement := range append(all, churn...) {
		if m := created.FindStringSubmatch(statement); m != nil {
			found++
			if !KnownName(m[1]) {
				t.Errorf("%s is not known", m[1])
			}
		}
	}
	if found != 9+1+5+1 {
		t.Errorf("%d objects", found)
	}
	for _, name := range []string{"warehouse", "fw_churn_", "fw_churn_x", "fw_orders2", "fw_order"} {
		if KnownName(name) {
			t.Errorf("%s is not Filewise's", name)
		}
	}
}

// Partitions that would be empty are refused, with what to do.
func TestOrdersPartitions(t *testing.T) {
	s := ordersSchema(t, false)
	if warnings, err := s.WarnPartitions(2); err != nil || len(warnings) != 2 {
		t.Errorf("%v %v", warnings, err)
	}
	s.Program.Sharding.Values = 5
	if warnings, err := s.WarnPartitions(3); err != nil || len(warnings) != 3 || !strings.Contains(warnings[1].Remedy, "--warehouses 6") {
		t.Errorf("%v %v", warnings, err)
	}
	s.Program.Sharding.Values = 2
	_, err := s.WarnPartitions(3)
	if !errors.Is(err, filewise.ErrUnsupported) || !strings.Contains(filewise.RemedyOf(err), "--warehouses 3") {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
	steps, err := trialSteps(s)
	if err != nil {
		t.Fatal(err)
	}
	stages := map[string]int{}
	for _, step := range steps {
		stages[step.Stage]++
	}
	if stages[filewise.StageCheck] != 13 || stages[filewise.StageMeasure] != 5 || stages[filewise.StageLoad] != 4+2+9 {
		t.Errorf("%v", stages)
	}
	if !slices.ContainsFunc(steps, func(s script.Step) bool {
		return strings.Contains(s.Text, "LOAD DATA") && strings.Contains(s.Text, "`w_ytd`")
	}) {
		t.Error("the plan does not load")
	}
}
