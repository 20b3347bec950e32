package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/internal/external"
)

// What is dropped is Filewise's, its marker was read right before, and it was offline.
func TestDropBuild(t *testing.T) {
	f := newFake()
	data, index := newName(), newName()
	f.add(t, data, true, data, data+"T00")
	f.add(t, index, true, index, data+"K00")
	f.add(t, "USERS", false, "BOB.ACCOUNTS")
	f.programs[data+"Q00"], f.programs[data+"PKG"], f.programs["BOBS"] = "PROCEDURE", "PACKAGE", "PROCEDURE"
	if err := f.markers().dropBuild(context.Background(), data); err != nil {
		t.Fatal(err)
	}
	if len(f.tablespaces) != 1 || f.tablespaces["USERS"] == nil || len(f.programs) != 1 {
		t.Errorf("left: %v, %v", f.tablespaces, f.programs)
	}
	if len(f.unchecked) > 0 {
		t.Errorf("altered without a look at the mark right before: %v", f.unchecked)
	}
	order := []string{"offline " + index, "drop " + index, "offline " + data, "drop " + data}
	if n := len(f.log); n < 4 || !slices.Equal(f.log[n-4:], order) {
		t.Errorf("the last steps are %v, want %v", f.log, order)
	}
	if !strings.HasPrefix(f.log[0], "drop-program") {
		t.Errorf("programs go first, not %v", f.log)
	}
}

