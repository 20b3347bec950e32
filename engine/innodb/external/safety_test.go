package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/servertest"
	"filewise/engine/internal/external"
	"filewise/internal/marker"
)

// killedAt in the environment makes the test binary a Filewise that is killed in
// the middle of a build: behind “/” the product, its socket, and the step.
const killedAt = "TEST_FILEWISE_KILLED_AT"

func TestMain(m *testing.M) {
	if at := os.Getenv(killedAt); at != "" {
		fmt.Println(dieAt(at))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// dieAt creates what a build creates up to a step, prints its name, and waits.
func dieAt(at string) error {
	parts := strings.SplitN(at, " ", 3)
	p := products()[0]
	if parts[0] == "mysql" {
		p = products()[1]
	}
	server := servertest.Server{Product: p.server, Socket: parts[2]}
	opened, err := p.engine.Open(context.Background(), server.Target("filewise"))
	if err != nil {
		return err
	}
	s, name := opened.(*server1), marker.NewName()
	if _, err := external.Hold(context.Background(), s.claim(name)); err != nil {
		return err
	}
	if parts[1] == "marked" {
		err = s.create(context.Background(), name, false)
	} else {
		_, err = s.db.Exec("CREATE DATABASE " + dialect.Ident(name))
	}
	if err == nil {
		fmt.Println(name)
		select {}
	}
	return err
}

// server1 is server, if a variable has that name.
type server1 = server

// killed starts a Filewise and kills it with SIGKILL once it has created a
// database; the name is returned when the server has noticed. while is called
// before the kill.
func killed(t *testing.T, s *servertest.Server, step string, while func(name string)) string {
	t.Helper()
	exe, err := os.Executable()
	fatal(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), killedAt+"="+s.Product.Name+" "+step+" "+s.Socket)
	out, err := cmd.StdoutPipe()
	fatal(t, err)
	fatal(t, cmd.Start())
	var name string
	if _, err := fmt.Fscanln(out, &name); err != nil || !marker.IsName(name) {
		t.Fatalf("%q %v", name, err)
	}
	while(name)
	fatal(t, cmd.Process.Kill())
	_ = cmd.Wait()
	ctx := deadline(t)
	for used := 1; used != 0; {
		fatal(t, s.Root.QueryRowContext(ctx, "SELECT IS_USED_LOCK(?) IS NOT NULL", name).Scan(&used))
	}
	return name
}

// What a killed run leaves is found and removed, while it lives it is kept, and
// nothing else is taken for it: neither names that look similar, nor a marker in the
// wrong place, nor what has something of the user's in it.
func testClean(t *testing.T, p bench) {
	server := p.Server
	{
		ctx := deadline(t)
		s := open(t, p, server.Target("filewise"))
		kept := func(name string) {
			left, err := s.Leftovers(ctx)
			fatal(t, err)
			if len(left) != 1 || left[0].Name != name || left[0].Kept == "" {
				t.Errorf("while its run lives: %+v", left)
				return
			}
			if err := s.Remove(ctx, left[0]); filewise.CodeOf(err) != filewise.CodeBusy {
				t.Errorf("a living run's database is removed: %v", err)
			}
			if err := s.Remove(ctx, filewise.Leftover{Kind: kindDatabase, Name: name}); filewise.CodeOf(err) != filewise.CodeBusy {
				t.Errorf("a living run's database is removed: %v", err)
			}
		}
		marked := killed(t, server, "marked", kept)
		left, err := s.Leftovers(ctx)
		fatal(t, err)
		if len(left) != 1 || left[0].Name != marked || left[0].Kept != "" || left[0].Unmarked || left[0].Owner == "" ||
			time.Since(left[0].Created).Abs() > time.Hour {
			t.Fatalf("%+v", left)
		}
		othersKeep(t, ctx, s, server, left[0])
		fatal(t, s.Remove(ctx, left[0]))

		if !p.engine.External.Comments { // between CREATE DATABASE and the marker
			unmarked := killed(t, server, "unmarked", kept)
			if left, err = s.Leftovers(ctx); err != nil || len(left) != 1 || left[0].Name != unmarked || !left[0].Unmarked {
				t.Fatalf("%+v %v", left, err)
			}
			server.Exec(t, "CREATE VIEW `"+unmarked+"`.v AS SELECT 1 AS x")
			if err := s.Remove(ctx, left[0]); err == nil {
				t.Error("an unmarked database that is not empty is removed")
			}
			server.Exec(t, "DROP VIEW `"+unmarked+"`.v")
			fatal(t, s.Remove(ctx, left[0]))
		}
		for _, name := range []string{"filewise_prod", "filewise", "shop", servertest.Lookalike, "`; DROP DATABASE shop; --"} {
			if err := s.Remove(ctx, filewise.Leftover{Kind: kindDatabase, Name: name}); err == nil {
				t.Errorf("%s was removed", name)
			}
		}
	}
}

// othersKeep: who works in a marked database keeps it.
func othersKeep(t *testing.T, ctx context.Context, s *server, server *servertest.Server, l filewise.Leftover) {
	t.Helper()
	conn, err := server.Root.Conn(ctx)
	fatal(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(ctx, "USE `"+l.Name+"`")
	fatal(t, err)
	if err := s.Remove(ctx, l); filewise.CodeOf(err) != filewise.CodeBusy {
		t.Errorf("a session works in it: %v", err)
	}
	_, err = conn.ExecContext(ctx, "USE shop")
	fatal(t, err)
}

// foreign holds what a user can put into a database, below names of Filewise's too, as what
// it is named in messages, and what takes it out.
var foreign = []struct{ create, named, undo string }{
	{"CREATE TABLE @precious (id INT)", "table precious", "DROP TABLE @precious"},
	{"CREATE TABLE @fw_rows_0007 (id BIGINT NOT NULL PRIMARY KEY, payload VARCHAR(64) NOT NULL)", "table fw_rows_0007",
		"DROP TABLE @fw_rows_0007"},
	{"CREATE TABLE @fw_rows_0007 LIKE @fw_rows", "table fw_rows_0007", "DROP TABLE @fw_rows_0007"},
	{"CREATE TABLE @fw_churn_7 (content VARCHAR(1000) NOT NULL)", "table fw_churn_7", "DROP TABLE @fw_churn_7"},
	{"ALTER TABLE @fw_rows ADD COLUMN note TEXT", "table fw_rows", "ALTER TABLE @fw_rows DROP COLUMN note"},
	{"CREATE VIEW @fw_rows_0007 AS SELECT 1 AS id", "view fw_rows_0007", "DROP VIEW @fw_rows_0007"},
	{"CREATE PROCEDURE @fw_insert() SELECT 1", "procedure fw_insert", "DROP PROCEDURE @fw_insert"},
	{"CREATE FUNCTION @fw_inserts() RETURNS INT DETERMINISTIC RETURN 1", "function fw_inserts", "DROP FUNCTION @fw_inserts"},
	{"CREATE EVENT @fw_rows ON SCHEDULE EVERY 1 DAY DO SELECT 1", "event fw_rows", "DROP EVENT @fw_rows"},
	{"CREATE TRIGGER @fw_rows BEFORE INSERT ON @fw_rows FOR EACH ROW SET @x = 1", "trigger fw_rows", "DROP TRIGGER @fw_rows"},
	{"CREATE SEQUENCE @fw_rows_0007", "sequence fw_rows_0007", "DROP SEQUENCE @fw_rows_0007"},                                 // MariaDB
	{"CREATE TABLE @filewise_mark (id TINYINT NOT NULL PRIMARY KEY)", "table filewise_mark", "DROP TABLE @filewise_mark"},     // MariaDB
	{"ALTER TABLE @filewise_mark ADD COLUMN note TEXT", "table filewise_mark", "ALTER TABLE @filewise_mark DROP COLUMN note"}, // MySQL
	{"ALTER TABLE @fw_rows ADD COLUMN my_row_id INT INVISIBLE", "table fw_rows", "ALTER TABLE @fw_rows DROP COLUMN my_row_id"},
	{"CREATE TABLE @fw_churn_mine LIKE @fw_rows", "table fw_churn_mine", "DROP TABLE @fw_churn_mine"},
	{"ALTER TABLE @fw_rows MODIFY id BIGINT UNSIGNED NOT NULL", "table fw_rows", "ALTER TABLE @fw_rows MODIFY id BIGINT NOT NULL"},
	{"ALTER TABLE @fw_rows ALTER payload SET DEFAULT 'mine'", "table fw_rows", "ALTER TABLE @fw_rows ALTER payload DROP DEFAULT"},
	{"ALTER TABLE @fw_rows ADD CONSTRAINT mine CHECK (id > -1)", "check mine", "ALTER TABLE @fw_rows DROP CONSTRAINT mine"},
	{"CREATE INDEX fw_name ON @fw_rows (payload)", "index fw_name of table fw_rows", "DROP INDEX fw_name ON @fw_rows"},
	{"ALTER PROCEDURE @fw_inserts COMMENT 'mine'", "procedure fw_inserts", ""},
}

// What others have put into a database keeps it, from “clean” and from the run that made it.
func testForeign(t *testing.T, p bench) {
	ctx := deadline(t)
	s := open(t, p, p.Target("filewise"))
	db := buildOn(t, s, layout(filewise.KindPartitions, 2), inserts(t, nil))
	name := db.Build.(built).name
	do := func(statement string) {
		t.Helper()
		p.Exec(t, strings.NewReplacer("@x", "@x", "@", dialect.Ident(name)+".").Replace(statement))
	}
	p.Account(t, "eventless", []string{grant([]string{"SELECT", "DROP"}, ours)}) // which the server shows no event
	do("CREATE EVENT @mine ON SCHEDULE EVERY 1 DAY DO SELECT 1")
	blind := open(t, p, p.Target("eventless"))
	o, _, err := catalogue{blind}.Look(ctx, external.Name{Kind: kindDatabase, Name: name})
	if gone := blind.remove(ctx, name); err != nil || filewise.CodeOf(gone) != filewise.CodePreflight ||
		!strings.Contains(o.Stays, "EVENT") || !strings.Contains(filewise.RemedyOf(gone), "EVENT") {
		t.Fatalf("for an account that may see no event: %+v, %v; dropped: %v", o, err, gone)
	}
	do("DROP EVENT @mine")
	for _, x := range foreign {
		if maria := p.engine.Product == dialect.MariaDB; maria && strings.HasPrefix(x.create, "ALTER TABLE @filewise_mark") ||
			!maria && (strings.Contains(x.create, "SEQUENCE") || strings.HasPrefix(x.create, "CREATE TABLE @filewise_mark")) {
			continue
		}
		do(x.create)
		o, ok, err := catalogue{s}.Look(ctx, external.Name{Kind: kindDatabase, Name: name})
		if err != nil || !ok || o.Others != x.named {
			t.Errorf("%s: %+v %v", x.create, o, err)
		}
		if err := db.Drop(ctx); filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(err.Error(), x.named) {
			t.Fatalf("%s: dropped: %v", x.create, err)
		}
		if x.undo != "" {
			do(x.undo)
			continue
		}
		do("DROP DATABASE " + dialect.Ident(name)) // of the last: the account's procedure
	}
	fatal(t, db.Drop(ctx))
}

// A database whose marker is gone is not dropped, by any run; a name that
// exists is not built on.
func testMarker(t *testing.T, p bench) {
	server := p.Server
	{
		ctx := deadline(t)
		s := open(t, p, server.Target("filewise"))
		w := inserts(t, nil)
		db := buildOn(t, s, layout(filewise.KindPartitions, 2), w)
		name := db.Build.(built).name
		set := func(text string) {
			if p.engine.External.Comments {
				server.Exec(t, "ALTER DATABASE `"+name+"` COMMENT "+dialect.Literal(text))
			} else {
				server.Exec(t, "ALTER TABLE `"+name+"`."+markerTable+" COMMENT "+dialect.Literal(text))
			}
		}
		st, err := s.look(ctx, s.db, name)
		fatal(t, err)
		text := st.marker.Text()
		for _, bad := range []string{"", "mine now", strings.Replace(text, `"pid":`, `"pid":1`, 1),
			strings.ReplaceAll(text, name, marker.NewName())} {
			set(bad)
			if err := db.Drop(ctx); filewise.CodeOf(err) != filewise.CodePreflight || filewise.RemedyOf(err) == "" {
				t.Errorf("with the mark %q: %v", bad, err)
			}
		}
		set(text)
		if err := s.create(ctx, name, false); err == nil {
			t.Error("a database is created over one that exists")
		}
		fatal(t, w.Check(ctx, db, 0, []filewise.Ledger{make(filewise.Ledger, 4)}))
		fatal(t, db.Drop(ctx))
		if err := s.create(ctx, servertest.Lookalike, false); err == nil {
			t.Error("another's database is built on")
		}
		if _, err := db.Connect(ctx, 0, 0); err == nil {
			t.Error("a dropped database is connected to")
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := s.Build(cancelled, layout(filewise.KindPartitions, 2), w.Program()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if left, err := s.Leftovers(ctx); err != nil || len(left) > 0 {
			t.Errorf("%v %v", left, err)
		}
	}
}

// Two runs on one server: their databases do not meet, only one measures, and a
// lock whose connection has died is reported as lost.
func testTwoRuns(t *testing.T, p bench) {
	server := p.Server
	{
		ctx := deadline(t)
		one, two := open(t, p, server.Target("filewise")), open(t, p, server.Target("filewise"))
		var patience int
		if fatal(t, one.db.QueryRowContext(ctx, "SELECT @@wait_timeout").Scan(&patience)); patience != 180 {
			t.Errorf("a session of which nothing is heard stands for %d s", patience)
		}
		held, err := one.Lock(ctx, filewise.Holder{Who: "one"})
		fatal(t, err)
		for _, s := range []*server1{one, two} {
			_, err := s.Lock(ctx, filewise.Holder{Who: "two"})
			if filewise.CodeOf(err) != filewise.CodeBusy || !strings.Contains(fmt.Sprint(err), "filewise") {
				t.Errorf("a second lock: %v", err)
			}
		}
		fatal(t, held.Held(ctx))
		fatal(t, held.Release())
		held, err = two.Lock(ctx, filewise.Holder{Who: "two"})
		fatal(t, err)
		var id int64
		fatal(t, server.Root.QueryRow("SELECT IS_USED_LOCK(?)", measuring).Scan(&id))
		server.Exec(t, fmt.Sprintf("KILL CONNECTION %d", id))
		if held.Held(ctx) == nil {
			t.Error("the lock is held by a connection that was killed")
		}
		if err := held.Release(); err == nil {
			t.Error("a lock that was lost is released without a word")
		}
		var wg sync.WaitGroup
		for _, s := range []*server1{one, two} {
			w := inserts(t, nil)
			wg.Go(func() { life(t, s, layout(filewise.KindPartitions, 2), w, 2) })
		}
		wg.Wait()
	}
}
