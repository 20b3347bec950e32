package postgres

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"filewise"
	"filewise/engine/postgres/client"
	"filewise/lab/workload"
	"filewise/own/capture"
	"filewise/run/study"
)

func capturing(t *testing.T) capture.Capturer {
	c, is := capture.Of(Engine{})
	if !is {
		t.Fatal("nothing captures")
	}
	return c
}

// theirShop has what users have: odd names, states, persons, keys.
var theirShop = []string{
	`CREATE TABLE "Kunden Ö" (id bigint PRIMARY KEY, email text NOT NULL, region text NOT NULL)`,
	`INSERT INTO "Kunden Ö" SELECT i, 'p' || i || '@example.org', CASE WHEN i % 10 = 0 THEN 'us' ELSE 'eu' END FROM generate_series(1, 500) i`,
	`CREATE TYPE "Stätus" AS ENUM ('open', 'it''s done', 'never')`, `CREATE TYPE kind AS ENUM ('a@b.org', 'b')`,
	`CREATE TABLE parcels (id int, state "Stätus", name kind)`,
	`INSERT INTO parcels SELECT i, CASE WHEN i % 4 = 0 THEN 'open' ELSE 'it''s done' END::"Stätus", 'b' FROM generate_series(1, 5000) i`,
	`CREATE DOMAIN "Cöde" AS varchar(5)`, `CREATE DOMAIN part AS "Cöde"`,
	`ALTER TABLE parcels ADD part part DEFAULT 'ab', ADD nr text CHECK (nr ~ '^[0-9]+$'), ADD span int4range`,
	`CREATE TABLE orders (id bigint PRIMARY KEY, customer bigint NOT NULL REFERENCES "Kunden Ö", status text NOT NULL,
	  at timestamptz NOT NULL, total numeric(9,2))`,
	`INSERT INTO orders SELECT i, i % 500 + 1, CASE WHEN i % 4 = 0 THEN 'open' ELSE 'done' END, 
	  '2026-01-01'::timestamptz + i * interval '1 min', i FROM generate_series(1, 5000) i`,
	"CREATE TABLE \"evil \x1b]0;x\x07\ncustom: {}\" (id int PRIMARY KEY, note text)",
	"INSERT INTO \"evil \x1b]0;x\x07\ncustom: {}\" SELECT i, i FROM generate_series(1, 5000) i",
	`CREATE TABLE bills (id int REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED)`,
	`CREATE VIEW done AS SELECT id AS n, id + 1 AS next, at AS email FROM orders WHERE status = 'done'`,
	`CREATE VIEW "dönér" AS SELECT next, n AS m FROM done`,
	`ANALYZE`,
	`ALTER TABLE orders SET (autovacuum_enabled = off)`, // which would count the rows of the mix, too
	`CREATE EXTENSION pg_stat_statements`,
}

