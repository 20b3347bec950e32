package customsql

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"filewise"
)

// A statement is its pieces with its values, each with what it is for.
func TestShape(t *testing.T) {
	columns := func(string) ([]string, error) { return []string{"a", "b", "c"}, nil }
	for _, x := range []struct {
		rules      Rules
		text, want string
	}{
		{postgres, "SELECT * FROM orders o WHERE o.id = $1 AND note <> 'it''s' LIMIT $2;",
			"SELECT * FROM orders o WHERE o.id = <orders.id equal> AND note <> <orders.note other> LIMIT <. limit>"},
		{postgres, "SELECT sum(x) FROM a, sales.b WHERE a.id=b.a_id AND b.at BETWEEN $1 AND $2 ORDER BY 2",
			"SELECT sum(x) FROM a, sales.b WHERE a.id=b.a_id AND b.at BETWEEN <sales.b.at lower> AND <sales.b.at upper> ORDER BY 2"},
		{postgres, "INSERT INTO t (a, b) VALUES ('5'::int, $1::timestamptz)",
			"INSERT INTO t (a, b) VALUES (<t.a insert>::int, <t.b insert>::timestamptz)"},
		{postgres, `INSERT INTO "Ödere" (id, "an Wen") VALUES ($1, E'x') -- so`,
			`INSERT INTO "Ödere" (id, "an Wen") VALUES (<Ödere.id insert>, <Ödere.an Wen insert>)`},
		{postgres, "UPDATE t SET n = n + $1, m = $2 WHERE id = $3 AND $4 < t.at",
			"UPDATE t SET n = n + <t.n add>, m = <t.m set> WHERE id = <t.id equal> AND <t.at lower> < t.at"},
		{postgres, "SELECT data ? $1, now() - interval $2 FROM t WHERE a IN ($3 /*, ... */)",
			"SELECT data ? <. >, now() - interval <. span> FROM t WHERE a IN (<t.a other> )"},
		{postgres, "SELECT CAST(a AS numeric(10, 2)) FROM t WHERE lower(name) LIKE $1",
			"SELECT CAST(a AS numeric(10, 2)) FROM t WHERE lower(name) LIKE <t.name pattern>"},
		{postgres, `SELECT a FROM t WHERE t.a::text ILIKE $1 AND b::timestamp with time zone > $2 AND (t.c)::"s"."d" = $3 ` +
			"AND d::numeric(9,2) < $4 AND f(a::text, b) = $5", `SELECT a FROM t WHERE t.a::text ILIKE <t.a pattern> AND ` +
			`b::timestamp with time zone > <t.b lower> AND (t.c)::"s"."d" = <t.c equal> ` +
			`AND d::numeric(9,2) < <t.d upper> AND f(a::text, b) = <. equal>`},
		{postgres, `UPDATE "t" SET "n" = COALESCE("n", $1) + $2 WHERE COALESCE(t.a, $3) > $4`,
			`UPDATE "t" SET "n" = COALESCE("n", <t.n other>) + <t.n add> WHERE COALESCE(t.a, <t.a other>) > <t.a lower>`},
		{mysql, "SELECT BIN_TO_UUID(a) FROM t WHERE b = UUID_TO_BIN(?)", "SELECT BIN_TO_UUID(a) FROM t WHERE b = UUID_TO_BIN(<. >)"},
		{mysql, "SELECT a FROM t WHERE YEAR(t.at) = ? AND COUNT(a) > ?", "SELECT a FROM t WHERE YEAR(t.at) = <. equal> AND COUNT(a) > <. lower>"},
		{mysql, "SELECT COUNT ( * ) FROM `shop` . `orders` WHERE `id` IN (...) LIMIT ?, ...",
			"SELECT COUNT( * ) FROM `orders` WHERE `id` IN(<orders.id other>, <orders.id other>, <orders.id other>, <orders.id other>, " +
				"<orders.id other>) LIMIT <. offset>,<. limit>"},
		{mysql, "INSERT INTO `t` VALUES (...) ON DUPLICATE KEY UPDATE `b` = ?",
			"INSERT INTO `t` VALUES(<t.a insert>, <t.b insert>, <t.c insert>) ON DUPLICATE KEY UPDATE `b` = <t.b set>"},
		{mysql, "INSERT INTO `t` ( `a` , `b` , `c` ) VALUES ( ? , NOW ( ) , ? )",
			"INSERT INTO `t` ( `a` , `b` , `c` ) VALUES( <t.a insert> , NOW( ) , <t.c insert> )"},
		{mysql, "SELECT `a` FROM `t` WHERE MATCH ( `b` ) AGAINST ( ? ) AND `at` > NOW ( ) - INTERVAL ? SQL_TSI_DAY + INTERVAL 7 HOUR",
			"SELECT `a` FROM `t` WHERE MATCH( `b` ) AGAINST( <. words> ) AND `at` > NOW( ) - INTERVAL <. span=1> SQL_TSI_DAY + " +
				"INTERVAL <. span=7> HOUR"},
		{mysql, "SELECT /*+ NO_ICP(t) */ `a` /* so */ FROM `t` WHERE `b` = ?", "SELECT /*+ NO_ICP(t) */ `a` FROM `t` WHERE `b` = <t.b equal>"},
		{mysql, "SELECT `POINT` (...) FROM `t`", "SELECT `POINT` (<. >, <. >) FROM `t`"},
		{mysql, "SELECT a FROM t WHERE f(a + INTERVAL 3 DAY, 4) ORDER BY FIELD(a, 5, 6), 2",
			"SELECT a FROM t WHERE f(a + INTERVAL <. span=3> DAY, <. >) ORDER BY FIELD(a, <. >, <. >), 2"},
		{mysql, `SELECT "text" FROM t # comment`, "SELECT <. > FROM t"},
		{postgres, "SELECT a FROM t WHERE (a, b) > ($1, $2::int) AND ROW(t.a, c) = ROW($3, 'x') AND ($4, $5) <= (b, c) AND lower(a) > ($6)",
			"SELECT a FROM t WHERE (a, b) > (<t.a lower>, <t.b other>::int) AND ROW(t.a, c) = ROW(<t.a equal>, <t.c equal>) AND " +
				"(<t.b lower>, <t.c other>) <= (b, c) AND lower(a) > (<t.a lower>)"},
		{postgres, "SELECT a FROM t WHERE (a, b) NOT IN (($1, $2), (3, 4)) AND c <> ALL ($5) AND b <> ALL(ARRAY[$6, $7])",
			"SELECT a FROM t WHERE (a, b) NOT IN ((<t.a other>, <t.b other>), (<t.a other>, <t.b other>)) AND c <> ALL (<t.c other>) AND " +
				"b <> ALL(ARRAY[<t.b other>, <t.b other>])"},
		{postgres, "SELECT a FROM t WHERE a @> $1 AND b ~* $2 AND c IN ($3, (1 + $4))",
			"SELECT a FROM t WHERE a @> <. > AND b ~* <t.b pattern> AND c IN (<t.c other>, (<. > + <. >))"},
		{postgres, "UPDATE t SET (a, b) = ($1, $2) WHERE c = $3", "UPDATE t SET (a, b) = (<t.a set>, <t.b set>) WHERE c = <t.c equal>"},
		{mysql, "SELECT `a` FROM `t` WHERE ( `a` , `b` , `c` ) < (...) AND ( `a` , `b` ) IN ( (...) )",
			"SELECT `a` FROM `t` WHERE( `a` , `b` , `c` ) < (<t.a upper>, <t.b other>, <t.c other>) " +
				"AND( `a` , `b` ) IN( (<t.a other>, <t.b other>) )"},
		{transact, "SELECT TOP (10) @@ROWCOUNT FROM [dbo].[Or]]ders] AS O WITH (NOLOCK) WHERE o.[Id] = @id AND status=N'open' AND @Id < o.day",
			"SELECT TOP (<. limit>) @@ROWCOUNT FROM [dbo].[Or]]ders] AS O WITH (NOLOCK) WHERE o.[Id] = <dbo.Or]ders.Id equal> AND " +
				"status=<dbo.Or]ders.status equal> AND <dbo.Or]ders.day lower> < o.day"},
		{transact, "INSERT Shop.dbo.t (a, b) OUTPUT inserted.a VALUES (1, @x)",
			"INSERT dbo.t (a, b) OUTPUT inserted.a VALUES (<dbo.t.a insert>, <dbo.t.b insert>)"},
		{transact, "UPDATE o SET n += 1, d = DATEADD(day, 7, @d) FROM shop..t o WHERE o.k = 5 OPTION (MAXDOP 1)",
			"UPDATE o SET n += <t.n add>, d = DATEADD(day, <. >, <. >) FROM t o WHERE o.k = <t.k equal> OPTION (MAXDOP <. >)"},
		{transact, "DELETE TOP (@n) t WHERE a IN (?, ?) ORDER BY a OFFSET 5 ROWS FETCH NEXT 7 ROWS ONLY",
			"DELETE TOP (<. limit>) t WHERE a IN (<t.a other>, <t.a other>) ORDER BY a OFFSET <. offset> ROWS FETCH NEXT <. limit> ROWS ONLY"},
		{oracle, `select /*+ FULL(o) */ o.a$1 FROM Shop.Order# o WHERE o.id = :1 AND "q" = :name AND :Name < o.b AND ROWNUM <= 10 FOR UPDATE`,
			`select /*+ FULL(o) */ o.a$1 FROM Shop.Order# o WHERE o.id = <SHOP.ORDER#.ID equal> AND "q" = <SHOP.ORDER#.q equal> AND ` +
				"<SHOP.ORDER#.B lower> < o.b AND ROWNUM <= <. limit> FOR UPDATE"},
	} {
		s, err := x.rules.Shape(x.text, "shop", columns)
		if got := shown(s); got != x.want || err != nil {
			t.Errorf("%s\nbecomes %s\nnot     %s (%v)", x.text, got, x.want, err)
		}
	}
}

