package sqlserver

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/internal/longtest"
	"filewise/internal/marker"
	"filewise/lab/workload"
)

// kinds of statements, as testdata/refusals.txt names them, by how they begin on a line of a batch.
var kinds = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"CREATE DATABASE", begins(`CREATE DATABASE `)}, {"SET OFFLINE", begins(`ALTER DATABASE \S+ SET OFFLINE`)},
	{"SET ONLINE", begins(`ALTER DATABASE \S+ SET ONLINE`)}, {"ADD FILE", begins(`ALTER DATABASE \S+ (?:ADD|MODIFY) FILE`)},
	{"ALTER DATABASE SET", begins(`ALTER DATABASE \S+ SET `)}, {"DROP DATABASE", begins(`DROP DATABASE `)},
	{"RESTORE DATABASE", begins(`RESTORE DATABASE `)}, {"RESTORE HEADER", begins(`RESTORE (?:FILELIST|HEADER)ONLY`)},
	{"BACKUP DATABASE", begins(`BACKUP DATABASE `)}, {"DBCC CHECKDB", begins(`DBCC CHECKDB`)},
	{"sp_addextendedproperty", begins(`EXEC \S+\.sys\.sp_(?:add|update)extendedproperty`)},
	{"sp_getapplock", begins(`EXEC @result = sys\.sp_getapplock`)}, {"CREATE TABLE", begins(`CREATE TABLE`)},
	{"CREATE INDEX", begins(`CREATE (?:\w+ )*INDEX`)}, {"CREATE PROCEDURE", begins(`CREATE PROCEDURE`)}, {"INSERT", begins(`INSERT INTO`)},
	{"REBUILD", begins(`ALTER (?:TABLE|INDEX) .*REBUILD`)}, {"CHECKPOINT", begins(`CHECKPOINT`)},
}

