package sqlite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"filewise"
	"filewise/own/inspect"
)

// Of a database in WAL mode and one with holes the header shows it; nothing is created
// next to them, and no byte changes.
func TestInspect(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]string{"a1.db": "wal", "a2.db": "delete"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"PRAGMA page_size=1024", "PRAGMA journal_mode=" + mode, "CREATE TABLE t(a)",
			"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < 100) INSERT INTO t SELECT randomblob(900) FROM c",
			"DELETE FROM t WHERE rowid > 10"} {
			if _, err := db.query(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	i, err := inspect.Facts(t.Context(), New(), filewise.Target{Volumes: []filewise.Volume{{Dir: dir}}})
	if err != nil || len(i.Groups) != 1 || len(i.Groups[0].Files) != 2 || len(i.Gaps) != 0 {
		t.Fatalf("%+v, %v", i, err)
	}
	for _, f := range i.Groups[0].Files {
		if f.Bytes < 90*1024 || f.Free == nil || *f.Free < 50*1024 || *f.Free > f.Bytes {
			t.Errorf("%+v", f)
		}
	}
	if after := contents(t, dir); !slices.Equal(before, after) {
		t.Errorf("before %q, after %q", before, after)
	}
	if _, err := inspect.Facts(t.Context(), New(),
		filewise.Target{Volumes: []filewise.Volume{{Dir: filepath.Join(dir, "note.txt")}}}); filewise.CodeOf(err) != filewise.CodePreflight {
		t.Errorf("what is no database: %v", err)
	}
}

func contents(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Name(), string(b))
	}
	return all
}
