package oracle

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"filewise"
	"filewise/engine/enginetest"
	"filewise/engine/internal/external"
	"filewise/lab/workload"
	"filewise/own/capture"
)

// strict is a server that grants exactly some rights, and notes which are taken. Nil means all.
type strict struct {
	client
	known   enginetest.Catalogue
	views   map[string][]string // rights that texts take, as far as they were looked at
	granted []string
	taken   map[string]bool
	refused []string
}

func (c *strict) rightsOf(s statement) (all []string) {
	switch kindOf(s) {
	case "CREATE TABLESPACE", "DROP TABLESPACE":
		all = append(all, kindOf(s))
	case "ADD DATAFILE", "OFFLINE", "ONLINE":
		all = append(all, "ALTER TABLESPACE")
	case "CREATE TABLE":
		all = append(all, "CREATE TABLE", "UNLIMITED TABLESPACE")
	case createProcedure, "CREATE VIEW", "CREATE SEQUENCE":
		all = append(all, kindOf(s))
	case "CREATE USER", "GRANT", "DROP USER":
		all = append(all, dumpRole)
	case "DBMS_DATAPUMP":
		all = append(all, map[bool]string{true: exportRole, false: dumpRole}[s.section == "copy-export"], onDirectory)
	case "UTL_FILE":
		all = append(all, grantFile, onDirectory)
	}
	if s.section == "lock" {
		all = append(all, grantLock)
	}
	key := buildIn.ReplaceAllString(s.text, "x")
	views, seen := c.views[key]
	if !seen {
		for view := range c.known.Use(s.text).Views {
			if p := c.known[view].Permission; strings.HasPrefix(p, "SYS.") {
				views = append(views, "SELECT ON "+p)
			}
		}
		c.views[key] = views
	}
	return append(all, views...)
}

// check refuses what is not granted, as the server does.
func (c *strict) check(s statement) error {
	for _, right := range c.rightsOf(s) {
		if c.taken[right] = true; c.granted != nil && !slices.Contains(c.granted, right) {
			c.refused = append(c.refused, right+" for "+s.section)
			if strings.HasPrefix(right, "SELECT") {
				return explain(oracleError(errNoView))
			}
			return explain(oracleError(1031))
		}
	}
	return nil
}

func (c *strict) exec(ctx context.Context, s statement) error {
	if err := c.check(s); err != nil {
		return err
	}
	return c.client.exec(ctx, s)
}

// rows answers the questions by which an account learns what it may.
func (c *strict) rows(ctx context.Context, s statement) ([][]any, error) {
	has := func(right string) bool { return c.granted == nil || slices.Contains(c.granted, right) }
	switch s.section {
	case "privileges":
		var all [][]any
		for _, n := range needs() {
			if has(n.Right) {
				all = append(all, []any{n.Right})
			}
		}
		return all, nil
	case "may-lock":
		return [][]any{{map[bool]int64{true: 1}[has(grantLock)]}}, nil
	case "access":
		view := grantable.FindStringSubmatch(s.text)[1]
		if !has("SELECT ON SYS." + strings.ToUpper(view)) {
			return nil, explain(oracleError(errNoView))
		}
		return nil, nil
	}
	if err := c.check(s); err != nil {
		return nil, err
	}
	return c.client.rows(ctx, s)
}

// preflight returns what doctor does, and each run at first.
func preflight(t *testing.T, c *strict, f *fakeServer) (*server, error) {
	identity(f)
	f.answers["parameters"] = [][]any{{"db_files", "200"}, {"processes", "300"}, {"db_create_file_dest", "+DATA"}}
	s := &server{target: serverTarget(), config: &config{}, control: c}
	s.target.Address = &filewise.Address{Scheme: "oracle", Host: "db"}
	if err := s.learn(t.Context(), c); err != nil {
		return nil, err
	}
	s.markers = markers{c, s.about.account}
	s.Examine(t.Context(), filewise.Demand{Program: testProgram(t, small), Layouts: []filewise.Layout{smallfile(3)},
		Space: map[string]int64{"default": 1}})
	_, err := s.facts(t.Context(), c)
	return s, err
}

