package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"filewise"
)

// logs is a log of statements that differ.
type logs struct {
	Capturer
	words []string
	n     int
}

func (l logs) ReadLog(_ io.Reader, _ string, each func(filewise.LoggedStatement)) error {
	long := strings.Repeat("x", 1<<10)
	for i := range l.n {
		word := l.words[i%len(l.words)]
		each(filewise.LoggedStatement{Session: "1", Text: word + long, Key: fmt.Sprint(word, i, long)})
	}
	return nil
}

// A log of more different transactions, or of a transaction that does not end, than fit into memory is refused.
func TestBombInALog(t *testing.T) {
	for _, c := range []struct {
		words []string
		n     int
		fits  bool
	}{{[]string{"SELECT "}, 100_000, false}, {append([]string{"BEGIN "}, slices.Repeat([]string{"SELECT "}, 100_000)...), 100_000, false},
		{[]string{"BEGIN ", "SELECT ", "ROLLBACK "}, 200_000, true}, {[]string{"SELECT "}, 1000, true}} {
		if _, err := new(taking).readLog(context.Background(), logs{words: c.words, n: c.n}, nil); (err == nil) != c.fits {
			t.Errorf("%d of %q: %v", c.n, c.words[:1], err)
		}
	}
}

// What was rolled back, and an earlier capture's queries, are reported as that.
func TestNoWorkInALog(t *testing.T) {
	x := new(taking)
	kinds, err := x.readLog(context.Background(), logs{
		words: []string{"BEGIN ", "SELECT ", "ROLLBACK ", "SELECT MIN(filewise_v) FROM"}, n: 4}, nil)
	if err != nil || len(kinds) != 2 {
		t.Fatalf("%+v, %v", kinds, err)
	}
	kept, err := x.shape(t.Context(), kinds)
	if text := fmt.Sprintf("%+v", x); err != nil || len(kept) > 0 || !strings.Contains(text, "rolled back have left nothing") ||
		!strings.Contains(text, "Filewise's own look") {
		t.Errorf("%+v kept, %v: %.900s", kept, err, text)
	}
}

// Values are shown of one kind alone: few, each in many rows. Names count for secrets, and then as whole words.
func TestWithheld(t *testing.T) {
	facts := filewise.TableFacts{Name: "`t`", Table: "t", Key: "id", Rows: 1000}
	text := func(name string, common map[string]float64, change ...func(*filewise.ColumnFacts)) filewise.ColumnFacts {
		c := filewise.ColumnFacts{Name: name, Type: filewise.TypeText, Said: "varchar(20)", Width: 8, Distinct: float64(len(common))}
		for _, v := range slices.Sorted(maps.Keys(common)) {
			c.Common, c.Shares = append(c.Common, v), append(c.Shares, common[v])
		}
		for _, f := range change {
			f(&c)
		}
		return c
	}
	many := map[string]float64{}
	for i := range 50 {
		many[fmt.Sprint("n", i)] = 0.001
	}
	states := map[string]float64{"open": 0.5, "done": 0.498, "lost": 0.002}
	of := func(kind filewise.ColumnType, said, name string) filewise.ColumnFacts {
		return filewise.ColumnFacts{Name: name, Type: kind, Said: said, Common: []string{"7"}, Shares: []float64{1}, Low: "1", High: "9"}
	}
	for _, x := range []struct {
		c    filewise.ColumnFacts
		told int // values. -1 means withheld
	}{
		{of(filewise.TypeNumber, "numeric", "tax"), 1}, {text("tax_id", states), -1}, {of(filewise.TypeWhole, "int", "mail_id"), -1},
		{func() filewise.ColumnFacts { // a key
			c := of(filewise.TypeWhole, "int", "mail_server_id")
			c.Parent = "servers"
			return c
		}(), 1},
		{text("comment_approved", map[string]float64{"1": 0.9, "spam": 0.1}), 2}, {text("status", states), 2}, {text("title_kind", states), 2},
		{text("nick", many), -1}, {text("status", many), -1}, {text("apellido", map[string]float64{"García": 0.002, "Ruiz": 0.001}), -1},
		{text("reference", map[string]float64{"a@b": 1}), -1}, {text("kundennr", map[string]float64{"4711081": 1}), -1},
		{text("session_token", states), -1}, {text("billing_email", states), -1},
		{text("remark", states, func(c *filewise.ColumnFacts) { c.Width = 90 }), -1},
		{text("code", states, func(c *filewise.ColumnFacts) { c.Unique = true }), -1},
		{text("tok", states, func(c *filewise.ColumnFacts) { c.Said = "binary(16)" }), -1},
		{text("apiToken", states, func(c *filewise.ColumnFacts) { c.Closed = true }), 3},
		{of(filewise.TypeWhole, "int", "phone2"), -1}, {of(filewise.TypeWhole, "int", "port"), 1},
		{of(filewise.TypeWhole, "int", "text_length"), 1},
		{of(filewise.TypeTime, "date", "birth_date"), -1}, {of(filewise.TypeTime, "datetime", "created_at"), 1},
		{of(filewise.TypeUUID, "uuid", "id"), 1}, {of(filewise.TypeUUID, "uuid", "order_id"), 1}, {of(filewise.TypeUUID, "uuid", "reset"), -1},
		{of(filewise.TypeBool, "bool", "mobile"), 1},
	} {
		c := x.c
		c.Common = slices.Clone(c.Common)
		table := facts
		table.Columns = []filewise.ColumnFacts{c}
		taken := &taking{why: map[string]string{}}
		taken.withhold(&table)
		c = table.Columns[0]
		if withheld := taken.why["`t`."+c.Name] != ""; withheld != (x.told < 0) || len(c.Common) != max(x.told, 0) || withheld && c.Low != "" {
			t.Errorf("%s: %q, told: %v %s", c.Name, taken.why, c.Common, c.Low)
		}
	}
	for o, want := range map[*Options]string{{Tell: []string{"t.nick"}}: "", {Tell: []string{"nick"}}: "", {Values: true}: "",
		{Tell: []string{"u.nick"}}: "its values are many", {Withhold: []string{"t.nick"}, Values: true}: "--withhold"} {
		c := text("nick", many)
		if why := o.judge(facts, &c); !strings.HasPrefix(why, want) || want == "" && (why != "" || len(c.Common) != 50) {
			t.Errorf("%+v: %s", o, why)
		}
	}
	head := strings.Join((&Study{Disclosed: []Column{{Name: "t.status"}}, Withheld: []Column{{"t.nick", "few"}}}).Account(), "\n")
	if !strings.Contains(head, "--withhold TABLE.COLUMN") || !strings.Contains(head, "  t.nick: few") || !strings.Contains(head, "--tell") {
		t.Error(head)
	}
}

