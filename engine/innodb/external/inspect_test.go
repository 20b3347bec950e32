package external

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/innodb/servertest"
	"filewise/own/inspect"
)

// testInspect: what is planted is found, with its evidence and what it is worth; of
// an account with hardly a right the rest is shown, and the GRANTs named; nothing
// can be written.
func testInspect(t *testing.T, b bench) {
	b.Exec(t, "CREATE DATABASE lookedat",
		"CREATE TABLE lookedat.events (id BIGINT NOT NULL AUTO_INCREMENT, region CHAR(2) NOT NULL, body CHAR(250), PRIMARY KEY (id, region)) "+
			"PARTITION BY LIST COLUMNS (region) (PARTITION eu VALUES IN ('eu'), PARTITION us VALUES IN ('us'))",
		"INSERT INTO lookedat.events (region, body) VALUES ('us', 'x'), ('eu', 'x')")
	for range 13 {
		b.Exec(t, "INSERT INTO lookedat.events (region, body) SELECT region, MD5(id) FROM lookedat.events WHERE region = 'eu'")
	}
	b.Exec(t, "ANALYZE TABLE lookedat.events") // what an account without PROCESS sees is of then
	b.Exec(t, "CREATE TABLE lookedat.parent (id INT PRIMARY KEY)", "INSERT INTO lookedat.parent VALUES (1)",
		"CREATE TABLE lookedat.child (id INT PRIMARY KEY, CONSTRAINT tie FOREIGN KEY (id) REFERENCES lookedat.parent (id))",
		"ANALYZE TABLE lookedat.parent, lookedat.child")
	b.Exec(t, "CREATE DATABASE `Größe-x`", "CREATE TABLE `Größe-x`.`t.1@b` (id INT) PARTITION BY HASH (id) PARTITIONS 2")
	defer b.Exec(t, "DROP DATABASE `Größe-x`")
	b.Account(t, "looker", []string{"GRANT PROCESS ON *.* TO `filewise`@`%`", "GRANT SELECT ON performance_schema.* TO `filewise`@`%`"})
	b.Account(t, "narrow", []string{"GRANT SELECT ON lookedat.* TO `filewise`@`%`"})
	defer b.Exec(t, "DROP USER looker, narrow", "DROP DATABASE lookedat")
	ctx := deadline(t)
	spill(t, ctx, b)
	lockWait(t, ctx, b)

	rich, err := lookAt(b, ctx, b.Target("looker"))
	fatal(t, err)
	poor, err := lookAt(b, ctx, b.Target("narrow"))
	fatal(t, err)
	for _, g := range poor.Groups {
		if tied := slices.Contains([]string{"table lookedat.parent", "table lookedat.child"}, g.Name); tied != strings.Contains(g.Whole, "tie") {
			t.Errorf("%s cannot be divided: %q", g.Name, g.Whole)
		}
	}
	for path, code := range map[string]filewise.Code{"lookedat": filewise.CodeInternal, "nosuch": filewise.CodePreflight} {
		in := b.Target("looker")
		address := *in.Address
		address.Path, in.Address = path, &address
		if _, err := lookAt(b, ctx, in); err != nil && filewise.CodeOf(err) != code || (err != nil) != (path == "nosuch") {
			t.Errorf("database %s: %v", path, err)
		}
	}
	t.Run("Planted", func(t *testing.T) { plantedFound(t, b, rich) })
	t.Run("Rights", func(t *testing.T) { rightsNamed(t, b, rich, poor) })
	t.Run("ReadOnly", func(t *testing.T) {
		s, err := b.engine.open(ctx, b.Target("looker"), b.engine.reading)
		fatal(t, err)
		defer s.db.Close()
		b.Exec(t, "GRANT ALL ON lookedat.* TO looker")
		for _, statement := range []string{"INSERT INTO lookedat.events (region) VALUES ('eu')", "CREATE TABLE lookedat.written (a INT)"} {
			if _, err := s.db.ExecContext(ctx, statement); err == nil || !strings.Contains(err.Error(), "READ ONLY transaction") {
				t.Errorf("%s: %v", statement, err)
			}
		}
	})
}

// spill makes a temporary table that does not fit into its memory.
func spill(t *testing.T, ctx context.Context, b bench) {
	conn, err := b.Root.Conn(ctx)
	fatal(t, err)
	defer conn.Close()
	for _, s := range []string{"SET SESSION tmp_table_size = 1024, max_heap_table_size = 16384",
		"SELECT COUNT(*) FROM (SELECT DISTINCT body, id FROM lookedat.events) x",
		"SET SESSION tmp_table_size = DEFAULT, max_heap_table_size = DEFAULT"} {
		_, err := conn.ExecContext(ctx, s)
		fatal(t, err)
	}
}

