package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
	"filewise/lab/workload"
)

// Every arm keeps every row, whatever the tables, the keys and the numbers of
// files and connections, and rows lie where the arm puts them.
func TestAddedLaterKeepsEveryRow(t *testing.T) {
	for _, arm := range arms {
		for _, files := range []int{1, 3, 7} { // fewer and more than connections
			for _, table := range []string{workload.TableShared, workload.TablePerConnection} {
				for _, key := range []string{workload.KeySequential, workload.KeyRandom} {
					t.Run(fmt.Sprintf("%s-%d-%s-%s", arm, files, table, key), func(t *testing.T) {
						laterKeeps(t, arm, files, table, key)
					})
				}
			}
		}
	}
}

func laterKeeps(t *testing.T, arm filewise.AddedLater, files int, table, key string) {
	ctx := context.Background()
	w, err := workload.NewInserts(workload.Params{Connections: 4, RowBytes: 500, CommitEvery: 2, Table: table, Key: key}, 3)
	must(t, err)
	dir := t.TempDir()
	srv, err := New().Open(ctx, target(dir))
	must(t, err)
	l := layout(files, 4<<20)
	l.AddedLater = arm
	db, err := srv.Build(ctx, l, w.Program())
	must(t, err)
	insertFrom(t, db, 0, 50)
	must(t, db.Extend(ctx))
	if err := db.Extend(ctx); err == nil {
		t.Error("files are added twice")
	}
	must(t, w.Check(ctx, db, 0, []filewise.Ledger{{50, 50, 50, 50}}))
	before := rowsByFile(t, db)
	insertFrom(t, db, 50, 40)
	must(t, w.Check(ctx, db, 0, []filewise.Ledger{{90, 90, 90, 90}}))
	for i, n := range rowsByFile(t, db) {
		grew := n - before[i]
		switch {
		case files == 1:
			continue
		case arm == filewise.LaterNewData && i == 0 && (before[0] != 200 || grew != 0),
			arm == filewise.LaterNewData && i > 0 && (before[i] != 0 || grew == 0),
			arm == filewise.LaterRebuilt && (before[i] < 200/files/2 || grew == 0):
			t.Errorf("file %d had %d of the 200 loaded rows, and got %d of 160", i+1, before[i], grew)
		}
	}
	must(t, db.Drop(ctx))
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func insertFrom(t *testing.T, db *filewise.Database, first, n int64) {
	t.Helper()
	for c := range 4 {
		s, err := db.Connect(context.Background(), 0, c)
		must(t, err)
		_, err = s.Do(context.Background(), first, n)
		must(t, err)
		if err := db.Extend(context.Background()); err == nil {
			t.Error("files are added while a connection is open")
		}
		must(t, s.Close())
	}
}

func rowsByFile(t *testing.T, db *filewise.Database) []int {
	t.Helper()
	d := db.Build.(*database)
	var all []int
	for _, f := range d.files {
		total := 0
		for _, table := range f.tables {
			n, err := f.keeper.value(context.Background(), "SELECT count(*) FROM "+ident(table))
			must(t, err)
			total += int(n.(int64))
		}
		all = append(all, total)
	}
	return all
}

// A file of the user's if one is to be added is left alone, and so is nothing
// of the build.
func TestAddedFilesNeverReplaceAnything(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	mine := filepath.Join(dir, "3-files-0002.db")
	must(t, os.WriteFile(mine, []byte("mine"), 0o600))
	srv, err := New().Open(ctx, target(dir))
	must(t, err)
	l := layout(3, 4<<20)
	l.AddedLater = filewise.LaterRebuilt
	db, err := srv.Build(ctx, l, inserts(t, 4, 100, 1).Program())
	must(t, err)
	if err := db.Extend(ctx); err == nil || !strings.Contains(err.Error(), "is left alone") {
		t.Errorf("extending over a file of the user's: %v", err)
	}
	must(t, db.Drop(ctx))
	left, _ := os.ReadDir(dir)
	if text, err := os.ReadFile(mine); len(left) != 1 || string(text) != "mine" || err != nil {
		t.Errorf("left %v, and the user's file says %q", left, text)
	}
}

// The plan of a rebuild describes what is attached, copied and removed.
func TestScriptOfAddedFiles(t *testing.T) {
	for arm, want := range map[filewise.AddedLater]string{
		filewise.LaterUntouched: "", filewise.LaterNewData: "CREATE TABLE", filewise.LaterRebuilt: "INSERT INTO fw_rebuilt.",
	} {
		l := layout(3, 4<<20)
		l.AddedLater = arm
		script, err := New().Statements(target(t.TempDir()), l, inserts(t, 4, 100, 1).Program())
		must(t, err)
		var text string
		for _, s := range script.Steps {
			if s.Stage == filewise.StageExtend {
				text += s.SQL + "\n"
			}
		}
		if want == "" && text != "" || !strings.Contains(text, want) {
			t.Errorf("%s: the steps of adding files are %q", arm, text)
		}
	}
}
