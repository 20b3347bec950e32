package oracle

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
	"filewise/own/capture"
	"filewise/run/study"
)

// captureSQL holds the questions of package capture.
var captureSQL = ownSections(capture.SQL("oracle"))

func capturing(t *testing.T) capture.Capturer {
	c, is := capture.Of(Engine{})
	if !is {
		t.Fatal("nothing captures")
	}
	return c
}

func watching(t *testing.T, c client, schema string) (capture.Watcher, error) {
	return capture.Open(t.Context(), Engine{}, &questions{client: c, about: about{version: "19.3", account: "ADA"}, file: captureSQL}, schema)
}

// shopServer has schema SHOP with a table and a view, and what its clients have executed.
type shopServer struct{ *fakeServer }

func newShop() shopServer {
	f := newFake()
	counted := func(calls, microseconds int64, text string) []any {
		return []any{text[:8] + text[len(text)-8:], calls, microseconds, int64(1000), 10 * calls, int64(len(text)), text, nil, nil, nil}
	}
	f.answers = map[string][][]any{
		"capture-schema":   {{"SHOP"}},
		"capture-sessions": {{int64(3), int64(9)}},
		"capture-statements": {
			counted(300, 3e6, "SELECT total FROM orders WHERE id = :1"), counted(100, 1e6, "SELECT total FROM orders WHERE id = 17"),
			counted(100, 1e6, "select total from orders where id = 18"),
			counted(100, 2e6, "SELECT /*+ FULL(o) */ total FROM Shop.Orders o WHERE o.status = 'open' AND o.placed >= TO_DATE(:B1, 'YYYY') "+
				"AND o.email = 'ada@example.org' AND ROWNUM <= 10"),
			counted(100, 2e6, "INSERT INTO orders VALUES (Shop.Order_Seq.NEXTVAL, :1, SYSDATE, :2, :3, EMPTY_CLOB())"),
			counted(100, 2e6, "UPDATE orders SET status = :s WHERE id = :i"),
			counted(100, 9e6, "BEGIN ship('ada@example.org'); END;"),
			counted(1, 1e5, "SELECT COUNT(*) FROM open_orders"), counted(1, 1e5, "SELECT a FROM b@far"),
		},
		"capture-table": {{int64(250000), nil, nil, "N"}},
		"capture-bytes": {{int64(64 << 20)}},
		"capture-columns": {
			{"ID", "NUMBER", int64(22), int64(0), int64(10), int64(0), int64(250000), int64(5)},
			{"STATUS", "VARCHAR2", int64(10), int64(10), nil, nil, int64(2), int64(5)},
			{"PLACED", "DATE", int64(7), int64(0), nil, nil, int64(90), int64(8)},
			{"TOTAL", "NUMBER", int64(22), int64(0), int64(9), int64(2), int64(700), int64(4)},
			{"EMAIL", "VARCHAR2", int64(60), int64(60), nil, nil, int64(900), int64(21)},
			{"SCAN", "CLOB", int64(4000), int64(0), nil, nil, nil, nil},
		},
		"capture-ranges": {
			{"ID", "C102", "C31A", int64(0), "NONE"}, {"STATUS", "646F6E65", "6F70656E", int64(0), "FREQUENCY"},
			{"PLACED", "787E0101010101", "787E0B170D0E0F", int64(0), "NONE"}, {"TOTAL", "C0330B", "C20B", int64(0), "HYBRID"},
			{"EMAIL", "616440", "7A7A40", int64(0), "TOP-FREQUENCY"},
		},
		"capture-histograms": {
			{"STATUS", int64(4000), float64(5e35), "done", int64(0)}, {"STATUS", int64(5000), float64(6e35), "it's open", int64(0)},
			{"EMAIL", int64(1), float64(6e35), "ada@example.org", int64(0)},
		},
		"capture-indexes": {{"ORDERS_PK", "UNIQUE", "NORMAL", "ID"}, {"ORDERS_PLACED", "NONUNIQUE", "NORMAL", "STATUS"},
			{"ORDERS_PLACED", "NONUNIQUE", "NORMAL", "PLACED"}},
	}
	return shopServer{f}
}

func (s shopServer) rows(ctx context.Context, x statement) ([][]any, error) {
	switch {
	case x.section == "capture-object" && x.args[1] == "OPEN_ORDERS":
		return [][]any{{"VIEW"}}, nil
	case len(x.args) == 2 && x.section != "capture-schema" && x.args[1] != "ORDERS":
		return nil, nil
	}
	return s.fakeServer.rows(ctx, x)
}