func begins(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*` + pattern) }

type said struct {
	at   int // where in the batch it begins
	kind string
	nth  int // of its kind in a life, from 1
}

// statements returns the statements of a batch, in order; one of no other kind is a SELECT. What from-model drops is there in no life.
func statements(text string) (all []said) {
	for _, k := range kinds {
		for _, at := range k.pattern.FindAllStringIndex(text, -1) {
			if !slices.ContainsFunc(all, func(s said) bool { return s.at == at[0] }) {
				all = append(all, said{at: at[0], kind: k.name})
			}
		}
	}
	if len(all) == 0 || strings.Contains(text, "DECLARE @found") {
		return []said{{kind: "SELECT"}}
	}
	slices.SortFunc(all, func(a, b said) int { return cmp.Compare(a.at, b.at) })
	return all
}

// counter numbers the statements of a life, which begins with what creates, restores or backs up a database.
type counter struct {
	of    map[string]int
	begun bool
}

func (c *counter) statements(text string) []said {
	c.begun = c.begun || strings.Contains(text, "CREATE DATABASE [") || strings.Contains(text, "RESTORE FILELISTONLY") ||
		strings.Contains(text, "BACKUP DATABASE [")
	if !c.begun || text == "" {
		return nil
	}
	all := statements(text)
	for i, s := range all {
		c.of[s.kind]++
		all[i].nth = c.of[s.kind]
	}
	return all
}

// life is a build from its creation to its end.
type life struct {
	name    string
	start   func(*testing.T) *lab
	layout  filewise.Layout
	program filewise.Program
	steps   func(*filewise.Database) []func(context.Context) error
}

func lives(t *testing.T) []life {
	settle := func(db *filewise.Database) []func(context.Context) error {
		return []func(context.Context) error{db.Settle}
	}
	cycled := inserts(t, nil).Program()
	cycled.Cycles = true
	scan, err := workload.NewScan(workload.Params{Rows: 1000, Cache: string(filewise.CacheBufferCold), Data: workload.DataOrdered,
		Repeat: 1}, 7)
	ok(t, err)
	backup, err := workload.NewBackup(workload.Params{Rows: 1000}, 1)
	ok(t, err)
	apart, plain := layout(3), layout(2)
	apart.Indexes, apart.AddedLater = filewise.IndexesApart, filewise.LaterRebuilt
	spread := layout(3)
	spread.Indexes = filewise.IndexesApart
	may := func(t *testing.T) *lab {
		lab := newLab(t, func(m *model) { m.alterAny = true })
		lab.add(theirs, nil)
		return lab
	}
	copies := func(t *testing.T) *lab { return newCopyLab(t, func(m *model) { m.alterAny = true }).lab }
	return []life{
		{"tables", may, apart, inserts(t, nil).Program(), func(db *filewise.Database) []func(context.Context) error {
			return append(settle(db), db.Extend)
		}},
		{"offline and online", may, plain, cycled, func(db *filewise.Database) []func(context.Context) error {
			return []func(context.Context) error{func(ctx context.Context) error {
				_, _, err := db.Cycle(ctx)
				return err
			}}
		}},
		{"empty buffers", may, plain, scan.Program(), func(db *filewise.Database) []func(context.Context) error {
			return append(settle(db), func(ctx context.Context) error { _, err := db.ParallelWorkers(ctx, 0); return err }, db.Cool)
		}},
		{"restored", copies, spread, fromProgram(t, theirBackup), settle},
		{"backup", func(t *testing.T) *lab {
			lab := may(t)
			lab.target.Settings = map[string]string{"keep-backups": "on"}
			return lab
		}, plain, backup.Program(), func(db *filewise.Database) []func(context.Context) error {
			return []func(context.Context) error{
				func(ctx context.Context) error { _, err := db.Backup.Backup(ctx); return err },
				db.Backup.Restore, func(ctx context.Context) error {
					if err := db.Backup.Verify(ctx); !hasNumber(err, 102) { // the model has no sums
						return err
					}
					return nil
				}, db.Backup.Discard,
			}
		}},
		{"their backup", func(t *testing.T) *lab { return newOwnLab(t, nil).lab }, ownLayout(2), ownProgram(t, true),
			func(db *filewise.Database) []func(context.Context) error {
				return []func(context.Context) error{
					func(ctx context.Context) error { _, err := db.Backup.Backup(ctx); return err }, db.Backup.Restore, db.Backup.Verify,
				}
			}},
	}
}

// hasten shortens a server's pauses.
func hasten(s filewise.Server) {
	of, is := s.(*externalServer)
	if !is {
		of = s.(*ownServer).externalServer
	}
	of.pauses = pauses{drop: 200 * time.Millisecond, again: 2 * time.Millisecond, wake: time.Millisecond}
}

// live goes through a life, to its drop whatever fails, and reports whether anything did.
func (l life) live(t *testing.T, lab *lab) error {
	s, err := Engine{}.Open(t.Context(), lab.target)
	if err != nil {
		return err
	}
	hasten(s)
	db, err := s.Build(t.Context(), l.layout, l.program)
	if err == nil {
		for _, step := range l.steps(db) {
			if err == nil {
				err = step(t.Context())
			}
		}
		if dropped := db.Drop(t.Context()); err == nil {
			err = dropped
		}
	}
	if closed := s.Close(); err == nil {
		err = closed
	}
	return err
}

func (l life) rehearse(t *testing.T) (all []said) {
	lab := l.start(t)
	answer, c := lab.model.fault, counter{of: map[string]int{}}
	var mu sync.Mutex
	lab.model.fault = func(ctx context.Context, q Request, r *Reply) (bool, error) {
		mu.Lock()
		all = append(all, c.statements(q.SQL)...)
		mu.Unlock()
		if answer == nil {
			return false, nil
		}
		return answer(ctx, q, r)
	}
	if err := l.live(t, lab); err != nil {
		t.Fatalf("%s: %v", l.name, err)
	}
	return all
}

// refusing has one statement of a life be refused, and then others of its kind, clean's too if it is for
// good. If dies is set, nothing arrives after it. What it returns ends the run.
func refusing(lab *lab, s said, x enginetest.Refusal, dies bool) (over func()) {
	answer, c, refused, ended := lab.model.fault, counter{of: map[string]int{}}, false, false
	if answer == nil {
		answer = func(context.Context, Request, *Reply) (bool, error) { return false, nil }
	}
	var mu sync.Mutex
	lab.model.fault = func(ctx context.Context, q Request, r *Reply) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		if refused && !ended && dies {
			return true, ErrHangUp
		}
		all := c.statements(q.SQL)
		at := slices.IndexFunc(all, func(other said) bool {
			return other.kind == s.kind && other.nth >= s.nth && (!ended || x.Always && refused) &&
				(s.kind != "SELECT" || q.Session.Login.Database != "master") // where everyone may look
		})
		if at < 0 {
			return answer(ctx, q, r)
		}
		if s.kind == "BACKUP DATABASE" { // it has written files
			_, _ = answer(ctx, q, r)
		}
		if refused = true; at > 0 { // what stands before it is done
			before := q
			before.SQL = q.SQL[:all[at].at]
			if handled, err := answer(ctx, before, r); err != nil || !handled && lab.model.execute(ctx, before, r) != nil {
				return true, err
			}
		}
		r.Error(int32(x.Number), 16, x.Text)
		return true, nil
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
	}
}

// clean returns what clean does an hour later, with the same account, and its messages.
func clean(t *testing.T, lab *lab) string {
	lab.model.mu.Lock()
	for name, d := range lab.model.databases {
		if old := d.properties["filewise"]; old != "" && marker.IsName(name) {
			d.properties["filewise"] = enginetest.DeadMarker(t, name, strings.Contains(old, `"custom":true`))
		}
		d.age = 60
	}
	lab.model.mu.Unlock()
	target := lab.target
	target.Database = ""
	opened, err := Engine{}.Open(t.Context(), target)
	if err != nil {
		return err.Error()
	}
	s := opened.(*externalServer)
	hasten(s)
	defer s.Close()
	left, err := s.Leftovers(t.Context())
	text := fmt.Sprint(err)
	for _, x := range left {
		text += "\n" + x.Kept
		if err := s.Remove(t.Context(), x); err != nil {
			text += "\n" + err.Error() + "; " + filewise.RemedyOf(err)
		}
	}
	return text
}

// TestLeavesNothing: every statement of every life is refused in every way that the vendor documents of it, once and from
// then on, and the run goes on, or dies. Then clean with the same account leaves nothing, or names the statement that an
// administrator has to give. By default the first and the last statement of each kind are, in the first life that has it.
// First contact: SQL Server 1, and 15: a copy that the account may not mark goes in the run.
func TestLeavesNothing(t *testing.T) {
	refusals := enginetest.ReadRefusals(t, "testdata/refusals.txt")
	used := map[string]string{} // the first life, by kind
	for _, l := range lives(t) {
		all := l.rehearse(t)
		for i, s := range all {
			used[s.kind] = cmp.Or(used[s.kind], l.name)
			if refusals[s.kind] == nil {
				t.Errorf("%s: how %s is refused is in no table", l.name, s.kind)
			}
			of := func(other said) bool { return other.kind == s.kind }
			if !longtest.Wanted() && (used[s.kind] != l.name || slices.IndexFunc(all, of) < i && slices.ContainsFunc(all[i+1:], of)) {
				continue
			}
			for _, x := range refusals[s.kind] {
				for _, dies := range []bool{false, true} {
					lab := l.start(t)
					over := refusing(lab, s, x, dies)
					what := fmt.Sprintf("%s, %s %d is refused by %d, dies: %v", l.name, s.kind, s.nth, x.Number, dies)
					failed := l.live(t, lab)
					over()
					told := clean(t, lab)
					for _, name := range lab.names() {
						if name != theirs && !regexp.MustCompile(`(DROP|ALTER) DATABASE \[`+name+`\]`).MatchString(told) {
							t.Errorf("%s (%v): left is %s, %s, of which clean says: %s", what, failed, name, lab.model.databases[name].state, told)
						}
					}
					if !slices.Contains(lab.names(), theirs) {
						t.Errorf("%s: theirs is gone", what)
					}
					for _, v := range lab.target.Volumes {
						if files, _ := filepath.Glob(filepath.Join(v.Dir, "*.bak")); v.Dir != "" && len(files) > 0 {
							t.Errorf("%s (%v): left are %q", what, failed, files)
						}
					}
				}
			}
		}
	}
	for kind := range refusals {
		if used[kind] == "" {
			t.Errorf("no life says %s", kind)
		}
	}
}