// captured: from a known mix the shares are found, parameters are drawn as the columns'
// statistics say, what is left out is named, and the account's rights suffice.
func captured(t *testing.T, f *usersServer) {
	f.do("CREATE DATABASE theirshop", "CREATE ROLE hunted")
	defer f.do("DROP DATABASE theirshop WITH (FORCE)", "DROP ROLE hunted")
	shop := f.admin.To("theirshop")
	defer shop.Close()
	must(t, shop.Exec(deadline(t), theirShop[:len(theirShop)-1]...))
	must(t, shop.Exec(deadline(t), "GRANT SELECT ON ALL TABLES IN SCHEMA public TO filewise_account"))
	o := capture.Options{Engine: "postgres", Database: "theirshop"}
	if _, err := takeCapture(t, f, o); err == nil || !strings.Contains(filewise.RemedyOf(err), "CREATE EXTENSION") {
		t.Errorf("without the extension: %v; %s", err, filewise.RemedyOf(err))
	}
	must(t, shop.Exec(deadline(t), theirShop[len(theirShop)-1], "SELECT pg_stat_statements_reset()"))
	mix(t, shop)
	if s, err := takeCapture(t, f, o); err == nil || !strings.Contains(err.Error(), "GRANT pg_read_all_stats") {
		t.Errorf("without the right: %v %+v", err, s)
	}
	f.do("GRANT pg_read_all_stats TO filewise_account")
	defer f.do("REVOKE pg_read_all_stats FROM filewise_account")
	s, err := takeCapture(t, f, o)
	must(t, err)
	text := s.YAML()
	for name, want := range map[string]float64{"SELECT total": 0.5, "UPDATE": 0.2, "SELECT region": 0.1,
		"INSERT INTO orders": 0.1, "SELECT *": 0.1} {
		found := 0.0
		for _, x := range s.Transactions {
			if strings.HasPrefix(x.SQL[0], name) {
				found = x.Share
			}
		}
		if math.Abs(found-want) > 0.02 {
			t.Errorf("%s: %.3f instead of %.3f", name, found, want)
		}
	}
	for _, says := range []string{"orders: id #", "orders_id: {int: {from: 1, to: 5000}}", "orders_id_insert: {sequential: {from: 1005001}}",
		`orders_status_new: {choice: {"done": 7500, "open": 2500}}`, "Kunden_email: {text:", "looks personal",
		`parcels_state: {choice: {"it's done": 7500, "open": 2500}}`, `parcels_name: {choice: {"b": 10000}}`,
		`parcels_part: {choice: {"ab": 10000}}`, "column parcels.nr has a CHECK", "a value is of type int4range", "begun and ended by the study",
		`COALESCE((SELECT MIN(id) FROM "Kunden Ö" WHERE id >= :orders_customer_insert), (SELECT MAX(id) FROM "Kunden Ö"))`,
		":orders_id_from + 49", "the server's own catalogue", "_m: {int: {from: 1, to: 5000}}", "write a range of its values",
		"the server checks foreign keys by itself"} {
		if !strings.Contains(text, says) {
			t.Errorf("the study does not say %q", says)
		}
	}
	if strings.Contains(text, "example.org") || s.Covered <= 0 {
		t.Errorf("a personal value is in it, or it covers %v", s.Covered)
	}
	if strings.Contains(text, "hunter2") || !strings.Contains(text, "ALTER ROLE hunted PASSWORD ?") ||
		strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		t.Errorf("a secret is in it, or what steers a terminal:\n%s", text)
	}
	parsed(t, text)
	shaped(t, f)
	accustomed(t, f, shop)
	before := f.dump(t, o.Database) // which the server counts, too
	o.Values = true
	if s, err = takeCapture(t, f, o); err != nil || !strings.Contains(s.YAML(), "@example.org") {
		t.Errorf("with --values there is no address: %v", err)
	}
	if !slices.Equal(before, f.dump(t, o.Database)) {
		t.Error("the database has changed")
	}
}

// accustomed: tables are found where the database's search_path has them, and the study records it.
func accustomed(t *testing.T, f *usersServer, shop *client.Link) {
	must(t, shop.Exec(deadline(t), "CREATE SCHEMA app", "CREATE TABLE app.hidden (id int PRIMARY KEY)",
		"INSERT INTO app.hidden VALUES (1), (9)",
		"GRANT USAGE ON SCHEMA app TO filewise_account", "GRANT SELECT ON app.hidden TO filewise_account", "ANALYZE app.hidden",
		"ALTER DATABASE theirshop SET search_path = app, public"))
	defer func() {
		must(t, shop.Exec(deadline(t), "ALTER DATABASE theirshop RESET search_path", "DROP SCHEMA app CASCADE"))
	}()
	w, err := capturing(t).Watch(deadline(t), f.target(), "theirshop")
	must(t, err)
	defer w.Close()
	if _, err := w.Shape(deadline(t), "SELECT id FROM hidden WHERE id = $1", nil); err != nil {
		t.Error(err)
	}
	facts, err := w.Table(deadline(t), "hidden", func(string) bool { return false })
	must(t, err)
	settings, err := w.Settings(deadline(t), nil)
	must(t, err)
	if settings["search_path"] != "app, public" || facts.Columns[0].High != "9" || facts.Table != "app.hidden" || facts.Whole != "" {
		t.Errorf("%v, %+v", settings, facts)
	}
}