// To what a span of time is added is a moment.
func TestMoments(t *testing.T) {
	s, err := mysql.Shape("INSERT INTO `t` ( `d` ) VALUES ( ? + INTERVAL ? DAY )", "", nil)
	if err != nil || s.Values[0].Type != filewise.TypeTime || s.Values[0].Part != "d" || s.Values[1].Use != filewise.UseSpan {
		t.Errorf("%+v, %v", s.Values, err)
	}
}

// What is a constant of the program's stays one; of what a server does not report, it is one that does.
func TestConstants(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE 1=1 AND a = 5 AND (1 = 0 OR 'x' = 'x')": "SELECT a FROM t WHERE 1=1 AND a = ? AND (1 = 0 OR 1 = 1)",
		"SELECT a FROM t WHERE $1=$2 OR a = $3 OR ($4 = $5)":           "SELECT a FROM t WHERE 1=0 OR a = ? OR (1 = 1)",
		"SELECT a FROM t WHERE a = $1 OR $2 = $3 AND b = $4":           "SELECT a FROM t WHERE a = ? OR 1 = 1 AND b = ?",
		"SELECT a FROM t WHERE NOT $2 = $3 OR a = $4":                  "SELECT a FROM t WHERE NOT 1 = 1 OR a = ?",
		"SELECT nextval('s'), setval('s'::regclass, 7)":                "SELECT nextval('s'), setval('s'::regclass, ?)",
		"SELECT a FROM t WHERE $1=$2 AND a = $3":                       "SELECT a FROM t WHERE 1=1 AND a = ?",
		"SELECT a FROM t WHERE b BETWEEN 1 AND 2 AND 7 = a":            "SELECT a FROM t WHERE b BETWEEN ? AND ? AND ? = a",
		"SELECT date_trunc('week', a), date_trunc($1, a AT TIME ZONE 'CET')": "SELECT date_trunc('week', a), " +
			"date_trunc('day', a AT TIME ZONE 'CET')",
		"SELECT a->>'k', b#>'{x,1}' FROM t WHERE a -> 'k' = $1":            "SELECT a->>'k', b#>'{x,1}' FROM t WHERE a -> 'k' = ?",
		"SELECT EXTRACT($1 FROM a), to_tsquery('german', 'x') FROM t":      "SELECT EXTRACT('day' FROM a), to_tsquery('german', ?) FROM t",
		"SELECT a FROM t WHERE a > DATE $1 AND b = TIMESTAMP '2026-01-01'": "SELECT a FROM t WHERE a > ?::DATE AND b = ?::TIMESTAMP",
		"SELECT a FROM t WHERE a > NUMERIC $1 AND b = timestamp with time zone $2": "SELECT a FROM t WHERE a > ?::NUMERIC " +
			"AND b = ?::timestamp with time zone",
		"SELECT IF ( `a` > ?, ... ) , `LPAD` ( `b` , ?, ... ) FROM `t`":       "SELECT IF( `a` > ?,?, ? ) , `LPAD` ( `b` , ?,? ) FROM `t`",
		"UPDATE `t` SET `a` = `JSON_SET` ( `a` , ?, ... )":                    "UPDATE `t` SET `a` = `JSON_SET` ( `a` , '$.a',? )",
		"SELECT GROUP_CONCAT ( `a` SEPARATOR ? ) FROM `t`":                    "SELECT GROUP_CONCAT( `a` SEPARATOR ',' ) FROM `t`",
		"SELECT (_charset) ? FROM `t` WHERE `a` > TIMESTAMP ? AND DATE = ?":   "SELECT ? FROM `t` WHERE `a` > ? AND DATE = ?",
		"SELECT `a` , `b` FROM `t` GROUP BY ?, ... ORDER BY ? DESC , `b` = ?": "SELECT `a` , `b` FROM `t` GROUP BY 1,2 ORDER BY 1 DESC , `b` = ?",
	} {
		rules := postgres
		if strings.Contains(text, "`") {
			rules = mysql
		}
		s, err := rules.Shape(text, "", nil)
		got := ""
		for i, v := range s.Values {
			got += s.Pieces[i] + cmp.Or(v.Literal, "?")
		}
		if got += s.Pieces[len(s.Values)]; got != want || err != nil {
			t.Errorf("%s\nbecomes %s\nnot     %s (%v)", text, got, want, err)
		}
	}
	if a, b := postgres.Key("SELECT date_trunc('day', a)"), postgres.Key("SELECT date_trunc('month', a)"); a == b {
		t.Errorf("one key of two: %s", a)
	}
}