func (s shopServer) capture(t *testing.T, values bool) *capture.Study {
	t.Helper()
	w, err := watching(t, s, "shop")
	if err != nil {
		t.Fatal(err)
	}
	all, err := capture.Take(t.Context(), capturing(t), w, capture.Options{Engine: "oracle", Database: "shop", Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// captured: statements that differ in values alone are one, with their share; parameters are
// drawn as statistics say; what cannot be repeated is named; and of a personal column no value
// is in it, nor asked for.
func TestCapture(t *testing.T) {
	f := newShop()
	s := f.capture(t, false)
	text := s.YAML()
	if n := len(s.Transactions); n != 4 || math.Abs(s.Transactions[0].Share-500.0/800) > 0.001 {
		t.Errorf("%d types, of which the first has %.3f of the calls", n, s.Transactions[0].Share)
	}
	for _, says := range []string{
		"SELECT total FROM orders WHERE id = :ORDERS_ID\n", "{int: {from: 1, to: 250000}}", "{sequential: {from: 1250001}}",
		"SELECT /*+ FULL(o) */ total FROM Orders o WHERE o.status = :ORDERS_STATUS AND o.placed >= TO_DATE(:ORDERS_PLACED_from, " +
			"'YYYY-MM-DD HH24:MI:SS') AND o.email = :ORDERS_EMAIL AND ROWNUM <= 10\n",
		"UPDATE orders SET status = :ORDERS_STATUS_new WHERE id = :ORDERS_ID\n",
		"VALUES (:ORDERS_ID_insert, :ORDERS_STATUS_insert, SYSDATE, :ORDERS_TOTAL_insert, :ORDERS_EMAIL_insert, EMPTY_CLOB())",
		`{choice: {"done": 8000, "it's open": 2000}}`, "PL/SQL is not repeated", "OPEN_ORDERS is a view", "it uses a database link",
		"ORDERS: ID #", "connections: 3", "2026-11-23", "looks personal",
	} {
		if !strings.Contains(text, says) {
			t.Errorf("the study does not say %q", says)
		}
	}
	if strings.Contains(text, "ada@example.org") {
		t.Error("a personal value is in the study")
	}
	for _, x := range f.log {
		if !strings.HasPrefix(x, "capture-parse") {
			t.Errorf("%s was executed", x)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	if with := f.capture(t, true).YAML(); !strings.Contains(with, "ada@example.org") {
		t.Error("with --values there is no address")
	}
}

// capturedProgram returns what the captured study becomes.
func capturedProgram(t *testing.T) filewise.Program {
	t.Helper()
	text := newShop().capture(t, false).YAML()
	s, err := study.Parse("captured.yaml", []byte(text), study.Form{Engines: []string{"oracle"}, Scenarios: []string{"custom"}}, os.LookupEnv)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	w, err := workload.NewCustom(workload.Params{Custom: s.Experiments[0].Custom, Connections: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return w.Program()
}

// A captured study is one that is planned here, its tables in the build's tablespaces.
func TestCapturePlans(t *testing.T) {
	s, err := Engine{}.Statements(serverTarget(), smallfile(4), capturedProgram(t))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, x := range s.Steps {
		all = append(all, x.SQL)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{`"SCAN" CLOB) TABLESPACE "`, "CONNECT BY LEVEL <= LEAST(100000, 250000 - s * 100000)",
		"FOR s IN 0 .. 2 LOOP",
		"1 + g.n - 1", "WHEN ORA_HASH(g.n, 4294967295, 1) / 4294967296 < 0.800000 THEN 'done' ELSE 'it''s open' END"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// What the account may not see is reported with its grants; a schema that is none, and a log, are
// refused.
func TestCaptureRefuses(t *testing.T) {
	f := newShop()
	f.fails["capture-statements"] = explain(oracleError(942))
	w, err := watching(t, f, "SHOP")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Counted(t.Context()); !strings.Contains(filewise.RemedyOf(err), "GRANT SELECT ON SYS.V_$SQLSTATS TO ADA") {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
	parses := func(x string) bool { return strings.HasPrefix(x, "capture-parse") }
	for _, executed := range []string{"DROP TABLE orders", "CREATE TABLE x (a NUMBER)", "/* SELECT */ TRUNCATE TABLE orders"} { // by parsing
		if _, err := w.Shape(t.Context(), executed, nil); err == nil || slices.ContainsFunc(f.log, parses) {
			t.Errorf("%s is parsed", executed)
		}
	}
	if _, err := w.Shape(t.Context(), "SELECT id FROM orders WHERE id = 17", nil); err != nil || !slices.ContainsFunc(f.log, parses) {
		t.Errorf("nothing is parsed: %v", err)
	}
	f.answers["capture-schema"] = nil
	if _, err := watching(t, f, "nobody"); filewise.CodeOf(err) != filewise.CodeUsage {
		t.Error(err)
	}
	if err := capturing(t).ReadLog(nil, "", nil); filewise.RemedyOf(err) == "" {
		t.Error(err)
	}
}