// asked is a server that takes each statement, of two tables: t, whose key is one of two columns, and p, its parent.
type asked struct {
	Watcher
	shape filewise.Shape
}

func (a asked) Shape(_ context.Context, _ string, constants []string) (filewise.Shape, error) {
	s := a.shape
	s.Values = slices.Clone(s.Values)
	s.Keep(constants)
	return s, nil
}

func (a asked) Table(_ context.Context, name string, _ func(string) bool) (filewise.TableFacts, error) {
	whole := filewise.ColumnFacts{Type: filewise.TypeWhole, Low: "1", High: "50", Distinct: 50}
	t := filewise.TableFacts{Name: name, Table: name, Rows: 1000, Key: "a"}
	for _, c := range []string{"a", "b", "day", "x", "y", "id", "mail"} {
		of := whole
		of.Name = c
		t.Columns = append(t.Columns, of)
	}
	c := t.Columns
	if name == "p" {
		c[5].High = "20000"
		return t, nil
	}
	c[1].Unique, c[1].Composite, c[1].Parent, c[1].ParentKey, c[1].ParentTable, c[1].ParentColumn = true, true, "p", "id", "p", "id"
	c[2].Unique, c[2].Composite, c[2].Type, c[2].Low, c[2].High = true, true, filewise.TypeTime, "2026-01-01", "2026-02-01"
	c[5].Unique, c[5].Composite = true, true
	c[6].Type = filewise.TypeText
	t.Foreign = []filewise.ForeignKey{{Columns: []string{"x", "y"}, Parent: "q", Keys: []string{"k", "l"}}}
	return t, nil
}

// studyOf is the study of one statement that a log has some calls of.
func studyOf(t *testing.T, constants []string, calls float64, pieces []string, values ...filewise.ValueUse) *taking {
	t.Helper()
	x := &taking{why: map[string]string{}, watcher: asked{shape: filewise.Shape{Pieces: pieces, Values: values, Tables: []string{"t"}}}}
	x.Calls = calls
	kinds, err := x.shape(t.Context(), []kind{{texts: []string{"SELECT 1"}, keys: []string{"k"}, calls: calls,
		values: callValuesOf([][][]string{{constants}})}})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.facts(t.Context(), kinds); err != nil {
		t.Fatal(err)
	}
	x.write(kinds)
	return x
}