// Each value of a long list finds its bracket at once: a search for each would take the square of their number.
func TestLongList(t *testing.T) {
	takes := func(n int) time.Duration {
		start := time.Now()
		s, err := postgres.Shape("SELECT a FROM t WHERE b IN (1"+strings.Repeat(", 7", n-1)+")", "", nil)
		took := time.Since(start)
		if err != nil || len(s.Values) != n || s.Values[n-1].Column != "b" {
			t.Fatalf("%d of %d values, %v", len(s.Values), n, err)
		}
		return took
	}
	few, many := takes(1000), takes(20_000)
	// 20 times, or by searches 400 times; what runs at the same time is in no fastest time for long.
	for end := time.Now().Add(10 * time.Second); many > 100*few; few, many = min(few, takes(1000)), min(many, takes(20_000)) {
		if time.Now().After(end) {
			t.Fatalf("1,000 values take %v, 20,000 take %v", few, many)
		}
	}
}

// A digest that leaves out values in two places of a row is taken if their numbers are known, and named if not.
func TestDigestsWithTwoEllipses(t *testing.T) {
	const to = "INSERT INTO `t` ( `a` , `b` , `c` , `d` , `e` "
	for text, fits := range map[string]bool{to + ") VALUES ( ? , ... , NOW ( ) , ? , ... )": true,
		to + ", `f` ) VALUES ( ? , ... , NOW ( ) , ? , ... )": false, to + ", `f` ) VALUES ( ? , ... , NOW ( ) )": true} {
		s, err := mysql.Shape(text, "shop", nil)
		if errors.Is(err, filewise.ErrUnsupported) == fits || fits && len(s.Values)+1 != 5+strings.Count(text, "`f`") {
			t.Errorf("%s: %d values, %v", text, len(s.Values), err)
		}
	}
}

