package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
	"filewise/internal/sqlitedriver"
)

// sampleStore is the bytes of a store with a run in it.
func sampleStore(t *testing.T) []byte {
	t.Helper()
	s := openNew(t)
	id := newRun(t, s)
	for block := 1; block <= 8; block++ {
		must(t, s.AddTrial(t.Context(), id, sampleTrial(block)))
	}
	must(t, s.Close())
	b, err := os.ReadFile(s.Path())
	must(t, err)
	return b
}

// database is the bytes of an SQLite database after some statements.
func database(t *testing.T, b []byte, statements ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	must(t, os.WriteFile(path, b, 0o600))
	db, err := sql.Open(sqlitedriver.Name, path)
	must(t, err)
	for _, s := range statements {
		_, err := db.Exec(s)
		must(t, err)
	}
	must(t, db.Close())
	b, err = os.ReadFile(path)
	must(t, err)
	return b
}

// A store that is moved away, replaced or overwritten while a run goes on is reported as that, with what can be done.
func TestStoreChangesUnderARun(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string) error
		remedy string
	}{
		"moved":    {func(path string) error { return os.Rename(path, path+".old") }, "put the file back where it was"},
		"removed":  {os.Remove, "put the file back where it was"},
		"replaced": {func(path string) error { return os.Rename(path+"2", path) }, "put the file back where it was"},
		"overwritten": {func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("not a store "), 10_000), 0o600)
		}, "restore the file from a backup"},
	} {
		t.Run(name, func(t *testing.T) {
			other := sampleStore(t)
			s := openNew(t)
			id := newRun(t, s)
			must(t, os.WriteFile(s.Path()+"2", other, 0o600))
			must(t, c.change(s.Path()))
			err := s.AddTrial(t.Context(), id, sampleTrial(1))
			if filewise.CodeOf(err) != filewise.CodeStore || !strings.Contains(filewise.RemedyOf(err), c.remedy) {
				t.Errorf("%v (%s), do this: %s", err, filewise.CodeOf(err), filewise.RemedyOf(err))
			}
			_ = s.Close()
		})
	}
}

// A file that is no store of this version is refused by both ways to open one, with the path and a remedy, and is
// left as it is with nothing next to it.
func TestRefusedFiles(t *testing.T) {
	ours := sampleStore(t)
	garbled := bytes.Clone(ours)
	for i := 4096; i < 4096*4; i++ {
		garbled[i] = byte(i * 7)
	}
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"short text":       {[]byte("hello\n"), "not a Filewise store"},
		"long text":        {bytes.Repeat([]byte("hello\n"), 5000), "not a Filewise store"},
		"zeros":            {make([]byte, 8192), "not a Filewise store"},
		"SQLite":           {database(t, nil, "CREATE TABLE runs (id)"), "not a Filewise store"},
		"SQLite in WAL":    {database(t, nil, "PRAGMA journal_mode = WAL", "CREATE TABLE runs (id)"), "not a Filewise store"},
		"SQLite of others": {database(t, nil, "PRAGMA application_id = 252006673"), "not a Filewise store"},
		"empty SQLite":     {database(t, nil, "VACUUM"), "not a Filewise store"},
		"cut header":       {ours[:60], ""},
		"cut":              {ours[:len(ours)/2], ""},
		"cut by a byte":    {ours[:len(ours)-1], ""},
		"garbled":          {garbled, "damaged"},
		"newer": {database(t, ours, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+2), "UPDATE runs SET version = 'v9.1'"),
			fmt.Sprintf("version %d and needs Filewise v9.1", schemaVersion+2)},
		"newer, other runs": {database(t, ours, fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+1), "DROP TABLE measures",
			"DROP TABLE trials", "DROP TABLE runs"), fmt.Sprintf("version %d and needs a newer Filewise", schemaVersion+1)},
		"newer migration": {database(t, ours, fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, 1)",
			schemaVersion+2)), fmt.Sprintf("version %d and needs", schemaVersion+2)},
		"no tables": {database(t, ours, "DROP TABLE measures", "DROP TABLE trials", "DROP TABLE runs"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a store.db")
			must(t, os.WriteFile(path, c.content, 0o600))
			for how, open := range openers {
				s, err := open(t.Context(), path)
				if err == nil {
					s.Close()
				}
				if filewise.CodeOf(err) != filewise.CodeStore || !strings.Contains(err.Error(), path) ||
					!strings.Contains(err.Error(), c.says) || filewise.RemedyOf(err) == "" {
					t.Errorf("%s: %v (%s)", how, err, filewise.RemedyOf(err))
				}
			}
			if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, c.content) {
				t.Errorf("the file was altered (%v)", err)
			}
			if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
				t.Errorf("there are files beside it: %v", names)
			}
		})
	}
}