// A build stays in which someone has changed a definition or put one of his own in, whatever its name; it goes once that is undone,
// also when the drop is interrupted between two of its parts.
func TestChangedDefinition(t *testing.T) {
	f := newFake()
	data := newName()
	f.add(t, data, true, data, data+"T00", data+"T01")
	made := [][]any{{data + "T00", "column 1 ID NUMBER"}, {data + "V01", "column 1 CONTENT CHAR"}}
	f.definitions = made[:1]
	sum, err := f.markers().sum(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	f.made[data] = sum
	f.definitions = append(made[:1:1], []any{data + "T00", "index MINE NONUNIQUE 1 ID ASC"})
	if err := f.markers().dropBuild(t.Context(), data); filewise.CodeOf(err) != filewise.CodePreflight || len(f.log) > 0 {
		t.Fatalf("with an index of somebody's: %v, after %v", err, f.log)
	}
	f.definitions = made // with a table that comes and goes
	f.fails["offline"] = oracleError(1013)
	if err := f.markers().dropBuild(t.Context(), data); err == nil || len(f.log) < 2 || !strings.HasPrefix(f.log[0], "made ") {
		t.Fatalf("interrupted: %v, after %v", err, f.log)
	}
	f.definitions, f.fails = nil, map[string]error{}
	if err := f.markers().dropBuild(t.Context(), data); err != nil || len(f.tablespaces) > 0 || len(f.unchecked) > 0 {
		t.Errorf("gone on: %v, left %v, %v", err, f.tablespaces, f.unchecked)
	}
}

// Tables that refer to each other go whatever their order (ORA-02449), and an index tablespace
// that clean comes to first goes with its build (ORA-02429).
func TestDropReferenced(t *testing.T) {
	for _, first := range []int{0, 1} {
		f := newFake()
		data, index := newName(), newName()
		f.add(t, data, true, data, data+"T00", data+"T01", data+"T02")
		f.add(t, index, true, index, data+"K00")
		f.parents[data+"T01"], f.parents[data+"T02"], f.parents[data+"T00"] = data+"T00", data+"T01", data+"T02"
		if err := f.markers().dropBuild(t.Context(), []string{data, index}[first]); err != nil || len(f.tablespaces) > 0 {
			t.Errorf("%v, left %v", err, f.tablespaces)
		}
		if len(f.unchecked) > 0 {
			t.Errorf("altered without a look at the mark right before: %v", f.unchecked)
		}
	}
}

// Nothing of these is altered in any way.
func TestDropRefuses(t *testing.T) {
	name := newName()
	for what, make := range map[string]func(*fakeServer){
		"a table of another account":         func(f *fakeServer) { f.add(t, name, true, name, "BOB.ACCOUNTS") },
		"a table of the account":             func(f *fakeServer) { f.add(t, name, true, name, "ACCOUNTS") },
		"work of another that still runs":    func(f *fakeServer) { f.temporary(f.add(t, name, true, name), "BOB", "7.128") },
		"a temporary segment without a mark": func(f *fakeServer) { f.temporary(f.add(t, name, false, name), "ADA", "7.128") },
		"a temporary name of a user's":       func(f *fakeServer) { f.temporary(f.add(t, name, true, name), "ADA", "NOTES") },
		"a table that was dropped":           func(f *fakeServer) { f.add(t, name, true, name, "BIN$X") },
		"another account's build":            func(f *fakeServer) { f.add(t, name, false, "BOB."+name) },
		"a damaged mark":                     func(f *fakeServer) { f.add(t, name, true, name); f.comments[name] += "x" },
		"a mark of another":                  func(f *fakeServer) { f.add(t, name, true, name); f.comments[name] = deadMarker(t, newName()) },
		"another comment":                    func(f *fakeServer) { f.add(t, name, true, name); f.comments[name] = "keep" },
		"no mark, and a row in the marker":   func(f *fakeServer) { f.add(t, name, false, name).rows = 1 },
		"no mark, and a table of a workload": func(f *fakeServer) { f.add(t, name, false, name, name+"T00") },
		"a table that has no segment yet": func(f *fakeServer) {
			f.add(t, name, true, name)
			f.answers["tables-without-segment"] = [][]any{{"BOB", "EMPTY"}}
		},
	} {
		f := newFake()
		make(f)
		err := f.markers().dropBuild(context.Background(), name)
		if err == nil || len(f.log) > 0 {
			t.Errorf("%s: error %v, executed %v", what, err, f.log)
		} else if f.answers["tables-without-segment"] != nil && !strings.Contains(err.Error(), "BOB.EMPTY") {
			t.Errorf("%s is told as %v", what, err)
		}
	}
	f := newFake()
	f.add(t, "USERS", true, "USERS")
	if err := f.markers().dropBuild(context.Background(), "USERS"); err == nil || len(f.log) > 0 {
		t.Errorf("tablespace USERS with a comment: error %v, executed %v", err, f.log)
	}
	if err := f.markers().alterBy(context.Background(), "USERS", "offline", nil); err == nil || len(f.log) > 0 {
		t.Errorf("altering USERS: error %v, executed %v", err, f.log)
	}
}

// What a dropped table of Filewise's leaves until the server frees it is no one else's.
func TestDropWithRemains(t *testing.T) {
	f, name := newFake(), newName()
	f.temporary(f.add(t, name, true, name), f.account, "7.128")
	if err := f.markers().dropBuild(context.Background(), name); err != nil || len(f.tablespaces) > 0 {
		t.Errorf("%v, left %v", err, f.tablespaces)
	}
}

// Whoever puts something into a tablespace after the first look, and before it is
// offline, keeps it: the second look finds it.
func TestDropSeesLatecomers(t *testing.T) {
	for what, change := range map[string]func(*fakeServer, string){
		"a table": func(f *fakeServer, n string) {
			f.tablespaces[n].segments = append(f.tablespaces[n].segments, []any{"BOB", "T", "TABLE"})
		},
		"the mark lost": func(f *fakeServer, n string) { f.comments[n] = "mine now" },
	} {
		f, name := newFake(), newName()
		f.add(t, name, true, name)
		f.before = func(s statement) {
			if s.section == "offline" {
				change(f, name)
			}
		}
		err := f.markers().dropTablespace(context.Background(), name)
		if err == nil || f.tablespaces[name] == nil || f.tablespaces[name].offline {
			t.Errorf("%s: error %v, tablespace %+v", what, err, f.tablespaces[name])
		}
	}
}

// The two states that a killed run can leave unmarked are recognised, and an
// interrupted drop goes on.
func TestUnmarked(t *testing.T) {
	for what, make := range map[string]func(*fakeServer, string){
		"no segment":                 func(f *fakeServer, n string) { f.add(t, n, false) },
		"the marker table alone":     func(f *fakeServer, n string) { f.add(t, n, false, n) },
		"alone and offline already":  func(f *fakeServer, n string) { f.add(t, n, false, n).offline = true },
		"marked and offline already": func(f *fakeServer, n string) { f.add(t, n, true, n).offline = true },
	} {
		f, name := newFake(), newName()
		make(f, name)
		found, err := leftovers(context.Background(), f.markers())
		if err != nil || len(found) != 1 || found[0].Kept != "" || found[0].Unmarked != (what[0] != 'm') {
			t.Errorf("%s: %+v, %v", what, found, err)
			continue
		}
		if err := external.Remove(context.Background(), f.markers(), found[0]); err != nil || len(f.tablespaces) > 0 {
			t.Errorf("%s: %v, left %v", what, err, f.tablespaces)
		}
	}
}

func TestLeftovers(t *testing.T) {
	f := newFake()
	dead, living, used, others, index := newName(), newName(), newName(), newName(), newName()
	f.add(t, dead, true, dead)
	f.add(t, living, true, living)
	f.comments[living] = livingMarker(t, living)
	f.add(t, used, true, used)
	f.add(t, index, true, index)
	f.add(t, others, true, others, "BOB.T")
	f.add(t, "FILEWISE_NOTES", false, "NOTES")
	f.add(t, "FILEWISE_ABCDEFGHIJKLMNOPQR", true)
	gone := newName() + "Q00"
	f.programs[gone], f.programs["FILEWISE_REPORT"] = "PROCEDURE", "PROCEDURE"
	f.sessions = [][]any{{int64(5), int64(1), used, "build with " + index, "20260101000000"}}
	found, err := leftovers(context.Background(), f.markers())
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{}
	for _, l := range found {
		kept[l.Name] = l.Kept
	}
	if len(found) != 6 || kept[dead] != "" {
		t.Errorf("found %+v", found)
	}
	for name, why := range map[string]string{living: "still runs", used: "KILL SESSION '5,1' IMMEDIATE", index: "session 5", others: "BOB.T",
		gone: "tablespace"} {
		if !strings.Contains(kept[name], why) {
			t.Errorf("%s is kept for %q, want %q", name, kept[name], why)
		}
		err := external.Remove(context.Background(), f.markers(), filewise.Leftover{Kind: kindTablespace, Name: name})
		if err == nil || len(f.log) > 0 {
			t.Errorf("%s is removed: %v, %v", name, err, f.log)
		}
	}
	for _, name := range []string{"USERS", "FILEWISE_NOTES", "FILEWISE_ABCDEFGHIJKLMNOPQR", ""} {
		if err := external.Remove(context.Background(), f.markers(), filewise.Leftover{Kind: kindTablespace, Name: name}); err == nil ||
			len(f.log) > 0 {
			t.Errorf("%q is removed: %v, %v", name, err, f.log)
		}
	}
	if err := external.Remove(context.Background(), f.markers(), filewise.Leftover{Kind: kindTablespace, Name: dead}); err != nil ||
		f.tablespaces[dead] != nil {
		t.Errorf("a dead run's stays: %v", err)
	}
}

// A run that is killed after any number of statements of a build, its extension
// and its drop leaves what clean finds and removes, and nothing else is touched.
func TestKilledAnywhere(t *testing.T) {
	errKilled := errors.New("killed")
	ctx := context.Background()
	for i := range 6 {
		indexes, half := []string{filewise.IndexesTogether, filewise.IndexesApart}[i%2], i > 1
		program := testProgram(t, small)
		l := smallfile(3)
		l.Indexes, l.AddedLater = indexes, filewise.LaterRebuilt
		if i > 3 { // a copy of a schema
			indexes, half, program = filewise.IndexesTogether, i > 4, copyProgram(t, copyFrom)
			l.Indexes, l.AddedLater = indexes, ""
		}
		for killed := 1; ; killed++ {
			d, err := newDesign(serverTarget(), l, program, newNames(indexes == filewise.IndexesApart), usualBlock)
			if err != nil {
				t.Fatal(err)
			}
			f := newFake()
			f.add(t, "USERS", false, "BOB.ACCOUNTS")
			k := &mortal{fakeServer: f, left: killed, half: half, err: errKilled}
			b := &build{server: &server{control: k, about: about{account: f.account}}, design: d,
				conn: held{client: k, close: func() error { return nil }}, markers: markers{k, f.account}}
			err = b.create(ctx)
			if err == nil && l.AddedLater != "" {
				err = b.Extend(ctx)
			}
			if err == nil {
				err = b.Settle(ctx)
			}
			if err == nil {
				for name := range f.comments { // Filewise ends only now
					f.died(t, name)
				}
				err = b.Drop(ctx)
			}
			if err == nil {
				if killed < 15 && i < 4 || killed < 10 {
					t.Errorf("a build has only %d statements", killed)
				}
				break
			}
			if !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			for name := range f.comments {
				f.died(t, name)
			}
			for round := 0; len(f.tablespaces) > 1 && round < 2; round++ { // an index tablespace may go with its build
				found, err := leftovers(ctx, f.markers())
				if err != nil {
					t.Fatal(err)
				}
				for _, left := range found {
					if err := external.Remove(ctx, f.markers(), left); err != nil && filewise.CodeOf(err) != filewise.CodeNotFound {
						t.Errorf("indexes %s, killed at statement %d: %v", indexes, killed, err)
					}
				}
			}
			if len(f.tablespaces) != 1 || f.tablespaces["USERS"] == nil || len(f.programs) > 0 || f.tablespaces["USERS"].offline ||
				len(f.users)+len(f.jobs) > 0 {
				t.Errorf("indexes %s, killed at statement %d: left %v %v", indexes, killed, f.tablespaces, f.programs)
			}
			if len(f.unchecked) > 0 {
				t.Errorf("indexes %s, killed at statement %d: altered without a look at the mark: %v", indexes, killed, f.unchecked)
			}
		}
	}
}

// mortal is a client that is killed after a number of statements that change something;
// half: while the server drops a tablespace, whose tables are gone then.
type mortal struct {
	*fakeServer
	left int
	half bool
	err  error
}

func (m *mortal) exec(ctx context.Context, s statement) error {
	if m.left--; m.left == 0 && m.half && s.section == "drop" {
		name := quoted(s.text)
		delete(m.comments, name)
		for i, r := range m.tablespaces[name].segments {
			m.tablespaces[name].segments[i] = []any{r[0], fmt.Sprintf("7.%d", 128+8*i), "TEMPORARY"}
		}
	}
	if m.left == 0 && m.half && s.section == "copy-import" { // which goes on by itself
		name := buildIn.FindString(s.text)
		m.jobs[name+copyJob] = true
		m.imports(name)
	}
	if m.left <= 0 {
		return m.err
	}
	return m.fakeServer.exec(ctx, s)
}