// What never varies in a log keeps its literal, unless it may be a person's; what stands against no column is to be filled in.
func TestConstantsOfALog(t *testing.T) {
	pieces := []string{"f(", ", ", ") = a AND a = ", ""}
	value := func(column string) filewise.ValueUse {
		return filewise.ValueUse{Table: "t", Column: column, Use: filewise.UseEqual}
	}
	free := filewise.ValueUse{Type: filewise.TypeText}
	for _, x := range []struct {
		constants []string
		calls     float64
		column    string
		want      string
		fill      int
	}{
		{[]string{"'g'", "7", "5"}, 20, "a", "f('g', 7) = a AND a = 5", 0},
		{[]string{"'g'", "7", "5"}, 4, "a", "f('g', 7) = a AND a = :t_a", 0},
		{[]string{"'g'", "", ""}, 20, "a", "f('g', :text) = a AND a = :t_a", 1},
		{[]string{"'g'", "7", "5"}, 1, "a", "f(:text, 7) = a AND a = :t_a", 1},
		{[]string{"'ada@example.org'", "7", "'x'"}, 20, "mail", "f(:text, 7) = a AND a = :t_mail", 1},
	} {
		s := studyOf(t, x.constants, x.calls, pieces, free, free, value(x.column))
		if got := s.Transactions[0].SQL[0]; got != x.want || len(s.Fill) != x.fill {
			t.Errorf("%q becomes %s, not %s; to be filled in: %v", x.constants, got, x.want, s.Fill)
		}
		if head := strings.Join(s.Account(), "\n"); strings.Contains(head, "Fill in these") != (x.fill > 0) || strings.Contains(head, "ada@") {
			t.Errorf("%s", head)
		}
	}
}

// What stands for a constant that counts do not report is listed; an array has values of the column that it is compared with.
func TestWhatCountsDoNotReport(t *testing.T) {
	array := filewise.ValueUse{Table: "t", Column: "a", Use: filewise.UseEqual, Said: "integer[]", Number: 1}
	span := filewise.ValueUse{Use: filewise.UseSpan, Literal: "1"}
	s := studyOf(t, nil, 20, []string{"a = ANY(", ") AND INTERVAL ", " DAY"}, array, span)
	want := "a = ANY(ARRAY[:t_a, :t_a_2, :t_a_3, :t_a_4, :t_a_5]::integer[]) AND INTERVAL 1 DAY"
	if got := s.Transactions[0].SQL[0]; got != want || len(s.Fill) != 1 || s.Fill[0].Name != "INTERVAL 1" {
		t.Errorf("%s, to be filled in: %v", got, s.Fill)
	}
	span.Text, array.Text = "1", "'{1,2}'"
	s = studyOf(t, nil, 20, []string{"a = ANY(", ") AND INTERVAL ", " DAY"}, array, span)
	if got := s.Transactions[0].SQL[0]; !strings.Contains(got, "ARRAY[:t_a, :t_a_2]") || len(s.Fill) > 0 {
		t.Errorf("%s, to be filled in: %v", got, s.Fill)
	}
}

// Keys of several columns: values are drawn so that they exist together, or are new together.
func TestKeysOfSeveralColumns(t *testing.T) {
	insert := func(column string) filewise.ValueUse {
		return filewise.ValueUse{Table: "t", Column: column, Use: filewise.UseInsert}
	}
	span := filewise.ValueUse{Table: "t", Part: "day", Use: filewise.UseSpan, Literal: "1"}
	for _, x := range []struct {
		values     []filewise.ValueUse
		text, draw string
	}{
		{[]filewise.ValueUse{insert("a"), insert("b")}, "COALESCE((SELECT MIN(id) FROM p WHERE id >= :t_b_insert), (SELECT MAX(id) FROM p))",
			"{int: {from: 1, to: 20000}}"},
		{[]filewise.ValueUse{insert("x"), insert("y")},
			"(SELECT MIN(l) FROM q WHERE k = COALESCE((SELECT MIN(k) FROM q WHERE k >= :t_x_insert), " +
				"(SELECT MAX(k) FROM q)) AND l >= :t_y_insert)", "{int: {from: 1, to: 50}}"},
		{[]filewise.ValueUse{insert("a"), span}, "/:t_day_part", "{int: {from: 1, to: 20000}}"},
		{[]filewise.ValueUse{insert("a"), insert("id")}, "/:t_id_insert", "{int: {from: 51, to: 2000050}}"},
		{[]filewise.ValueUse{insert("a"), insert("day")}, "/:t_day_insert", "to: 2080-11-04T00:00:00Z}}"},
	} {
		s := studyOf(t, nil, 3, []string{"INSERT ", "/", ""}, x.values...)
		last := s.Parameters[len(s.Parameters)-1]
		if text := s.Transactions[0].SQL[0]; !strings.Contains(text, x.text) || !strings.Contains(last.Draw, x.draw) {
			t.Errorf("%s with %+v", text, last)
		}
	}
}