// What a study would be refused for is not captured.
func TestShapeOfWhatIsRefused(t *testing.T) {
	for text, rules := range map[string]Rules{
		"SELECT set_config('search_path', 'x', false)": postgres, "SELECT pg_read_file($1) FROM t": postgres,
		"SELECT a FROM t INTO OUTFILE '/tmp/x'": mysql} {
		if _, err := rules.Shape(text, "shop", nil); !errors.Is(err, filewise.ErrUnsupported) || !strings.Contains(err.Error(), "is refused") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func shown(s filewise.Shape) string {
	var b strings.Builder
	for i, v := range s.Values {
		if v.Use == filewise.UseSpan && v.Literal != "" {
			v.Use += filewise.Use("=" + v.Literal)
		}
		fmt.Fprintf(&b, "%s<%s.%s %s>", s.Pieces[i], v.Table, v.Column, v.Use)
	}
	return b.String() + s.Pieces[len(s.Values)]
}

// What a server reports with its values is masked, except for what bounds rows, and the same for all
// values; variables keep which are the same.
func TestMasked(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT TOP (10) CONVERT(varchar(10), d, 120) FROM t WHERE m = N'ada@example' AND n = 5 AND p = f(4111111) AND (@B = x OR @b > 1)": "" +
			"SELECT TOP (10) CONVERT(varchar(10), d, 120) FROM t WHERE m = ? AND n = ? AND p = f(?) AND (@v1 = x OR @v1 > ?)",
		"INSERT t VALUES (5, 'x')": "INSERT t VALUES (?, ?)",
	} {
		got := transact.Masked(text)
		if again := transact.Masked(got); got != want || again != want {
			t.Errorf("%s\nbecomes %s\nagain   %s\nnot     %s", text, got, again, want)
		}
	}
}

// A text of several statements is divided, with its time; what is quoted, and a routine's body, is not.
func TestLogged(t *testing.T) {
	for text, want := range map[string]string{
		"BEGIN; UPDATE t SET a = ';' WHERE b = 5; COMMIT;":         "BEGIN 2 true|UPDATE t SET a = ';' WHERE b = 5 2 true|COMMIT 2 false",
		"-- first; second\nSELECT 1;  ;\n-- the end\n":             "-- first; second\nSELECT 1 6 false",
		"SELECT $a$x;y$a$, /* ; */ :a::int;;":                      "SELECT $a$x;y$a$, /* ; */ :a::int 6 false",
		"CREATE FUNCTION f() BEGIN ATOMIC SELECT 1; END; SELECT 2": "CREATE FUNCTION f() BEGIN ATOMIC SELECT 1; END; SELECT 2 6 false",
	} {
		var got []string
		k := &known{Rules: postgres}
		k.logged(filewise.LoggedStatement{Text: text, Seconds: 6}, true, func(s filewise.LoggedStatement) {
			got = append(got, fmt.Sprintf("%s %.0f %v", s.Text, s.Seconds, s.Together))
			if s.Key != postgres.Key(s.Text) {
				t.Errorf("%s: key %q", s.Text, s.Key)
			}
		})
		if strings.Join(got, "|") != want {
			t.Errorf("%s becomes %s", text, strings.Join(got, "|"))
		}
	}
}

// Another statement with the same skeleton gets what dividing it would give.
func TestKnown(t *testing.T) {
	words := strings.Split("SELECT|FROM|t|a|b.c|WHERE|AND|=|=|<|IN|(|(|)|)|,|,|,|,|1|2|3.5|.5|'x'|'y'|'$.z'|\"q\"|`n`|E'e\\\\'|_utf8'u'|"+
		"$1|$2|?|$$d$$|"+
		"INSERT INTO t (a, b) VALUES|ORDER BY|LIMIT|OFFSET|date_trunc|DATE|numeric|->>|::|--  note\n|/* note */|# h\n|;|:v|SET|BETWEEN|INTERVAL|"+
		"nextval|'it''s'|'a;b'|...|a$1|@v|é|-|+|UPDATE t SET a", "|")
	random := rand.New(rand.NewPCG(1, 2))
	for _, r := range []Rules{postgres, mysql} {
		k := &known{Rules: r}
		remembered := 0
		for range 4000 {
			var shape []string
			for range 1 + random.IntN(14) {
				shape = append(shape, words[random.IntN(len(words))], []string{"", " ", " ", "\n "}[random.IntN(4)])
			}
			for range 3 { // other values of it
				text := strings.Join(shape, "")
				arguments := []string{"'first'", fmt.Sprint(random.IntN(3))}
				key, values := k.keyed(text, arguments)
				wantKey, want := r.keyed(text, arguments)
				if key != wantKey || fmt.Sprintf("%q", values) != fmt.Sprintf("%q", want) {
					t.Fatalf("%q:\n%q %q instead of\n%q %q", text, key, values, wantKey, want)
				}
				for i, w := range shape {
					switch {
					case w != "" && w[0] >= '0' && w[0] <= '9':
						shape[i] = fmt.Sprint(random.IntN(3))
					case strings.HasPrefix(w, "'") && w[1] != '$':
						shape[i] = []string{"'x'", "'y'", "'longer, 5'"}[random.IntN(3)]
					}
				}
				if d := k.divisions[string(k.skeleton)]; d != nil && !d.alone {
					remembered++
				}
			}
		}
		if remembered < 9000 {
			t.Errorf("only %d of 12,000 statements were remembered", remembered)
		}
	}
}

// BenchmarkKnown measures what a statement of a log costs.
func BenchmarkKnown(b *testing.B) {
	const text = "SELECT c.name, o.total FROM orders o JOIN customers c ON c.id = o.customer WHERE o.id = 48213 " +
		"AND o.state IN ('open', 'paid', 'sent') " +
		"ORDER BY o.made DESC LIMIT 20"
	k := &known{Rules: mysql}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		k.keyed(text, nil)
	}
}