// shaped: the server takes statements whose literals had no type, and reports keys of several columns.
func shaped(t *testing.T, f *usersServer) {
	shop := f.admin.To("theirshop")
	defer shop.Close()
	must(t, shop.Exec(deadline(t), `CREATE TABLE pairs (a bigint REFERENCES orders, b bigint REFERENCES "Kunden Ö", PRIMARY KEY (a, b))`,
		"CREATE TABLE lines (x bigint, y bigint, u uuid, FOREIGN KEY (y, x) REFERENCES pairs (b, a))",
		"GRANT SELECT ON pairs, lines TO filewise_account"))
	defer func() { must(t, shop.Exec(deadline(t), "DROP TABLE lines, pairs")) }()
	w, err := capturing(t).Watch(deadline(t), f.target(), "theirshop")
	must(t, err)
	defer w.Close()
	for text, want := range map[string]string{
		"SELECT id FROM orders WHERE at > current_date - $1 AND id < $2": "SELECT id FROM orders WHERE at > current_date - ?::integer " +
			"AND id < ?",
		"SELECT total FROM orders WHERE id = ANY(ARRAY[$1,$2])": "SELECT total FROM orders WHERE id = ANY(ARRAY[?::integer,?::integer])",
		"SELECT extract($1 FROM at) FROM orders WHERE id=$2":    "SELECT extract(? FROM at) FROM orders WHERE id=?",
		"INSERT INTO orders (id, total) VALUES (-1, -1.5)":      "INSERT INTO orders (id, total) VALUES (-?::integer, -?::numeric)",
	} {
		s, err := w.Shape(deadline(t), text, nil)
		if got := strings.Join(s.Pieces, "?"); got != want || err != nil {
			t.Errorf("%s becomes %s, %v", text, got, err)
		}
	}
	s, err := w.Shape(deadline(t), "SELECT regexp_replace('a', 'b', 'c', 'g') FROM orders", []string{"'a'", "'b'", "'c'", "'g'"})
	if err != nil || s.Values[3].Literal != "'g'" {
		t.Errorf("%+v, %v", s, err)
	}
	no := func(string) bool { return false }
	pairs, err := w.Table(deadline(t), "pairs", no)
	must(t, err)
	if b := pairs.Columns[1]; !b.Unique || !b.Composite || b.ParentTable != "Kunden Ö" || b.ParentColumn != "id" || pairs.Columns[0].Unique {
		t.Errorf("%+v", pairs.Columns)
	}
	lines, err := w.Table(deadline(t), "lines", no)
	must(t, err)
	must(t, shop.Exec(deadline(t), "ALTER DATABASE theirshop SET datestyle = 'German'",
		"CREATE TABLE contracts (id int PRIMARY KEY, ends timestamptz)",
		"INSERT INTO contracts SELECT i, CASE WHEN i % 2 = 0 THEN 'infinity'::timestamptz ELSE timestamptz '2021-01-01' + i * interval '1 day' "+
			"END FROM generate_series(1, 1000) i", "CREATE TABLE old () INHERITS (contracts)", "ANALYZE contracts",
		"GRANT SELECT ON contracts, old TO filewise_account"))
	defer func() {
		must(t, shop.Exec(deadline(t), "DROP TABLE old, contracts", "ALTER DATABASE theirshop RESET datestyle"))
	}()
	german, err := capturing(t).Watch(deadline(t), f.target(), "theirshop")
	must(t, err)
	defer german.Close()
	contracts, err := german.Table(deadline(t), "contracts", no)
	must(t, err)
	old, err := german.Table(deadline(t), "old", no)
	must(t, err)
	must(t, shop.Exec(deadline(t), "CREATE RULE r AS ON INSERT TO contracts WHERE new.id = 1 DO INSTEAD NOTHING"))
	if contracts, err = german.Table(deadline(t), "contracts", no); err != nil || contracts.Rules != 1 || old.Rules != 0 {
		t.Errorf("%v, %d rules", err, contracts.Rules)
	}
	if c := contracts.Columns[1]; !strings.HasPrefix(c.Low, "2021-01-0") || !strings.HasPrefix(c.High, "2023-09-") ||
		contracts.Whole != "others inherit from it: old" || old.Whole != "it inherits from contracts" {
		t.Errorf("%s to %s; %s; %s", c.Low, c.High, contracts.Whole, old.Whole)
	}
	if got := fmt.Sprint(lines.Foreign); got != "[{[y x] pairs [b a]}]" {
		t.Error(got)
	}
}