// From a log of a known overlap come peak and mean; a session does not overlap with itself, and without times seconds
// decide.
func TestOverlapOfALog(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		seconds float64
		most    int
		mean    float64
		after   int
	}{"timed": {0.5, 3, 1.5, 1}, "rounded": {1.001, 3, 3, 0}, "untimed": {0, 3, 0, 0}, "whole seconds": {0.05, 1, 0.15, 0}} {
		o := &overlap{}
		for i := range 3000 { // three sessions, each with a statement a second that ends with it
			ended := at.Add(time.Duration(i/3)*time.Second + time.Duration(c.after))
			o.add(filewise.LoggedStatement{Session: fmt.Sprint(i % 3), Text: "SELECT", Ended: ended, Seconds: c.seconds})
		}
		if most, mean := o.of(); most != c.most || math.Abs(mean-c.mean) > 0.01 {
			t.Errorf("%s: %d at most, %.3f on average", name, most, mean)
		}
	}
}

// Values of a log that are others in a further call are no constants; of lists of other lengths none is.
func TestValuesVary(t *testing.T) {
	l := &ledger{known: map[string]int{}, sessions: map[string]*open{}}
	for _, values := range [][][]string{{{"1", "2"}, {"'x'"}}, {{"1", "3"}, {"'x'"}}, {{"1", "2"}, {"'x'"}}} {
		l.take(filewise.LoggedStatement{Session: "1", Text: "SELECT", Key: "k", Values: values})
	}
	texts := func() (all []string) {
		for _, l := range l.kinds[0].values[0].of {
			all = append(all, fmt.Sprint(l.text, l.seen))
		}
		return all
	}
	if got := fmt.Sprint(texts()); got != "[1map[] map[2:2 3:1] 'x'map[]]" {
		t.Error(got)
	}
	l.take(filewise.LoggedStatement{Session: "1", Text: "SELECT", Key: "k", Values: [][]string{{"1"}, {"'x'"}}})
	if got := fmt.Sprint(texts()); got != "[map[] map[] 'x'map[]]" {
		t.Error(got)
	}
}

// A constant part of a key chooses the parent's row with the parts after it, anew in each row. In a column whose values are
// withheld by its statistics a program's codes stay, and nothing else does.
func TestConstantsOfKeys(t *testing.T) {
	x := filewise.ValueUse{Table: "t", Column: "x", Use: filewise.UseInsert}
	y := x
	y.Column = "y"
	s := studyOf(t, []string{"7", "", "8", ""}, 20, []string{"INSERT ", "/", "/", "/", ""}, x, y, x, y)
	if text := s.Transactions[0].SQL[0]; strings.Count(text, "WHERE k = 7 AND l >= :t_y_insert)") != 1 ||
		strings.Count(text, "WHERE k = 8 AND l >= :t_y_insert_2)") != 1 {
		t.Error(text)
	}
	table := filewise.TableFacts{Name: "t"}
	for _, c := range []struct {
		value, why string
		calls      float64
		kept       bool
	}{{"'100'", rare, 20, true}, {"'RV_BELEG  '", single, 20, true}, {"'RV_BELEG'", single, 19, false}, {"'MUELLER'", single, 20, false},
		{"'100'", "by its name", 20, false}} {
		s := statement{taking: &taking{why: map[string]string{"t.c": c.why}}, kind: &kind{calls: c.calls}}
		use := filewise.ValueUse{Constant: c.value, Use: filewise.UseEqual}
		if kept := s.constant(use, filewise.ColumnFacts{Name: "c"}, table); kept != c.kept {
			t.Errorf("%+v: %v", c, kept)
		}
	}
}

// A number that every call of a log has anew is a new key by itself, whatever other columns its key has.
func TestNewKeysOfALog(t *testing.T) {
	for step, want := range map[int]string{1: "{sequential: {from: 1000101}}", 0: "{int: {from: 101, to: 2000100}}"} {
		l := &ledger{known: map[string]int{}, sessions: map[string]*open{}}
		for i := range 30 {
			l.take(filewise.LoggedStatement{Session: "1", Text: "INSERT", Key: "k", Values: [][]string{{fmt.Sprint(500 + i/2 + step*i)}}})
		}
		s := statement{taking: &taking{drawn: map[string]string{}}, kind: &l.kinds[0], linked: map[at]link{}, inserted: map[string]int{}}
		s.tables = map[string]filewise.TableFacts{"t": {Name: "t", Table: "t", Columns: []filewise.ColumnFacts{{Name: "no", Said: "decimal(10,0)",
			Type: filewise.TypeWhole, Unique: true, Composite: true, Low: "1", High: "100"}}}}
		_, problem := s.value(filewise.ValueUse{Table: "t", Column: "no", Use: filewise.UseInsert})
		if problem != "" || s.Parameters[0].Draw != want {
			t.Errorf("%s %+v, want %s", problem, s.Parameters, want)
		}
	}
}

