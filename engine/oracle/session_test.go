package oracle

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"filewise"
	"filewise/engine/internal/session"
)

// committing stands for a server that commits rows until a call is interrupted.
type committing struct {
	*fakeServer
	rowsThere int64 // of the worker, from its first on
	design    *design
}

func (c *committing) rows(ctx context.Context, s statement) ([][]any, error) {
	if s.section != "committed-insert" {
		return c.fakeServer.rows(ctx, s)
	}
	for i := range c.rowsThere {
		if c.design.program.First().Args.Args(nil, 1, i)[0] == s.args[0] {
			return [][]any{{int64(1)}}, nil
		}
	}
	return [][]any{{int64(0)}}, nil
}

// The ledger of an interrupted call has what the server has committed of it, also
// when the connection is lost.
func TestInterruptedCalls(t *testing.T) {
	p := testProgram(t, small)
	d, err := newDesign(serverTarget(), smallfile(1), p, testNames[0], usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	for _, there := range []int64{5, 6, 9, 15} { // of the rows 5 … 14
		for _, code := range []int{errInterrupted, 3113, 60, 1653} {
			f := newFake()
			f.fails["call-insert"] = explain(oracleError(code))
			if code == 3113 { // the connection itself is dead
				f.fails["rollback"] = oracleError(3114)
			}
			f.answers["alive"] = [][]any{{int64(0)}}
			control := &committing{f, there, d}
			ctx, cancel := context.WithCancel(context.Background())
			f.before = func(s statement) {
				if s.section == "call-insert" && code == errInterrupted {
					cancel()
				}
			}
			machine, err := session.New(p, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			s := &connection{Session: machine, build: &build{design: d}, held: held{client: f, often: f}, control: control}
			if err := s.render(); err != nil {
				t.Fatal(err)
			}
			done, err := s.Do(ctx, 5, 10)
			cancel()
			if done != there-5 || err == nil {
				t.Errorf("ORA-%d with %d rows: %d done, error %v", code, there, done, err)
			}
			if code == errInterrupted && !errors.Is(err, context.Canceled) {
				t.Errorf("%v is not the context's", err)
			}
			if code == 60 && filewise.ClassOf(err) != filewise.ClassDeadlock || code == 3113 && filewise.ClassOf(err) != filewise.ClassConnection {
				t.Errorf("ORA-%d: class %s", code, filewise.ClassOf(err))
			}
		}
	}
}

// observed returns what a build observes of its data files.
func observed(t *testing.T, f *fakeServer, d *design) ([]filewise.File, error) {
	t.Helper()
	return (&build{server: &server{control: f}, design: d, conn: held{client: f}}).observe(t.Context(), d.files)
}

// TestFullRecycleBin: Oracle 9 of the first contact. DBA_FREE_SPACE takes minutes with a full recycle bin: it is read
// once, no longer than a second, and its figures are absent, with the reason.
func TestFullRecycleBin(t *testing.T) {
	d, err := newDesign(serverTarget(), smallfile(1), testProgram(t, small), testNames[0], usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	for _, took := range []time.Duration{time.Millisecond, 3 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			f, asked, start := newFake(), 0, time.Now()
			identity(f)
			f.tablespaces[d.names.Tablespace] = &fakeSpace{}
			f.dataFiles(d)
			f.answers["files"][0][0] = "/u02/x.dbf"
			f.before = func(s statement) {
				if s.section == "free" {
					asked++
					time.Sleep(took)
				}
			}
			slow, s := took > freePatience, opened(t, f)
			found := s.examine(t.Context(), f, filewise.Demand{})
			if slices.ContainsFunc(found, func(f filewise.Finding) bool { return f.Check == "use of files" && f.Remedy != "" }) != slow {
				t.Errorf("%v: %+v", took, found)
			}
			b := &build{server: s, design: d, conn: held{client: f}}
			files, err := b.observe(t.Context(), d.files)
			if err != nil || len(files) != 1 || (files[0].Used == nil) != slow || slow && asked != 1 || slow && time.Since(start) > took {
				t.Errorf("%v: %+v, %v, asked %d times", took, files, err, asked)
			}
			facts, err := s.facts(t.Context(), f)
			if err != nil || slices.ContainsFunc(facts, func(f filewise.Fact) bool { return f.Name == "use of files" }) != slow {
				t.Errorf("%v: %v, %v", took, facts, err)
			}
		})
	}
}

func TestObserve(t *testing.T) {
	l := smallfile(2)
	d, err := newDesign(serverTarget(filewise.Volume{Name: "a", Dir: "+DATA"}, filewise.Volume{Name: "b", Dir: `C:\ora`}), l,
		testProgram(t, small), testNames[0], usualBlock)
	if err != nil {
		t.Fatal(err)
	}
	blocks, usable := int64(33<<20)/usualBlock, int64(32<<20)/usualBlock
	good := func() *fakeServer {
		f := newFake()
		f.tablespaces[d.names.Tablespace] = &fakeSpace{}
		f.answers["files"] = [][]any{{"+DATA/CDB/x.257.1", int64(5), blocks, "YES", int64(0), int64(0), usable},
			{`C:\ORA\` + "FILEWISE_ABCDEFGHIJKLMNOPQR_0002.DBF", int64(6), blocks, "YES", int64(0), int64(0), usable}}
		f.answers["free"] = [][]any{{int64(5), usable - 100}, {int64(6), usable}}
		return f
	}
	files, err := observed(t, good(), d)
	if err != nil || len(files) != 2 || files[0].Volume != "a" || files[1].Volume != "b" || *files[0].Used != 100*usualBlock ||
		*files[1].Used != 0 || files[0].Bytes != 33<<20 || files[0].Grew != 0 {
		t.Errorf("%+v, %v", files, err)
	}
	outgrown := good()
	outgrown.answers["files"][1][2] = blocks + 10
	if files, err = observed(t, outgrown, d); err != nil || files[1].Grew != 10*usualBlock {
		t.Errorf("a file that grew: %+v, %v", files, err)
	}
	for what, change := range map[string]func(*fakeServer){
		"a file less":             func(f *fakeServer) { f.answers["files"] = f.answers["files"][:1] },
		"another size":            func(f *fakeServer) { f.answers["files"][0][2] = blocks - 1 },
		"a file that cannot grow": func(f *fakeServer) { f.answers["files"][0][3] = "NO" },
		"another path":            func(f *fakeServer) { f.answers["files"][1][0] = `D:\x.dbf` },
		"another group":           func(f *fakeServer) { f.answers["files"][0][0] = "+FRA/x" },
		"no tablespace":           func(f *fakeServer) { f.tablespaces = map[string]*fakeSpace{} },
		"a bigfile":               func(f *fakeServer) { f.answers["tablespace"] = [][]any{{"ONLINE", "YES", int64(8192)}} },
	} {
		f := good()
		change(f)
		if _, err := observed(t, f, d); !errors.Is(err, filewise.ErrLayout) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// sessionOf returns the machine of the first worker.
func sessionOf(d *design) (*session.Session, error) { return session.New(d.program, 0, 0) }

// A table that an interrupted operation has left under the connection's name is dropped before
// the next one (ORA-00955).
func TestChurnLeft(t *testing.T) {
	f, there := newFake(), true
	s := &connection{held: held{client: f}, churn: []statement{{section: "create-churn"}, {section: "fill"}, {section: "drop-churn"}}}
	f.before = func(x statement) {
		delete(f.fails, "create-churn")
		if x.section == "create-churn" && there {
			f.fails["create-churn"] = oracleError(errExists)
		}
		there = x.section != "drop-churn" && (there || x.section == "create-churn")
	}
	if err := s.createAndDrop(t.Context()); err != nil || len(f.log) != 5 || there {
		t.Errorf("%v, %v", err, f.log)
	}
}