// mix executes 200 statements, and transactions around two of them. Before come some with a
// secret, and one on a table whose name steers terminals and ends comments.
func mix(t *testing.T, shop *client.Link) {
	for range 3 {
		must(t, shop.Exec(t.Context(), "ALTER ROLE hunted PASSWORD 'hunter2'"))
	}
	must(t, shop.Exec(t.Context(), "SELECT note FROM \"evil \x1b]0;x\x07\ncustom: {}\" WHERE note = 'hunter2'"))
	must(t, shop.Exec(t.Context(), "DELETE FROM parcels WHERE state = 'never' AND name = 'a@b.org'", "DELETE FROM parcels WHERE part = 'zz'",
		"INSERT INTO bills VALUES (7)", `SELECT m FROM "dönér" WHERE m = 7`, "SELECT n FROM done WHERE next = 7",
		"UPDATE parcels SET nr = '7' WHERE id = 0", "DELETE FROM parcels WHERE span && '[3,4)'"))
	for i := range 20 {
		n := i*37 + 1
		must(t, shop.Exec(t.Context(),
			fmt.Sprintf("SELECT total FROM orders WHERE id = %d", n), fmt.Sprintf("SELECT total FROM orders WHERE id = %d", n+1),
			fmt.Sprintf("SELECT total FROM orders WHERE id = %d", n+2), fmt.Sprintf("SELECT total FROM orders WHERE id = %d", n+3),
			fmt.Sprintf("SELECT total FROM orders WHERE id = %d", n+4), "BEGIN",
			fmt.Sprintf("UPDATE orders SET status = 'done' WHERE id = %d", n), "COMMIT",
			fmt.Sprintf("UPDATE orders SET status = 'open' WHERE id = %d", n+1),
			fmt.Sprintf(`SELECT region FROM "Kunden Ö" WHERE email = 'p%d@example.org'`, n),
			fmt.Sprintf("INSERT INTO orders VALUES (%d, 7, 'open', now(), 1)", 10000+i),
			fmt.Sprintf("SELECT * FROM orders WHERE id BETWEEN %d AND %d", n, n+49)))
	}
}

func takeCapture(t *testing.T, f *usersServer, o capture.Options) (*capture.Study, error) {
	t.Helper()
	w, err := capturing(t).Watch(deadline(t), f.target(), o.Database)
	must(t, err)
	defer w.Close()
	return capture.Take(deadline(t), capturing(t), w, o)
}

// parsed: a study file is one that study reads.
func parsed(t *testing.T, text string) {
	t.Helper()
	s, err := study.Parse("captured.yaml", []byte(text),
		study.Form{Engines: []string{"postgres"}, Scenarios: []string{"custom"}}, os.LookupEnv)
	must(t, err)
	_, err = workload.NewCustom(workload.Params{Custom: s.Experiments[0].Custom, Connections: 1}, 1)
	must(t, err)
}

// A csvlog and a jsonlog show what stands in one transaction.
func TestCaptureLog(t *testing.T) {
	row := func(session, message string) string {
		return `2026-11-23 05:00:00.000 UTC,"ada","shop",77,"[local]",` + session + `,1,"SELECT",2026-11-23 04:59:00 UTC,3/1,0,LOG,00000,"` +
			strings.ReplaceAll(message, `"`, `""`) + `",,,,,,,,,"psql","client backend",,0` + "\n"
	}
	log := row("s1", "statement: BEGIN") + row("s2", "duration: 2.5 ms  statement: SELECT 1 FROM a WHERE x IN (1, 2)") +
		row("s1", "duration: 1.000 ms  execute <unnamed>: UPDATE a\nSET x = $1") + row("s1", "connection authorized") +
		row("s1", "statement: COMMIT")
	var got []string
	take := func(s filewise.LoggedStatement) { got = append(got, fmt.Sprint(s.Session, " ", s.Key, " ", s.Seconds)) }
	must(t, capturing(t).ReadLog(strings.NewReader(log), "shop", take))
	want := "s2 SELECT ? FROM a WHERE x IN (?, …) 0.0025|s1 BEGIN 0|s1 UPDATE a SET x = ? 0.001|s1 COMMIT 0"
	if strings.Join(got, "|") != want {
		t.Errorf("%s", strings.Join(got, "|"))
	}
	got = nil
	log = `{"dbname":"shop","session_id":"s","message":"statement: SELECT 1"}` + "\n" +
		`{"dbname":"other","session_id":"s","message":"statement: SELECT 2"}`
	must(t, capturing(t).ReadLog(strings.NewReader(log), "shop", take))
	if strings.Join(got, "|") != "s SELECT ? 0" {
		t.Errorf("%v", got)
	}
	if err := capturing(t).ReadLog(strings.NewReader("2026 LOG: statement\n"), "shop", take); filewise.RemedyOf(err) == "" {
		t.Errorf("no log: %v", err)
	}
}