// What a function makes a new key of is another text in each row: no one of the few that a log has.
func TestNewKeysOfAFunction(t *testing.T) {
	for value, want := range map[string]string{"'new%d'": "{text: {from: 16, to: 16}}", "%d": "{int: {from: 1, to: 999999999999999}}"} {
		l := &ledger{known: map[string]int{}, sessions: map[string]*open{}}
		use := filewise.ValueUse{Table: "t", Part: "token"}
		for i := range 9 {
			l.take(filewise.LoggedStatement{Session: "1", Text: "INSERT", Key: "k", Values: [][]string{{fmt.Sprintf(value, i)}}})
		}
		if value[0] != '%' {
			use.Type = filewise.TypeText
		}
		s := statement{taking: &taking{drawn: map[string]string{}}, kind: &l.kinds[0]}
		s.tables = map[string]filewise.TableFacts{"t": {Name: "t", Table: "t", Columns: []filewise.ColumnFacts{{Name: "token", Said: "binary(16)",
			Type: filewise.TypeText, Unique: true, Most: 16}}}}
		if text, _ := s.value(use); text != ":t_token_part" || s.Parameters[0].Draw != want {
			t.Errorf("%s %+v, want %s", text, s.Parameters, want)
		}
	}
}

// A row that refers to another one of its table refers to one that is there, in a form that MySQL takes, too.
func TestKeysOfOwnTable(t *testing.T) {
	c := filewise.ColumnFacts{Name: "parent", Parent: "`t`", ParentKey: "`id`", ParentTable: "t", ParentColumn: "id"}
	const want = "COALESCE((SELECT k FROM (SELECT `id` AS k FROM `t` WHERE `id` >= :x ORDER BY `id` LIMIT 1) x), " +
		"(SELECT k FROM (SELECT `id` AS k FROM `t` ORDER BY `id` DESC LIMIT 1) x))"
	if got := new(statement).existing(filewise.TableFacts{Table: "t"}, c, ":x"); got != want {
		t.Error(got)
	}
}

// watched answers with a shape for each text.
type watched struct {
	asked
	shapes map[string]filewise.Shape
}

func (w watched) Shape(ctx context.Context, text string, constants []string) (filewise.Shape, error) {
	return asked{shape: w.shapes[text]}.Shape(ctx, text, constants)
}

// What was equal in all calls of a transaction is drawn once: the row that is read is changed, and lines are of the new row. What stands
// against no column is one of the log's own values, unless they may be a person's.
func TestValuesBelongTogether(t *testing.T) {
	value := func(table, column string, use filewise.Use) filewise.ValueUse {
		return filewise.ValueUse{Table: table, Column: column, Use: use}
	}
	shapes := map[string]filewise.Shape{}
	add := func(text string, tables []string, values ...filewise.ValueUse) {
		pieces := append(slices.Repeat([]string{text + " "}, len(values)), "")
		shapes[text] = filewise.Shape{Pieces: pieces, Values: values, Tables: tables}
	}
	add("SELECT p", []string{"p"}, value("p", "id", filewise.UseEqual))
	add("UPDATE t", []string{"t"}, value("t", "a", filewise.UseEqual), filewise.ValueUse{}, filewise.ValueUse{Type: filewise.TypeText})
	add("INSERT t", []string{"t"}, value("t", "b", filewise.UseInsert))
	l := &ledger{known: map[string]int{}, sessions: map[string]*open{}}
	for i := range 60 {
		for _, s := range []struct {
			text   string
			values []string
		}{{"BEGIN", nil}, {"SELECT p", []string{fmt.Sprintf("'%d'", i)}}, {"UPDATE t", []string{fmt.Sprint(i), fmt.Sprint(3 * i),
			fmt.Sprintf("'%c'", 'x'+i%2)}}, {"INSERT t", []string{fmt.Sprint(i)}}, {"COMMIT", nil}} {
			l.take(filewise.LoggedStatement{Session: "1", Text: s.text, Key: s.text, Values: [][]string{s.values}})
		}
	}
	x := &taking{why: map[string]string{}, watcher: watched{shapes: shapes}}
	x.Calls = 60
	kinds, err := x.shape(t.Context(), l.kinds)
	if err != nil || len(kinds) != 1 {
		t.Fatal(err, kinds)
	}
	if err := x.facts(t.Context(), kinds); err != nil {
		t.Fatal(err)
	}
	x.write(kinds)
	const want = "SELECT p :p_id|UPDATE t :p_idUPDATE t :valueUPDATE t :text|" +
		"INSERT t COALESCE((SELECT MIN(id) FROM p WHERE id >= :p_id), (SELECT MAX(id) FROM p))"
	if got := strings.Join(x.Transactions[0].SQL, "|"); got != want || len(x.Fill) > 0 {
		t.Errorf("%s, to be filled in: %v", got, x.Fill)
	}
	draws := fmt.Sprint(x.Parameters)
	if !strings.Contains(draws, "value {int: {from: 0, to: 147}}") || !strings.Contains(draws, `text {choice: {"x": 30, "y": 30}}`) {
		t.Error(draws)
	}
	for text, want := range map[string]bool{"'ada@example.org' 'bob@example.org'": false, "'a' 'b' 'c'": false, "0x1 0x2": false,
		"'00000000-0000-4000-8000-000000000001' '00000000-0000-4000-8000-000000000002'": true, "1.5 2": true,
		"'2026-01-01' '2026-01-02'": true, "'00000000000040008000000000000001' '00000000000040008000000000000002'": true,
		"'POLYGON((1,2.5,-3,4))' 'POLYGON((1,2))'": true, "'POINT(1,2)' 'POINT(3,4)'": false} {
		l := logged{seen: map[string]float64{}}
		for _, v := range strings.Fields(text) {
			l.seen[v] = 1
		}
		if _, ok := l.draw(filewise.TypeUnknown); ok != want {
			t.Errorf("%s: %v", text, ok)
		}
	}
}

