package sqlserver

import (
	"context"
	"fmt"
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
var captureSQL = ownSections(capture.SQL(engineName))

func capturing(t *testing.T) capture.Capturer {
	c, is := capture.Of(Engine{})
	if !is {
		t.Fatal("nothing captures")
	}
	return c
}

// shop is a database of theirs as a capture sees it: tables with columns, and what its clients do.
type shop struct {
	lab      *lab
	storing  bool
	restrict bool // the account sees no statements
	texts    map[string]int
	asked    []string // columns whose values were requested, by table and column
	sent     []string // statements to be described
	answered int
}

// columnsOf are the columns of a table: name, type, length, whether the server makes it, a unique
// index ends with it, the primary key begins with it, and where a foreign key takes its values from.
var columnsOf = map[int64][][]any{
	1: {{1, "id", "int", 4, 1, 1, 1, nil, nil, nil}, {2, "customer", "int", 4, 0, 0, 0, "crm", "Kunden Ö", "id"},
		{3, "status", "nvarchar", 20, 0, 0, 0, nil, nil, nil}, {4, "day", "datetime2", 8, 0, 0, 0, nil, nil, nil},
		{5, "place", "geography", -1, 0, 0, 0, nil, nil, nil}},
	2: {{1, "id", "int", 4, 0, 1, 1, nil, nil, nil}, {2, "email", "varchar", 60, 0, 0, 0, nil, nil, nil}},
}

var stepsOf = map[string][][]any{
	"1.1": {{"1", 1, 0, 0}, {"5000", 1, 4998, 4998}}, "1.2": {{nil, 3, 0, 0}, {"1", 1, 0, 0}, {"500", 1, 4998, 498}},
	"1.3": {{"done", 3750, 0, 0}, {"open", 1250, 0, 0}}, "1.4": {{"2026-01-01 00:00:00", 1, 0, 0}, {"2026-03-01 00:00:00", 1, 4998, 4998}},
	"2.1": {{"1", 1, 0, 0}, {"500", 1, 498, 498}}, "2.2": {{"ada@example.org", 1, 0, 0}},
}

var tableOf = map[string][]any{
	"[dbo].[orders]": {1, "dbo", "orders", "U", 8000, 5000, 0, 0, 0}, "[orders]": {1, "dbo", "orders", "U", 8000, 5000, 0, 0, 0},
	"[crm].[Kunden Ö]": {2, "crm", "Kunden Ö", "U", 800, 500, 0, 0, 0}, "[heap]": {2, "dbo", "heap", "U", 9000, 500, 0, 1, 0},
}

func newShop(t *testing.T) *shop {
	s := &shop{lab: newLab(t, nil), texts: map[string]int{}}
	s.lab.add("shop", nil)
	s.lab.model.fault = s.answer
	return s
}

func (s *shop) answer(_ context.Context, q Request, r *Reply) (bool, error) {
	for _, section := range captureSQL.Sections() {
		for _, moments := range []bool{false, true} {
			text, err := captureSQL.Statement(section, map[string]any{"Moments": moments})
			if err != nil {
				return false, err
			}
			if q.SQL == text {
				s.lab.model.mu.Lock()
				defer s.lab.model.mu.Unlock()
				s.section(section, q, r)
				return true, nil
			}
		}
	}
	return false, nil
}

func (s *shop) section(section string, q Request, r *Reply) {
	id := func(i int) int64 { n, _ := q.Args[i].(int64); return n }
	switch section {
	case "store":
		r.Result(num("state"), str("mode")).Row(map[bool]int{true: 2}[s.storing], "AUTO")
	case "counted-store", "counted-cache":
		if s.restrict {
			r.Error(errDeniedState, 14, "VIEW SERVER STATE permission was denied on object 'server', database 'master'.")
			return
		}
		s.answered++
		rows := r.Result(str("text"), big("calls"), big("microseconds"), big("rows_read"))
		for text, calls := range s.texts {
			rows.Row(text, calls*s.answered, calls*s.answered*1000, calls*s.answered)
		}
		rows.Row(nil, 1, 1, 1)
	case "sessions":
		r.Result(big("connected"), big("active")).Row(9, 4)
	case "describe":
		s.describe(q.Args[0].(string), r)
	case "table":
		rows := r.Result(num("id"), str("table_schema"), str("table_name"), str("kind"), big("pages"), big("stored"), num("in_memory"),
			num("heap"), num("divided"))
		if row := tableOf[q.Args[0].(string)]; row != nil {
			rows.Row(row...)
		}
	case "columns":
		rows := r.Result(num("id"), str("column_name"), str("type_name"), num("length"), num("made"), num("numbered"), num("computed"),
			num("digits"), num("fraction"), num("keyed"), num("own"), num("first"), str("parent_schema"), str("parent_table"),
			str("parent_column"))
		for _, row := range columnsOf[id(0)] {
			rows.Row(slices.Concat(row[:5], []any{row[4], 0, 9, 2, row[6]}, row[5:])...)
		}
	case "indexes":
		r.Result(num("index_id"), str("index_name"), num("is_unique"), str("column_name"), num("descending")).Row(1, "PK]", 1, "id", 0).
			Row(2, "by", 0, columnsOf[id(0)][1][1], 1).Row(2, "by", 0, "id", 0).Row(3, "gone", 0, "computed", 0)
	case "histogram":
		of := fmt.Sprintf("%d.%d", id(0), id(1))
		s.asked = append(s.asked, of)
		rows := r.Result(str("high"), big("same"), big("between_rows"), big("others"))
		for _, row := range stepsOf[of] {
			rows.Row(row...)
		}
	}
}

// describe answers as the server does: mistakes come with 11501, what it cannot decide with another of that operation.
func (s *shop) describe(text string, r *Reply) {
	s.sent = append(s.sent, text)
	switch {
	case strings.Contains(text, "nosuch"):
		r.Error(208, 16, "Invalid object name 'nosuch'.").Error(11501, 16, "The batch could not be analyzed because of compile errors.")
	case strings.Contains(text, "DELETE"):
		r.Error(229, 14, "The DELETE permission was denied on the object 'orders'.")
	case strings.Contains(text, "DATEADD"):
		r.Error(11502, 16, "The type for parameter '@fw1' cannot be deduced in this context.")
	default:
		rows := r.Result(num("parameter_ordinal"), str("name"), num("suggested_system_type_id"), str("suggested_system_type_name"))
		if strings.Contains(text, "email = @fw1") {
			rows.Row(1, "@fw1", 167, "varchar(60)")
		}
	}
}

func (s *shop) take(t *testing.T, o capture.Options) (*capture.Study, error) {
	t.Helper()
	o.Engine, o.Database, o.URL = "sqlserver", "shop", "sqlserver://db/shop"
	w, err := capturing(t).Watch(t.Context(), s.lab.target, "shop")
	ok(t, err)
	defer func() { ok(t, w.Close()) }()
	return capture.Take(t.Context(), capturing(t), w, o)
}

// theirMix are statements as a plan cache and a Query Store have them: with literals, declared
// parameters, variables of procedures, and what no one can repeat.
var theirMix = map[string]int{
	"(@p1 int)SELECT TOP (10) day FROM dbo.orders WHERE id=@p1":                                                50,
	"UPDATE orders SET status = N'done' WHERE id = 17":                                                         20,
	"SELECT id FROM Shop.crm.[Kunden Ö] WHERE email = 'ada@example.org'":                                       10,
	"INSERT orders VALUES (7, 'open', '2026-02-02')":                                                           5,
	"DELETE FROM orders WHERE day < DATEADD(day, -30, @now)":                                                   5,
	"SELECT COUNT(*) FROM orders WHERE id BETWEEN @from AND @to":                                               5,
	"SELECT @total = COUNT(*) FROM orders":                                                                     1,
	"SELECT 1 FROM nosuch":                                                                                     1,
	"SELECT name FROM sys.tables":                                                                              1,
	"SELECT id FROM orders WHERE place = 1":                                                                    1,
	"SELECT a FROM other.dbo.t WHERE mail = 'bob@example.org'":                                                 1,
	"IF @@TRANCOUNT > 0 COMMIT":                                                                                1,
	"SELECT day FROM orders WHERE day >= DATEADD(day, -7, '2026-01-01') OPTION (MAXDOP 1)":                     1,
	"SELECT id FROM heap WHERE id = 4":                                                                         1,
	"UPDATE orders SET status = 'open' WHERE id = 18 /* another literal, and the same otherwise */":            0,
	"SELECT o.id FROM orders AS O JOIN crm.[Kunden Ö] k ON k.id = o.customer WHERE K.Email = @mail":            1,
	"MERGE INTO orders AS t USING (SELECT @id AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE":             1,
	"SELECT id FROM orders ORDER BY day OFFSET 20 ROWS FETCH NEXT 10 ROWS ONLY":                                1,
	"EXEC dbo.something 1":                                                                                     1,
	"WITH x AS (SELECT customer FROM orders WHERE status = 'open') SELECT COUNT(*) FROM x OPTION (HASH GROUP)": 1,
}

// TestCapture: from a known mix the shares are found, and parameters are drawn by the histograms. No
// value of a personal column is requested. What is left out is named without its values. Each
// statement of the study is right by the grammar, and the engine takes it.
func TestCapture(t *testing.T) {
	for _, storing := range []bool{false, true} {
		s := newShop(t)
		s.storing, s.texts = storing, theirMix
		got, err := s.take(t, capture.Options{})
		ok(t, err)
		text := got.YAML()
		for name, want := range map[string]int{"SELECT TOP (10) day": 50, "UPDATE orders": 20, "SELECT id FROM crm": 10, "INSERT orders": 5,
			"DELETE FROM orders": 5, "SELECT COUNT": 5} {
			at := slices.IndexFunc(got.Transactions, func(x capture.Transaction) bool { return strings.HasPrefix(x.SQL[0], name) })
			sum := 0.0
			for _, x := range got.Transactions {
				sum += float64(x.Weight)
			}
			if at < 0 || math.Abs(float64(got.Transactions[at].Weight)/sum-float64(want)/101) > 0.02 {
				t.Errorf("%s: %d of %+v", name, at, got.Transactions)
			}
		}
		from := map[bool]string{false: "by the plans in its cache", true: "QUERY_CAPTURE_MODE AUTO"}[storing]
		for _, says := range []string{"  orders: id #", "not heap", "no clustered index", from, "orders_id: {int: {from: 1, to: 5000}}",
			`orders_status_new: {choice: {"done": 7500, "open": 2500}}`, "email: {text:", "looks personal", "the server's own catalogue",
			"COALESCE((SELECT MIN([id]) FROM [crm].[Kunden Ö] WHERE [id] >= :orders_customer_insert)", "it sets a variable",
			"name of more than two parts", "Invalid object name", "of type geography", "its text is hidden",
			"SELECT day FROM orders WHERE day >= DATEADD(day, -7, ", "TOP (10)",
			"connections: 4", "OFFSET 20 ROWS FETCH NEXT 10 ROWS"} {
			if !strings.Contains(text, says) {
				t.Errorf("the study does not say %q", says)
			}
		}
		if strings.Contains(text, "example.org") || slices.Contains(s.asked, "2.2") || got.Covered < 0.9 {
			t.Errorf("a personal value is told or asked for (%q), or it covers %v", s.asked, got.Covered)
		}
		captured(t, text)
		if t.Failed() {
			t.Log(text)
			return
		}
	}
}

// captured: a study file is one that study reads and the engine takes.
func captured(t *testing.T, text string) {
	t.Helper()
	s, err := study.Parse("captured.yaml", []byte(text), study.Form{Engines: []string{engineName}, Scenarios: []string{"custom"}},
		os.LookupEnv)
	ok(t, err)
	w, err := workload.NewCustom(workload.Params{Custom: s.Experiments[0].Custom, Connections: 1}, 1)
	ok(t, err)
	plan, err := Engine{}.Statements(filewise.Target{Mode: filewise.External, Address: &filewise.Address{},
		Durability: filewise.DurabilityFull,
		Volumes:    []filewise.Volume{{Name: "default"}}}, layout(4), w.Program())
	ok(t, err)
	var all []string
	for _, x := range plan.Steps {
		all = append(all, x.SQL)
	}
	said := strings.Join(all, "\n")
	for _, want := range []string{"CREATE SCHEMA [crm]", "[id] int IDENTITY(1, 1) NOT NULL, [customer] int NULL, [status] nvarchar(10) NULL",
		"[place] geography NULL) ON [PRIMARY]", "CREATE UNIQUE CLUSTERED INDEX [PK]]] ON [crm].[Kunden Ö] ([id])",
		"CREATE NONCLUSTERED INDEX [by] ON [dbo].[orders] ([customer] DESC, [id])", "WHILE @s < 5000", "THEN N'done' ELSE N'open' END"} {
		if !strings.Contains(said, want) {
			t.Errorf("the plan has no %s", want)
		}
	}
	if strings.Contains(said, "gone") || strings.Count(said, "CREATE SCHEMA") != 1 || t.Failed() {
		t.Errorf("the plan is\n%s", said)
	}
	checkGrammar(t, all)
}

// TestCaptureCounts what happens between two looks, and --values takes real ones. The plan cache is read once a look.
// First contact: SQL Server 13.
func TestCaptureCounts(t *testing.T) {
	s := newShop(t)
	s.texts = map[string]int{"SELECT id FROM crm.[Kunden Ö] WHERE email = 'x'": 10}
	got, err := s.take(t, capture.Options{For: 1, Values: true})
	ok(t, err)
	if len(got.Transactions) != 1 || got.Calls != 10 || got.Active != 4 || !strings.Contains(got.YAML(), "ada@example.org") {
		t.Errorf("%+v", got)
	}
	text, err := captureSQL.Statement("counted-cache", nil)
	if ok(t, err); strings.Count(text, "sys.dm_exec_query_stats") != 1 {
		t.Errorf("%s", text)
	}
}

// TestCaptureRefuses: what is missing is reported with its remedy.
func TestCaptureRefuses(t *testing.T) {
	s := newShop(t)
	s.restrict = true
	if _, err := s.take(t, capture.Options{}); !strings.Contains(filewise.RemedyOf(err), "GRANT VIEW SERVER STATE TO [filewise]") {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
	_, err := s.take(t, capture.Options{Log: strings.NewReader("x"), LogName: "trace.xel"})
	if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(filewise.RemedyOf(err), "Query Store") {
		t.Errorf("%v; %s", err, filewise.RemedyOf(err))
	}
	if _, err := capturing(t).Watch(t.Context(), s.lab.target, "nosuch"); err != nil {
		t.Errorf("%v", err)
	}
}