// ran returns a run: preflight, the lock, a life, the probes.
func ran(indexes string) func(*testing.T, *strict, *fakeServer) error {
	return func(t *testing.T, c *strict, f *fakeServer) error {
		s, err := preflight(t, c, f)
		if err != nil {
			return err
		}
		f.answers["this-session"] = [][]any{{"7", "1", "1"}}
		f.sessions = [][]any{{int64(7), int64(1), measuring, "me", "20260101000001"}}
		f.answers["activity"] = [][]any{{int64(0), int64(0), int64(0)}}
		_, active := s.Activity(t.Context())
		life := &refusing{fakeServer: f, count: map[string]int{}, x: enginetest.Refusal{}}
		as := indexes
		if indexes == aCopy && (c.granted == nil || slices.Contains(c.granted, exportRole)) {
			as = ourDump
		}
		if indexes == setUp && c.granted != nil && !slices.Contains(c.granted, "CREATE VIEW") {
			as = tablesOnly
		}
		b, err := life.build(t, as, c, s)
		return errors.Join(s.lock(t.Context(), c, "me"), active, err, life.pass(t, b, func(context.Context) error {
			for _, p := range b.database().Probes {
				if _, err := p.Read(t.Context()); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// TestNeeds: the matrix of rights has what the statements of each command take and nothing else; with exactly these
// nothing is refused, and with those alone that it cannot do without, each command works.
func TestNeeds(t *testing.T) {
	known, views := enginetest.ReadCatalogue(t, "testdata/catalogue.txt"), map[string][]string{}
	commands := map[string]func(*testing.T, *strict, *fakeServer) error{
		byDoctor: func(t *testing.T, c *strict, f *fakeServer) error { _, err := preflight(t, c, f); return err },
		byRun:    ran(filewise.IndexesApart), byCopy: ran(aCopy), byCustom: ran(setUp),
		byClean: func(t *testing.T, c *strict, f *fakeServer) error {
			data, index := newName(), newName()
			f.add(t, data, true, data, data+"T00")
			f.add(t, index, true, index, data+"K00")
			m := markers{c, f.account}
			found, err := leftovers(t.Context(), m)
			for _, left := range found {
				if removed := external.Remove(t.Context(), m, left); filewise.CodeOf(removed) != filewise.CodeNotFound {
					err = errors.Join(err, removed)
				}
			}
			if len(f.tablespaces) > 0 {
				err = errors.Join(err, errors.New("something is left"))
			}
			return err
		},
		byInspect: func(t *testing.T, c *strict, f *fakeServer) error {
			f.answers = inspectedServer().answers
			inspectWith(t.Context(), c)
			return nil
		},
		byCapture: func(t *testing.T, c *strict, _ *fakeServer) error {
			c.client = newShop()
			w, err := watching(t, c, "shop")
			if err == nil {
				_, err = capture.Take(t.Context(), capturing(t), w, capture.Options{Engine: "oracle", Database: "shop", Values: true})
			}
			return err
		},
		byApply: func(t *testing.T, c *strict, f *fakeServer) error {
			f.answers = migratedServer().answers
			target := serverTarget(filewise.Volume{Name: "a"}, filewise.Volume{Name: "b", Dir: "+FAST"})
			_, err := migrateWith(t.Context(), c, migratedAbout, target, filewise.Wish{Layout: smallfile(4), Database: "SALES", Run: 7})
			return err
		},
	}
	for command, do := range commands {
		with := []string{command}
		if of := map[string]string{byRun: byLoops, byCopy: byCopy, byCustom: byCustom}[command]; of != "" { // each next to what all runs need
			with = []string{byRun, of}
		}
		var all []filewise.Need
		for _, n := range needs() {
			of := func(listed []string) []string {
				return slices.DeleteFunc([]string{command}, func(string) bool {
					return !slices.ContainsFunc(with, func(w string) bool { return slices.Contains(listed, w) })
				})
			}
			n.Commands, n.Parts = of(n.Commands), of(n.Parts)
			all = append(all, n)
		}
		try := func(granted []string) (*strict, error) {
			f := newFake()
			c := &strict{client: f, known: known, views: views, granted: granted, taken: map[string]bool{"CREATE SESSION": true}}
			return c, do(t, c, f)
		}
		c, err := try(nil)
		if err != nil {
			t.Errorf("%s: %v", command, err)
		}
		enginetest.SameNeeds(t, all, command, c.taken)
		if c, err = try(enginetest.RightsOf(all, command, false)); err != nil || len(c.refused) > 0 {
			t.Errorf("%s with exactly its rights: %v, refused %q", command, err, c.refused)
		}
		least := enginetest.RightsOf(all, command, true)
		if c, err = try(least); err != nil {
			t.Errorf("%s with the least rights: %v, refused %q", command, err, c.refused)
		}
		for _, right := range least {
			if _, err := try(enginetest.Without(least, right)); err == nil && right != "CREATE SESSION" { // without which no one gets so far
				t.Errorf("%s works without %s", command, right)
			}
		}
	}
	for _, n := range needs() { // on every version that is not refused
		view, reads := strings.CutPrefix(n.Right, "SELECT ON SYS.")
		since, _, _ := strings.Cut(known["sys."+strings.ToLower(view)].Since, ".")
		if major, err := strconv.Atoi(since); reads && (err != nil || major > max(n.From, oldest[0])) {
			t.Errorf("%s is there since %q, not on all versions", n.Right, since)
		}
	}
	enginetest.NeedsDocumented(t, "../../docs/engine-oracle.md", "oracle", needs())
}

// TestNoLoops: what has no procedures on the server needs no right to create them, and what has is absent without it.
func TestNoLoops(t *testing.T) {
	scan, err := workload.NewScan(workload.Params{Rows: 1000, Cache: workload.CacheWarm, Data: workload.DataOrdered, Repeat: 1}, 7)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{missing: map[string]bool{createProcedure: true}, about: about{account: "ADA"}}
	for _, c := range []struct {
		program filewise.Program
		absent  bool
	}{{scan.Program(), false}, {testProgram(t, small), true}} {
		e := &examination{server: s}
		e.Demand.Program = c.program
		e.rights()
		failed := slices.ContainsFunc(e.Findings, func(f filewise.Finding) bool { return f.Status == filewise.StatusFailed && f.Absent })
		if lacks := s.lacking(loops(c.program)) != ""; lacks != c.absent || failed != c.absent {
			t.Errorf("%s: lacks %v, absent %v", c.program.Workload, lacks, failed)
		}
	}
}