// Names of tables are keys of YAML, whatever is in them.
func TestNamesAreKeys(t *testing.T) {
	for name, want := range map[string]string{"orders": "orders", "on": `"on"`, `Größe "x": #`: `"Größe \"x\": #"`, "7": `"7"`} {
		if got := named(name); got != want {
			t.Errorf("%s: %s instead of %s", name, got, want)
		}
	}
}

// New keys begin beyond the reach of clients that go on until the copy is taken, within the type.
func TestFreshKeys(t *testing.T) {
	for _, c := range []struct {
		said, high, want string
	}{{"bigint", "5000", "{sequential: {from: 1005001}}"}, {"int(11)", "3000000", "{sequential: {from: 6000000}}"},
		{"integer", "2147483000", "{sequential: {from: 2147483324}}"}, {"smallint", "32767", "{sequential: {from: 32768}}"},
		{"tinyint(4)", "27", "{sequential: {from: 78}}"}} {
		d := drawing{ColumnFacts: filewise.ColumnFacts{Type: filewise.TypeWhole, Said: c.said, Low: "1", High: c.high, Unique: true},
			use: filewise.UseInsert, known: true}
		if got, _ := d.draw(); got != c.want {
			t.Errorf("%s of %s: %s instead of %s", c.high, c.said, got, c.want)
		}
	}
}

// Tables that cannot be divided are in the study for a kind that leaves them whole: commented out if others can be
// divided.
func TestWholeTablesAreNamed(t *testing.T) {
	s := Study{Tables: []Table{{Name: "order", Key: "id", Whole: "it has part in a foreign key", Alone: filewise.KindPerTable},
		{Name: "on", Key: "a", Whole: "so has it", Alone: filewise.KindPerTable}, {Name: "seen", Whole: "it is a view"}}}
	if text := s.YAML(); !strings.Contains(text, "  tables:\n") ||
		!strings.Contains(text, "\n  - {kind: per-table, files: 2, volumes: a+b}\n") ||
		!strings.Contains(text, "\n    order: id # ") || !strings.Contains(text, "\n    \"on\": a # ") || strings.Contains(text, "    seen:") {
		t.Error(text)
	}
	s.Tables = append(s.Tables, Table{Name: "rows", Key: "id"})
	if text := s.YAML(); !strings.Contains(text, "  tables:\n    rows: id") || !strings.Contains(text, "\n    #order: id # ") ||
		!strings.Contains(text, "files=3,") {
		t.Error(text)
	}
}

