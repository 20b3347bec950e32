package sqlitedriver

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

var background = context.Background()

// create makes a file with a table and opens it.
func create(t *testing.T, o *Opener) (*Conn, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	must(t, os.WriteFile(path, nil, 0o600))
	c, err := o.Open(uri(path))
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	exec(t, c, "CREATE TABLE t (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES t (id), x TEXT UNIQUE)")
	return c, path
}

func uri(path string) string { return URI(path, "mode=rw") }

func TestURI(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b%41?c#d")
	must(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "e:é'.db")
	c, err := NewOpener(nil).Open(URI(path, "mode=rwc"))
	must(t, err)
	exec(t, c, "CREATE TABLE t (x)")
	must(t, c.Close())
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func exec(t *testing.T, c *Conn, text string, args ...driver.NamedValue) {
	t.Helper()
	_, err := c.ExecContext(background, text, args)
	must(t, err)
}

// one is the only value of a statement.
func one(t *testing.T, c *Conn, text string) driver.Value {
	t.Helper()
	rows, err := c.QueryContext(background, text, nil)
	must(t, err)
	values := make([]driver.Value, 1)
	must(t, errors.Join(rows.Next(values), rows.Close()))
	return values[0]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What preallocation rests on: with a chunk, VACUUM leaves the file its size.
func TestChunkSizeKeepsTheFile(t *testing.T) {
	c, path := create(t, NewOpener(nil))
	must(t, c.ChunkSize("main", 1<<20))
	exec(t, c, "INSERT INTO t (x) VALUES (hex(zeroblob(100000)))")
	exec(t, c, "DELETE FROM t")
	exec(t, c, "VACUUM")
	info, err := os.Stat(path)
	must(t, err)
	if info.Size() != 1<<20 {
		t.Errorf("the file has %d bytes, want a chunk of %d", info.Size(), 1<<20)
	}
}

func TestAutoCommit(t *testing.T) {
	c, _ := create(t, NewOpener(nil))
	for _, step := range []struct {
		text string
		want bool
	}{{"SELECT 1", true}, {"BEGIN", false}, {"INSERT INTO t (x) VALUES ('a')", false}, {"ROLLBACK", true}} {
		exec(t, c, step.text)
		if got := c.AutoCommit(); got != step.want {
			t.Errorf("after %s: %v", step.text, got)
		}
	}
}

func TestFunctions(t *testing.T) {
	bytesOf := Functions{"fw_zeros": func(text []byte) int64 { return int64(bytes.Count(text, []byte("0"))) }}
	c, _ := create(t, NewOpener(bytesOf))
	if got := one(t, c, "SELECT fw_zeros('10é0')"); got != int64(2) {
		t.Errorf("fw_zeros: %v", got)
	}
	other, _ := create(t, NewOpener(nil))
	if _, err := other.QueryContext(background, "SELECT fw_zeros('0')", nil); err == nil {
		t.Error("a connection without it has the function")
	}
}

func TestBackup(t *testing.T) {
	c, path := create(t, NewOpener(nil))
	exec(t, c, "INSERT INTO t (x) VALUES (hex(zeroblob(100000)))")
	to := path + ".backup"
	must(t, os.WriteFile(to, nil, 0o600))
	b, err := NewBackup(c, uri(to))
	must(t, err)
	steps := 0
	for done := false; !done; steps++ {
		done, err = b.Step(10)
		must(t, err)
	}
	must(t, b.Finish())
	copied, err := NewOpener(nil).Open(uri(to))
	must(t, err)
	defer copied.Close()
	if got := one(t, copied, "SELECT length(x) FROM t"); got != int64(200000) || steps < 3 {
		t.Errorf("length %v after %d steps", got, steps)
	}
}

func TestCodes(t *testing.T) {
	c, path := create(t, NewOpener(nil))
	exec(t, c, "PRAGMA foreign_keys = 1")
	exec(t, c, "INSERT INTO t (x) VALUES ('a')")
	failed := func(c *Conn, text string) error {
		_, err := c.ExecContext(background, text, nil)
		return err
	}
	other, err := NewOpener(nil).Open(uri(path))
	must(t, err)
	defer other.Close()
	exec(t, other, "PRAGMA busy_timeout = 0")
	exec(t, c, "BEGIN IMMEDIATE")
	busy := failed(other, "BEGIN IMMEDIATE")
	exec(t, c, "ROLLBACK")
	_, none := NewOpener(nil).Open(uri(filepath.Join(path, "no", "where")))
	if none == nil {
		t.Error("a file that is not there was opened")
	}
	db, err := sql.Open(Name, "file:"+path+"?mode=ro")
	must(t, err)
	defer db.Close()
	_, readOnly := db.Exec("DELETE FROM t")
	for _, k := range []struct {
		name              string
		err               error
		primary, extended int
	}{
		{"unique", failed(c, "INSERT INTO t (x) VALUES ('a')"), Constraint, ConstraintUnique},
		{"foreign key", failed(c, "INSERT INTO t (parent) VALUES (99)"), Constraint, ConstraintForeignKey},
		{"busy", busy, Busy, Busy},
		{"not there", none, CantOpen, 0},
		{"read-only", readOnly, ReadOnly, 0},
	} {
		got, ok := CodesOf(k.err)
		if !ok || got.Primary != k.primary || k.extended != 0 && got.Extended != k.extended {
			t.Errorf("%s: %+v, %v of %v", k.name, got, ok, k.err)
		}
	}
	if _, ok := CodesOf(os.ErrNotExist); ok {
		t.Error("an error that is not SQLite's has codes")
	}
}