type ctx = context.Context

var openers = map[string]func(ctx ctx, path string) (*Store, error){"Open": Open, "OpenExisting": OpenExisting}

func TestRefusedPaths(t *testing.T) {
	dir := t.TempDir()
	pipe, link, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "loop"), filepath.Join(dir, "file")
	makePipe(t, pipe)
	must(t, os.Symlink(link, link))
	must(t, os.WriteFile(file, []byte("x"), 0o600))
	for _, path := range []string{dir, pipe, link, filepath.Join(file, "x.db"), dir + "/" + strings.Repeat("x", 300)} {
		for how, open := range openers {
			if _, err := open(t.Context(), path); filewise.CodeOf(err) != filewise.CodeStore || filewise.RemedyOf(err) == "" {
				t.Errorf("%s %s: %v", how, path, err)
			}
		}
	}
}

// A kill while a store is founded leaves its journal, by which SQLite makes the file empty again: it does not become
// a database that no program recognizes.
func TestKilledWhileFounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "killed.db")
	must(t, found(t.Context(), path))
	founded, err := os.ReadFile(path)
	must(t, err)
	// https://www.sqlite.org/fileformat.html, section 3: no records, and 0 pages before.
	journal := make([]byte, 1024)
	copy(journal, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
	binary.BigEndian.PutUint32(journal[20:], 512)
	binary.BigEndian.PutUint32(journal[24:], 4096)
	leave := func() {
		must(t, os.WriteFile(path, founded, 0o600))
		must(t, os.WriteFile(path+"-journal", journal, 0o600))
	}
	leave()
	if _, err := OpenExisting(t.Context(), path); filewise.CodeOf(err) != filewise.CodeNotFound {
		t.Errorf("for reading: %v", err)
	}
	for _, left := range []func(){func() {}, leave} {
		left()
		for range 2 {
			s, err := Open(t.Context(), path)
			must(t, err)
			must(t, s.Close())
		}
	}
}

func TestOpenExistingCreatesNothing(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.db")
	must(t, os.WriteFile(empty, nil, 0o600))
	for _, path := range []string{empty, filepath.Join(dir, "absent.db"), filepath.Join(dir, "no", "such", "dir.db")} {
		_, err := OpenExisting(t.Context(), path)
		if filewise.CodeOf(err) != filewise.CodeNotFound || !strings.Contains(err.Error(), "no runs yet") {
			t.Errorf("%s: %v", path, err)
		}
	}
	names, err := os.ReadDir(dir)
	if info, _ := os.Stat(empty); err != nil || len(names) != 1 || info.Size() != 0 {
		t.Errorf("left %v", names)
	}
}

func TestOpenCreates(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.db")
	must(t, os.WriteFile(empty, nil, 0o600))
	for _, path := range []string{empty, filepath.Join(dir, "new", "a ?#%41&mode=memory\n.db")} {
		s, err := Open(t.Context(), path)
		must(t, err)
		must(t, s.Finish(t.Context(), newRun(t, s), Outcome{State: Done}))
		must(t, s.Close())
		s, err = OpenExisting(t.Context(), path)
		must(t, err)
		if list, err := s.Runs(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("%q: %v, %v", path, list, err)
		}
		must(t, s.Close())
		if names, _ := os.ReadDir(filepath.Dir(path)); filepath.Dir(path) != dir && len(names) != 1 {
			t.Errorf("beside it: %v", names)
		}
	}
}