// The study covers what begins and ends its transactions, but not what was rolled back.
func TestControlsAreCovered(t *testing.T) {
	for text, want := range map[string]bool{"COMMIT": true, "BEGIN": true, rolledBack: false, undone: false, "SELECT a": false,
		"PREPARE p AS SELECT a": false, "FETCH c": true} {
		if got := (kind{texts: []string{text}}).control(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	x := &taking{controlTime: 4, controls: 6}
	x.Time, x.Calls = 10, 12
	if x.write([]kind{{texts: []string{"SELECT a"}, keys: []string{"SELECT a"}, calls: 6, seconds: 6,
		shapes: []filewise.Shape{{Pieces: []string{"SELECT a"}}}}}); x.Covered != 1 {
		t.Errorf("covers %v", x.Covered)
	}
	x.leave(kind{texts: []string{"COMMIT"}, keys: []string{"COMMIT"}, calls: 6, seconds: 4}, "begun and ended")
	x.leave(kind{texts: []string{"PREPARE p"}, keys: []string{"PREPARE p"}, calls: 1, seconds: 1}, "prepared")
	head := strings.Join(x.Account(), "\n")
	if !strings.Contains(head, "covered like the rest:\n  50.0 % of the calls, 40.0 % of the time: begun") ||
		!strings.Contains(head, "Left out:\n  8.3 % of the calls, 10.0 % of the time: prepared") {
		t.Error(head)
	}
}

// A statement begins behind the comments before it, also behind nested ones.
func TestFirstWord(t *testing.T) {
	for text, want := range map[string]string{"/* a /* b */ c */ SELECT 1": "SELECT", "/* a /* b */ SELECT 1 /* c */": "SELECT",
		"-- a\n# b\n/**/update t": "UPDATE", "/* a /* b /* c */ */ */ DELETE": "DELETE", "/* a": "", "": ""} {
		if got := firstWord(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Constants that are compared alone are false if nothing was found, and listed to be looked at.
func TestConstantsAlone(t *testing.T) {
	for rows, want := range map[float64]string{0: "1=0", 50: "1=1"} {
		x := &taking{drawn: map[string]string{}}
		shape := filewise.Shape{Pieces: []string{"SELECT a FROM t WHERE ", "=", ""}, Values: []filewise.ValueUse{{Literal: "1"},
			{Literal: "1", Use: filewise.UseOther}}}
		text, problem := x.statement(&kind{calls: 10, rows: rows, shapes: []filewise.Shape{shape}}, 0, map[at]link{}, map[string]int{})
		if text != "SELECT a FROM t WHERE "+want || problem != "" || len(x.Fill) != 1 {
			t.Errorf("%s, %s: %+v", text, problem, x.Fill)
		}
	}
}

// What is to be filled in is of statements that are in the study.
func TestFillOfWhatIsLeft(t *testing.T) {
	x := &taking{}
	shape := filewise.Shape{Pieces: []string{"SELECT ", ", ", ""}, Values: []filewise.ValueUse{{Type: filewise.TypeText}, {Said: "text[]"}}}
	x.write([]kind{{texts: []string{"SELECT"}, keys: []string{"SELECT"}, calls: 1, shapes: []filewise.Shape{shape}}})
	if len(x.Fill) != 0 || len(x.Left) != 1 {
		t.Errorf("%+v, %+v", x.Fill, x.Left)
	}
}

// A statement that reads a session's variable is left out, since it would find nothing.
func TestVariables(t *testing.T) {
	for text, want := range map[string]bool{"SELECT a FROM t WHERE b = @x": true, "SELECT `@x`, @`y`": true, "SELECT @@sql_mode, a@b": false,
		"SELECT @n := @n + ? FROM t": false, "SELECT a @> ? AND b @@ c": false} {
		x := &taking{watcher: asked{shape: filewise.Shape{Pieces: []string{text}, Tables: []string{"t"}}}}
		why, err := x.shapeOne(t.Context(), &kind{texts: []string{"SELECT 1"}})
		if err != nil || strings.Contains(why, "reads a variable") != want {
			t.Errorf("%s: %q, %v", text, why, err)
		}
	}
}

// given is a log of a session's statements, of a second each; ~ before one: the next is of its text.
type given struct {
	Capturer
	statements []string
}

func (g given) ReadLog(_ io.Reader, _ string, each func(filewise.LoggedStatement)) error {
	for _, s := range g.statements {
		text, together := strings.CutPrefix(s, "~")
		each(filewise.LoggedStatement{Session: "1", Text: text, Key: text, Seconds: float64(min(len(text), 1)), Together: together,
			Failed: text == "fails"})
	}
	return nil
}

// Statements are of the transaction that the server had them in, and no second of a log is lost.
func TestTransactionsOfALog(t *testing.T) {
	for log, want := range map[string]string{
		"BEGIN|INSERT a|SAVEPOINT s1|INSERT b|ROLLBACK TO SAVEPOINT s1|UPDATE c|COMMIT":     "INSERT a,UPDATE c 1 5s|" + undone + " 0 2s",
		"BEGIN|INSERT a|SAVEPOINT x|SAVEPOINT y|INSERT b|ROLLBACK WORK TO x|END":            "INSERT a 1 4s|" + undone + " 0 3s",
		"BEGIN|SAVEPOINT s|INSERT a|RELEASE SAVEPOINT s|rollback to s|COMMIT":               "INSERT a 1 6s",
		"BEGIN|INSERT a|ROLLBACK|SELECT b":                                                  rolledBack + " 1 3s|SELECT b 1 1s",
		"-- so\nBEGIN|/* x */ # y\nINSERT a|--\nCOMMIT|SELECT b":                            "/* x */ # y\nINSERT a 1 3s|SELECT b 1 1s",
		"SET autocommit=0|INSERT a|UPDATE b|COMMIT|DELETE c|SET @@autocommit = ON|DELETE c": "DELETE c 2 3s|INSERT a,UPDATE b 1 4s",
		"SET GLOBAL autocommit=0|INSERT a|INSERT a":                                         "INSERT a 2 2s|SET 1 1s",
		"BEGIN|INSERT a|BEGIN|INSERT b|COMMIT AND CHAIN|INSERT c":                           "INSERT a 1 2s|INSERT b 1 3s|" + notEnded + " 1 1s",
		"BEGIN|COMMIT|SAVEPOINT a|SELECT b":                                                 "COMMIT 1 2s|SAVEPOINT 1 1s|SELECT b 1 1s",
		"~UPDATE a|~UPDATE b|SET c|UPDATE d":                                                "UPDATE a,UPDATE b 1 3s|UPDATE d 1 1s",
		"~BEGIN|~UPDATE a|COMMIT|SELECT b|SELECT b":                                         "SELECT b 2 2s|UPDATE a 1 3s",
		"BEGIN|INSERT a|fails|COMMIT|fails|SELECT b":                                        rolledBack + " 1 3s|SELECT b 1 1s",
		"BEGIN|INSERT a|SAVEPOINT s|INSERT b|fails|ROLLBACK TO s|UPDATE c|COMMIT":           "INSERT a,UPDATE c 1 5s|" + undone + " 0 2s",
		"BEGIN|INSERT a||SELECT b":                                                          rolledBack + " 1 2s|SELECT b 1 1s",
		"SELECT a|FETCH c|CLOSE c|BEGIN|FETCH d|INSERT b|COMMIT":                            "INSERT b 1 4s|SELECT a 1 3s",
		"START SLAVE|BEGIN NOT ATOMIC DELETE a":                                             "BEGIN NOT ATOMIC DELETE a 1 1s|START SLAVE 1 1s",
	} {
		kinds, err := new(taking).readLog(context.Background(), given{statements: strings.Split(log, "|")}, nil)
		var got []string
		for _, k := range kinds {
			got = append(got, fmt.Sprintf("%s %.0f %.0fs", strings.Join(k.texts, ","), k.calls, k.seconds))
		}
		slices.Sort(got)
		if strings.Join(got, "|") != want || err != nil {
			t.Errorf("%s\nbecomes %s\nnot     %s (%v)", log, strings.Join(got, "|"), want, err)
		}
	}
}

// Work that a study cannot repeat is left out with its own reason.
func TestNotRepeated(t *testing.T) {
	for text, want := range map[string]string{"COPY a FROM STDIN": "no files", "load data infile 'a' into table a": "no files",
		"DO $$ BEGIN END $$": "no block", "ANALYZE a": "no work on rows"} {
		if why, err := new(taking).shapeOne(t.Context(), &kind{texts: []string{text}}); err != nil || !strings.Contains(why, want) {
			t.Errorf("%s: %s, %v", text, why, err)
		}
	}
}

// halting gives no answer to one statement.
type halting struct{ asked }

func (halting) Shape(context.Context, string, []string) (filewise.Shape, error) {
	return filewise.Shape{}, filewise.ErrNoAnswer
}

func (halting) Sessions(context.Context) (active, connected int, err error) { return 1, 1, nil }

// A statement to which a server that answers other questions gives no answer is left out. MySQL 8.0.31 gives none if a parameter
// stands behind GROUP BY and HAVING follows.
func TestSilentStatement(t *testing.T) {
	x := &taking{watcher: halting{}}
	why, err := x.shapeOne(t.Context(), &kind{texts: []string{"SELECT 1"}, keys: []string{""}})
	if err != nil || !strings.Contains(why, "is silent") {
		t.Error(why, err)
	}
}

// mute returns no table.
type mute struct{ Watcher }

func (mute) Table(context.Context, string, func(string) bool) (filewise.TableFacts, error) {
	return filewise.TableFacts{}, errors.New("no answer\nwithin 4s")
}

// Facts read of statements are kept if a question about their tables fails, and the study reports which.
func TestUnreadTables(t *testing.T) {
	x := &taking{watcher: mute{}, why: map[string]string{}}
	x.Calls = 1
	kinds := []kind{{texts: []string{"SELECT a FROM big WHERE b = ?"}, keys: []string{""}, calls: 1,
		shapes: []filewise.Shape{{Tables: []string{"big"}, Pieces: []string{"SELECT a FROM big WHERE b = ", ""},
			Values: []filewise.ValueUse{{Column: "b", Type: filewise.TypeWhole}}}}}}
	if err := x.facts(t.Context(), kinds); err != nil {
		t.Fatal(err)
	}
	x.write(kinds)
	if text := x.YAML(); len(x.Transactions) != 1 || !strings.Contains(text, "#   table big: no answer within 4s") {
		t.Error(text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.facts(ctx, kinds); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
