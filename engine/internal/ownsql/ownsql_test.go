package ownsql

import (
	"slices"
	"strings"
	"testing"

	"filewise"
)

var (
	plain    = Rules{Brackets: true}
	mysql    = Rules{Backslash: true, Hash: true, Qualified: true}
	postgres = Rules{Dollar: true, Numbered: true}
)

func own(text string) *filewise.OwnSQL {
	return &filewise.OwnSQL{
		Tables:   []filewise.OwnTable{{Name: "t", Key: "id"}},
		Setup:    []filewise.OwnText{{Text: text, File: "f", Line: 10}},
		Sections: map[string]filewise.OwnSection{"s": {Params: []string{"a", "b"}, Texts: []filewise.OwnText{{Text: text, File: "f", Line: 10}}}},
	}
}

func TestSection(t *testing.T) {
	for _, c := range []struct {
		rules      Rules
		text, want string
		order      []int
	}{
		{plain, "SELECT :b, :a, :b", "SELECT ?, ?, ?", []int{1, 0, 1}},
		{postgres, "SELECT :b, :a::int, :b", "SELECT $1, $2::int, $1", []int{1, 0}},
		{plain, "SELECT ':a', \":a\", `:a`, [:a] -- :a\n, :a /* :a */", "SELECT ':a', \":a\", `:a`, [:a] -- :a\n, ? /* :a */", []int{0}},
		{plain, "SELECT 'it''s :a', :a", "SELECT 'it''s :a', ?", []int{0}},
		{mysql, `SELECT 'it\'s :a', :a # :a`, `SELECT 'it\'s :a', ? # :a`, []int{0}},
		{mysql, "SELECT 5--3, :a", "SELECT 5--3, ?", []int{0}},
		{postgres, `SELECT 'it\', :a`, `SELECT 'it\', $1`, []int{0}},
		{postgres, `SELECT E'it\' :a', x[1:b], $q$ :a ; $q$, :a`, `SELECT E'it\' :a', x[1:b], $q$ :a ; $q$, $1`, []int{0}},
		{postgres, "SELECT /* a /* b */ :a */ :b", "SELECT /* a /* b */ :a */ $1", []int{1}},
	} {
		all, err := c.rules.Section(own(c.text), "s")
		if err != nil || len(all) != 1 || all[0].Text != c.want || !slices.Equal(all[0].Order, c.order) {
			t.Errorf("%s: %+v, %v", c.text, all, err)
		}
	}
	all, err := plain.Section(own("SELECT 1;\n\n -- why\nSELECT ';';\n;"), "s")
	if err != nil || len(all) != 2 || all[0].Place != "f:10" || all[1].Place != "f:13" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := plain.Section(own("SELECT\n :c"), "s"); err == nil || !strings.Contains(err.Error(), "f:11: parameter :c is unknown") {
		t.Error(err)
	}
}

func TestChance(t *testing.T) {
	o := own("")
	section := o.Sections["s"]
	section.Drawn = []string{"b"}
	for text, want := range map[string]bool{
		"INSERT INTO t VALUES (1, ':b')":         false,
		"INSERT INTO t VALUES (:a, 1)":           false,
		"INSERT INTO t VALUES (:a, :b)":          true,
		"INSERT INTO t VALUES (random(), 1)":     true,
		"INSERT INTO t SELECT MAX(i) + 1 FROM t": true,
	} {
		section.Texts = []filewise.OwnText{{Text: text, File: "f", Line: 1}}
		o.Sections["s"] = section
		if all, err := postgres.Section(o, "s"); err != nil || all[0].Chance != want {
			t.Errorf("%s: %+v, %v", text, all, err)
		}
	}
}

func TestRefuse(t *testing.T) {
	for _, text := range []string{"USE other", "drop  database x", "/* hm */ Drop\nSchema x", "ATTACH 'x' AS y", "ALTER SYSTEM SET a = 1", "SET GLOBAL a = 1", "COMMIT", "BEGIN",
		"SELECT 1 INTO OUTFILE '/x'", "COPY t FROM PROGRAM 'x'", "GRANT ALL ON x TO y", "CREATE TABLESPACE x", "SELECT 1; KILL 3"} {
		if _, err := mysql.Section(own(text), "s"); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"DROP TABLE other.t", "TRUNCATE `other`.`t`", "/*!50000 DROP DATABASE x */", "SELECT 1 /*M! , 2 */"} {
		if _, err := mysql.Section(own(text), "s"); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"SELECT 'DROP DATABASE x'", "UPDATE t SET used = 1", "SELECT a.b FROM a", "INSERT INTO program VALUES (1)", "SELECT grant_date FROM t"} {
		if _, err := mysql.Section(own(text), "s"); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSetup(t *testing.T) {
	site := Site{Shard: 1, Shards: 3, Spread: map[string]Place{"t": {Clause: "HERE", After: []string{"AFTER"}}}}
	all, err := plain.Setup(own("CREATE TABLE t (id INT) {{spread \"t\"}};\nINSERT INTO t SELECT {{.Shard}}, {{.Shards}}, ':x'"), site)
	var texts []string
	for _, s := range all {
		texts = append(texts, s.Place+" "+s.Text)
	}
	if want := []string{"f:10 CREATE TABLE t (id INT) HERE", "f:10 AFTER", "f:11 INSERT INTO t SELECT 1, 3, ':x'"}; err != nil || !slices.Equal(texts, want) {
		t.Errorf("%q, %v", texts, err)
	}
	for text, says := range map[string]string{
		"CREATE TABLE t (id INT)": "does not say where the layout puts table t",
		"{{spread \"u\"}}":        `no table "u"`,
		"{{.Nothing}}":            "set-up",
		"{{":                      "set-up",
		"DROP DATABASE x":         "DROP DATABASE is refused",
	} {
		if _, err := plain.Setup(own(text), site); err == nil || !strings.Contains(err.Error(), says) || filewise.RemedyOf(err) == "" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzScan: the pieces together are the text, whatever the rules.
func FuzzScan(f *testing.F) {
	for _, text := range []string{"SELECT :a", "'", "$$", "/*", "a[1:b]", `E'\'`, "--", "::x", "$1$"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range []Rules{plain, mysql, postgres} {
			var b strings.Builder
			for _, p := range r.scan(text) {
				if p.kind == pieceParam {
					b.WriteByte(':')
				}
				b.WriteString(p.text)
			}
			if b.String() != text {
				t.Errorf("%q becomes %q", text, b.String())
			}
		}
	})
}
