package capture

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"filewise"
)

// logs is a log of statements that differ.
type logs struct {
	filewise.Capturer
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
		if _, err := new(taking).readLog(logs{words: c.words, n: c.n}); (err == nil) != c.fits {
			t.Errorf("%d of %q: %v", c.n, c.words[:1], err)
		}
	}
}

// What was rolled back, and what an earlier capture asked, is said to be that.
func TestNoWorkInALog(t *testing.T) {
	x := new(taking)
	kinds, err := x.readLog(logs{words: []string{"BEGIN ", "SELECT ", "ROLLBACK ", "SELECT MIN(filewise_v) FROM"}, n: 4})
	if err != nil || len(kinds) != 2 {
		t.Fatalf("%+v, %v", kinds, err)
	}
	kept, err := x.shape(t.Context(), kinds)
	if text := fmt.Sprintf("%+v", x); err != nil || len(kept) > 0 || !strings.Contains(text, "rolled back have left nothing") ||
		!strings.Contains(text, "Filewise's own look") {
		t.Errorf("%+v kept, %v: %.900s", kept, err, text)
	}
}

// Columns of persons are known by their names; keys and states are not taken for them.
func TestPersonal(t *testing.T) {
	for column, want := range map[string]bool{"email": true, "customerName": true, "birth_date": true, "Geburtsname": true, "ip": true,
		"phone2": true, "user_id": false, "id": false, "status": false, "tax_id": true, "created_at": false, "shipped": false, "state": false,
		"region": false, "amount": false, "an_ort": true, "port": false, "ship": false} {
		if personal(column) != want {
			t.Errorf("%s: %v", column, !want)
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

// New keys begin where clients that go on until the copy is taken do not come, within the type.
func TestFreshKeys(t *testing.T) {
	for _, c := range []struct {
		said, high, want string
	}{{"bigint", "5000", "{sequential: {from: 1005001}}"}, {"int(11)", "3000000", "{sequential: {from: 6000000}}"},
		{"integer", "2147483000", "{sequential: {from: 2147483324}}"}, {"smallint", "32767", "{sequential: {from: 32768}}"},
		{"tinyint(4)", "27", "{sequential: {from: 78}}"}} {
		d := drawing{ColumnFacts: filewise.ColumnFacts{Type: filewise.TypeWhole, Said: c.said, Low: "1", High: c.high, Unique: true},
			use: filewise.UseInsert}
		if got, _ := d.draw(); got != c.want {
			t.Errorf("%s of %s: %s instead of %s", c.high, c.said, got, c.want)
		}
	}
}

// Where no table can be divided, the study names them for kinds that leave tables whole.
func TestWholeTablesAreNamed(t *testing.T) {
	s := Study{Tables: []Table{{Name: "order", Key: "id", Whole: "it has part in a foreign key"}, {Name: "on", Key: "a", Whole: "so has it"}}}
	if text := s.YAML(); !strings.Contains(text, "  #tables:\n  #  order: id\n  #  \"on\": a\n") {
		t.Error(text)
	}
	s.Tables = append(s.Tables, Table{Name: "rows", Key: "id"})
	if text := s.YAML(); strings.Contains(text, "#tables") || !strings.Contains(text, "  tables:\n    rows: id") {
		t.Error(text)
	}
}