func TestDefaultPath(t *testing.T) {
	for _, c := range []struct{ store, xdg, home, want string }{
		{"/s/x.db", "/x", "/h", "/s/x.db"},
		{"", "/x", "/h", "/x/filewise/filewise.db"},
		{"", "relative", "/h", "/h/.local/share/filewise/filewise.db"},
		{"", "", "", ""},
	} {
		t.Setenv("FILEWISE_STORE", c.store)
		t.Setenv("XDG_DATA_HOME", c.xdg)
		t.Setenv("HOME", c.home)
		got, err := DefaultPath()
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	if _, err := Open(t.Context(), ""); filewise.CodeOf(err) != filewise.CodeUsage ||
		!strings.Contains(filewise.RemedyOf(err), "FILEWISE_STORE") {
		t.Errorf("nowhere: %v", err)
	}
}

// Damage anywhere is an error or goes unnoticed, and never a panic. What no run comes to is refused before it takes
// memory: a value of a row, all of them together, and the counts of a histogram that reports that it has millions.
func TestBombsInAStore(t *testing.T) {
	wide := hdrhistogram.New(1, math.MaxInt64, 5)
	must(t, wide.RecordValue(7))
	hist, err := wide.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	must(t, err)
	for name, statement := range map[string]string{
		"a blob":              "UPDATE measures SET slices = zeroblob(70000000)",
		"many objects":        "UPDATE measures SET deltas = '[' || replace(hex(zeroblob(250000)), '0', '{},') || '{}]'",
		"a histogram":         fmt.Sprintf("UPDATE measures SET hist = '%s'", hist),
		"a type's histogram":  fmt.Sprintf(`UPDATE measures SET types = '{"x":{"hist":"%s"}}'`, base64.StdEncoding.EncodeToString(hist)),
		"a plan of one value": "UPDATE runs SET plan = hex(zeroblob(35000000))",
	} {
		s := openNew(t)
		id := newRun(t, s)
		for block := range 4 {
			must(t, s.AddTrial(t.Context(), id, sampleTrial(block+1)))
		}
		other, err := handle(s.path, "rw")
		must(t, err)
		_, err = other.Exec(statement)
		must(t, errors.Join(err, other.Close()))
		_, err = s.Trials(t.Context(), id)
		_, ofRun := s.Run(t.Context(), id)
		if err = errors.Join(err, ofRun); filewise.CodeOf(err) != filewise.CodeStore {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := checkHistogramSize([]byte("no histogram")); err != nil {
		t.Error(err)
	}
}

// A store is for its user alone, one that is there stays as open as it is.
func TestModeOfAStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filewise.db")
	for _, want := range []fs.FileMode{0o600, 0o640} {
		s, err := Open(t.Context(), path)
		must(t, err)
		must(t, s.Close())
		info, err := os.Stat(path)
		must(t, err)
		if runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%v, want %v", info.Mode(), want)
		}
		must(t, os.Chmod(path, 0o640))
	}
}

func TestDamage(t *testing.T) {
	ours := sampleStore(t)
	rng := rand.New(rand.NewPCG(3, 4))
	path := filepath.Join(t.TempDir(), "x.db")
	refused := 0
	for round := range 300 {
		b := bytes.Clone(ours)
		for range 1 << rng.IntN(8) {
			b[100+rng.IntN(len(b)-100)] = byte(rng.Uint32())
		}
		must(t, os.WriteFile(path, b, 0o600))
		if err := useAll(t.Context(), path); err != nil {
			refused++
			if code := filewise.CodeOf(err); code != filewise.CodeStore && code != filewise.CodeNotFound {
				t.Errorf("round %d: %s: %v", round, code, err)
			}
		}
		os.Remove(path + "-journal")
	}
	if refused < 100 {
		t.Errorf("only %d of 300 damaged stores were noticed", refused)
	}
}

// useAll reads all there is, and writes.
func useAll(ctx ctx, path string) error {
	s, err := OpenExisting(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := s.Runs(ctx)
	if err != nil {
		return err
	}
	for _, r := range list {
		if _, err := s.Run(ctx, r.ID); err != nil {
			return err
		}
		if _, err := s.Trials(ctx, r.ID); err != nil {
			return err
		}
	}
	id, err := s.CreateRun(ctx, Run{Plan: samplePlan()})
	if err != nil {
		return err
	}
	if err := s.AddTrial(ctx, id, sampleTrial(1)); err != nil {
		return fmt.Errorf("adding: %w", err)
	}
	return nil
}