// lockWait has a session wait a second for a row that another has changed.
func lockWait(t *testing.T, ctx context.Context, b bench) {
	change := "UPDATE lookedat.events SET body = 'y' WHERE id = 1 AND region = 'us'"
	holder, err := b.Root.Begin()
	fatal(t, err)
	_, err = holder.ExecContext(ctx, change)
	fatal(t, err)
	waiter, err := b.Root.Conn(ctx)
	fatal(t, err)
	defer waiter.Close()
	_, err = waiter.ExecContext(ctx, "SET SESSION innodb_lock_wait_timeout = 1")
	fatal(t, err)
	_, err = waiter.ExecContext(ctx, change)
	if number, _ := dialect.Number(err); number != 1205 {
		t.Errorf("a row that another session has changed: %v", err)
	}
	_, err = waiter.ExecContext(ctx, "SET SESSION innodb_lock_wait_timeout = DEFAULT")
	fatal(t, err)
	fatal(t, holder.Rollback())
}

func plantedFound(t *testing.T, b bench, i filewise.Inspection) {
	n := slices.IndexFunc(i.Groups, func(g filewise.FileGroup) bool { return g.Name == "table lookedat.events" })
	if n < 0 || len(i.Groups[n].Files) != 2 || i.Groups[n].Fill != filewise.FillPartitions {
		t.Fatalf("no group of the two partitions: %+v", i.Groups)
	}
	if !slices.ContainsFunc(i.Groups, func(g filewise.FileGroup) bool {
		return g.Name == "table Größe-x.t.1@b" && g.Database == "Größe-x" && len(g.Files) == 2
	}) {
		t.Errorf("no group of a table with an odd name: %+v", i.Groups)
	}
	for _, f := range i.Groups[n].Files {
		if info, err := os.Stat(f.Path); err != nil || info.Size() != f.Bytes {
			t.Errorf("%s of %d bytes: %v %v", f.Path, f.Bytes, info, err)
		}
		if b.engine == mySQL && f.IO[filewise.FileWrites] < 1 {
			t.Errorf("%s was written, and has no I/O: %v", f.Path, f.IO)
		}
	}
	if n := slices.IndexFunc(i.Groups, func(g filewise.FileGroup) bool { return g.Name == "redo log" }); b.engine == mySQL &&
		i.Groups[n].Files[0].IO[filewise.FileBytes] < 1<<20 {
		t.Errorf("the log was written, and has no I/O: %+v", i.Groups[n])
	}
	if i.Figures[filewise.FigureTempDisk] < 1 || i.Figures[filewise.FigureRequests] <= 0 || i.Figures[filewise.FigureBuffer] <= 0 ||
		i.Since <= 0 {
		t.Errorf("%v in %v", i.Figures, i.Since)
	}
	waited := 0.0
	for _, w := range i.Waits {
		if w.Class == filewise.WaitLock && w.Unit == "s" {
			waited = max(waited, w.Value)
		}
	}
	if waited < 0.5 {
		t.Errorf("a second was waited for a row, of which %v s are seen: %+v", waited, i.Waits)
	}
	i.Cores = 4
	r := inspect.Judge(i, inspect.Target{Engine: b.engine.Name, Flags: []string{"--target", b.engine.Name + "://u@h"}})
	for about, says := range map[string]string{"table lookedat.events": "2 partitions", "table lookedat.events: balance": "holds 9",
		"temporary tables on disk": " of ", "redo log": "MiB"} {
		n := slices.IndexFunc(r.Findings, func(f inspect.Finding) bool { return f.About == about })
		if n < 0 || !strings.Contains(r.Findings[n].Evidence, says) {
			t.Errorf("%s does not say %q: %+v", about, says, r.Findings)
		}
	}
}

func rightsNamed(t *testing.T, b bench, rich, poor filewise.Inspection) {
	for _, g := range rich.Gaps {
		if b.engine == mySQL || !strings.Contains(g.Why, "performance_schema is off") {
			t.Errorf("with both rights there is a gap: %+v", g)
		}
	}
	if !slices.ContainsFunc(poor.Groups, func(g filewise.FileGroup) bool {
		return g.Name == "table lookedat.events" && g.RowBytes > 100 && g.RowBytes < 600 // of CHAR(250)
	}) {
		t.Errorf("size of a row: %+v", poor.Groups)
	}
	text := fmt.Sprint(poor.Gaps)
	wanted := []string{"files of tables", "GRANT PROCESS ON *.* TO `narrow`@`%`"}
	if b.engine == mySQL {
		wanted = append(wanted, "I/O per file", "GRANT SELECT ON performance_schema.* TO `narrow`@`%`")
	}
	for _, says := range wanted {
		if !strings.Contains(text, says) {
			t.Errorf("%q is not in %s", says, text)
		}
	}
	if strings.Contains(text, servertest.Password) {
		t.Errorf("the password is shown: %s", text)
	}
	n := slices.IndexFunc(poor.Groups, func(g filewise.FileGroup) bool { return g.Name == "table lookedat.events" })
	if n < 0 || len(poor.Groups[n].Files) != 2 || max(poor.Groups[n].Files[0].Bytes, poor.Groups[n].Files[1].Bytes) < 1<<20 {
		t.Errorf("the account's own table is not seen: %+v", poor.Groups)
	}
}
