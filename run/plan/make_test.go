package plan_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filewise"
	"filewise/engine/all"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/run/plan"
)

// A plan is made of a struct alone. A variable's value for which the plan has no use is passed over, and is not in
// the command that repeats it.
func TestMake(t *testing.T) {
	engines := plan.Engines(all.Engines())
	o := engines.New()
	o.Files, o.Window, o.Seed = plan.Of([]int{1, 4}), plan.Of(2*time.Second), plan.Of("7")
	o.Volumes = plan.Of([]plan.Pair{{Name: "here", Value: t.TempDir()}})
	o.Users = plan.Opt[[]int]{Value: []int{8}, From: plan.Variable}
	made, err := engines.Make(o)
	if err != nil {
		t.Fatal(err)
	}
	command := strings.Join(made.Command, " ")
	if made.Scenario != plan.DefaultScenario || made.Engine != engines[0] || len(made.Layouts) != 2 || made.Seed != 7 ||
		made.Window != 2*time.Second ||
		!strings.HasPrefix(command, "filewise run inserts --files 1,4 --window 2s --volume here=/") || !strings.HasSuffix(command, " --seed 7") {
		t.Errorf("%+v", made.Plan)
	}
	if !o.Users.Given() {
		t.Error("the caller's options were altered")
	}
	o.Users.From = plan.Given
	if _, err := engines.Make(o); filewise.CodeOf(err) != filewise.CodeUsage ||
		!strings.Contains(err.Error(), "--users is a flag of scenario orders") {
		t.Error(err)
	}
}

// If layouts take turns at fixed work, it is the budget that ends the run: pilots lengthen a window, and not such
// work.
func TestBudgetEndsTurnsAtFixedWork(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for _, test := range []struct {
		change func(*plan.Options)
		blocks int
	}{
		{func(o *plan.Options) { o.Work = plan.Of("8MiB") }, 30},
		{func(*plan.Options) {}, 20},
		{func(o *plan.Options) { o.Work, o.MaxBlocks = plan.Of("8MiB"), plan.Of(12) }, 12},
		{func(o *plan.Options) { o.Work, o.Interleaved = plan.Of("8MiB"), plan.Of(false) }, 20},
		{func(o *plan.Options) { o.Work, o.Budget = plan.Of("8MiB"), plan.Of(time.Duration(0)) }, 20},
	} {
		o := engines.New()
		test.change(o)
		if made, err := engines.Make(o); err != nil || made.MaxBlocks != test.blocks {
			t.Errorf("%d blocks, not %d: %v", made.MaxBlocks, test.blocks, err)
		}
	}
}

// Rows that arrive at a rate are committed one by one by default: at 100 a second no connection of 16
// would fill a transaction of 100 rows within a window.
func TestRateCommitsEachRow(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for _, url := range []string{"", "sqlserver://u@h", "oracle://u@h/x"} {
		for given, want := range map[int]int{0: 1, 10: 10} {
			o := engines.New()
			if o.Rate = plan.Of(100.0); url == "" {
				o.Engine = plan.Of("mariadb")
			} else {
				o.Target = plan.Of(url)
			}
			if given > 0 {
				o.CommitEvery = plan.Of(given)
			}
			if made, err := engines.Make(o); err != nil || made.Params.CommitEvery != want {
				t.Errorf("%s, given %d: %d rows a commit, %v", url, given, made.Params.CommitEvery, err)
			}
		}
	}
}

// A ladder changes nothing that is given, and there is none for a design that is not Filewise's.
func TestLadderLeavesWhatIsGiven(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for _, x := range []struct {
		scenario string
		change   func(*plan.Options)
		want     *experiment.Ladder
	}{
		{"inserts", func(*plan.Options) {}, &experiment.Ladder{CommitEvery: 100, Connections: true}},
		{"inserts", func(o *plan.Options) { o.CommitEvery, o.Connections = plan.Of(1), plan.Of(3) }, &experiment.Ladder{}},
		{"inserts", func(o *plan.Options) { o.Rate = plan.Of(100.0) }, &experiment.Ladder{Connections: true}},
		{"orders", func(*plan.Options) {}, &experiment.Ladder{Data: "warehouses", Size: true}},
		{"orders", func(o *plan.Options) { o.Warehouses = plan.Of(4) }, &experiment.Ladder{}},
		{"scan", func(*plan.Options) {}, &experiment.Ladder{Data: "rows", Size: true}},
		{"scan", func(o *plan.Options) { o.Size = plan.Of("64MiB") }, &experiment.Ladder{}},
		{"inserts", func(o *plan.Options) { o.AsPublished = plan.Of(true) }, nil},
	} {
		o := engines.New()
		o.Scenario = x.scenario
		x.change(o)
		made, err := engines.Make(o)
		if x.want != nil {
			x.want.MostBytes = 8 << 30
		}
		if diff := cmp.Diff(x.want, made.Ladder); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", x.scenario, err, diff)
		}
	}
}

// Every option that a plan does not understand is refused with what to do.
func TestMakeRefuses(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for name, change := range map[string]func(*plan.Options){
		"--durability":  func(o *plan.Options) { o.Durability = plan.Of("ful") },
		"--indexes":     func(o *plan.Options) { o.Indexes = plan.Of("near") },
		"--measure":     func(o *plan.Options) { o.Measure = plan.Of("all") },
		"--window":      func(o *plan.Options) { o.Window = plan.Of(time.Duration(0)) },
		"--set":         func(o *plan.Options) { o.Settings = plan.Of([]plan.Pair{{Name: "x", Bare: true}}) },
		"--layout":      func(o *plan.Options) { o.Layouts = plan.Of([]plan.LayoutSpec{{{Name: "kind", Value: "shards"}}}) },
		"--no-password": func(o *plan.Options) { o.NoPassword = plan.Of(true) },
		"--allow":       func(o *plan.Options) { o.Allow = plan.Of([]string{"standby"}) },
		"scenario":      func(o *plan.Options) { o.Scenario = "insrets" },
		"engine":        func(o *plan.Options) { o.Engine = plan.Of("sqlit") },
	} {
		o := engines.New()
		change(o)
		_, err := engines.Make(o)
		var said *filewise.Error
		if !errors.As(err, &said) || said.Code != filewise.CodeUsage || filewise.RemedyOf(err) == "" ||
			!strings.HasPrefix(strings.Replace(err.Error(), ":", " ", 1), name+" ") || strings.Contains(err.Error(), " true ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// On an existing server no cache is emptied except a build's own part of the buffer pool, if the engine can. The plan
// states that, before the first trial.
func TestCacheOfExistingServer(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for url, cools := range map[string]bool{"sqlserver://ada@db": true, "oracle://ada@db/pdb": true, "postgres://ada@db/d": false,
		"mariadb://ada@db": false, "mysql://ada@db": false} {
		for _, cache := range []filewise.Cache{filewise.CacheBufferCold, filewise.CacheStorageCold} {
			o := engines.New()
			o.Scenario, o.Target, o.Cache = "scan", plan.Of(url), plan.Of(string(cache))
			made, err := engines.Make(o)
			if err == nil {
				w, failed := workload.NewScan(made.Params, 1)
				if failed != nil {
					t.Fatal(failed)
				}
				_, err = plan.Scripts(made.Engine, made.Plan, made.Program(w))
			}
			if (err == nil) != (cools && cache == filewise.CacheBufferCold) {
				t.Errorf("%s %s: %v", url, cache, err)
			}
			if err != nil && (filewise.CodeOf(err) != filewise.CodeUsage || !strings.HasPrefix(err.Error(), "--cache ")) {
				t.Errorf("%s %s: %v; %s", url, cache, err, filewise.RemedyOf(err))
			}
		}
	}
}

// MariaDB takes SQL that is given for MySQL; no other engine does.
func TestSQLOfAnotherEngine(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for engine, takes := range map[string]bool{"mariadb": true, "postgres": false} {
		o := engines.New()
		o.Scenario, o.Engine = "custom", plan.Of(engine)
		one := workload.Transaction{Name: "a", Weight: 1, SQL: workload.Script{"mysql": {{Text: "SELECT 1", File: "my.yaml", Line: 1}}}}
		o.Custom = &workload.Custom{Tables: []filewise.CustomTable{{Name: "t", Key: "id"}}, Transactions: []workload.Transaction{one},
			Setup: workload.Script{"": {{Text: `CREATE TABLE t (id INT) {{spread "t"}}`, File: "my.yaml", Line: 2}}}}
		made, err := engines.Make(o)
		if refused := errors.Is(err, filewise.ErrUnsupported); refused == takes || takes && (made.Params.Custom == nil || err != nil) {
			t.Errorf("%s: %v", engine, err)
		}
	}
}

// Every option has a name, a usage and one row, which a clone does not share.
func TestTable(t *testing.T) {
	o := plan.New()
	c := o.Clone()
	seen := map[string]bool{}
	for _, row := range o.Table() {
		if seen[row.Name] {
			t.Errorf("%s stands twice", row.Name)
		}
		seen[row.Name] = true
		if row.Usage == "" || row.To.Given() {
			t.Errorf("%s: %+v", row.Name, row)
		}
		if row.Instead != "" && plan.Find(o.Table(), row.Instead).Instead != row.Name {
			t.Errorf("%s excludes %s, but not the other way round", row.Name, row.Instead)
		}
		row.To.SetSource(plan.Given)
		if plan.Find(c.Table(), row.Name).To.Given() {
			t.Errorf("%s is shared with a clone", row.Name)
		}
	}
}

// A dump fills builds on a server by URL if its engine reads one, named by the engine's rules; elsewhere it is
// refused.
func TestFromOnAServer(t *testing.T) {
	engines := plan.Engines(all.Engines())
	const dump = "datapump:DUMPS/shop.dmp?schema=SHOP"
	for _, c := range []struct{ target, from, remedy string }{
		{"oracle://ada@db.example/pdb1", dump, ""}, {"oracle://ada@db.example/pdb1", "/etc/hosts", "datapump:DIRECTORY/"},
		{"postgres://ada@db.example/", dump, "managed server"}, {"", os.DevNull, "a file or a directory"},
	} {
		o := engines.New()
		if o.Scenario, o.From = "custom", plan.Of(c.from); c.target != "" {
			o.Target = plan.Of(c.target)
		} else {
			o.Engine = plan.Of("postgres")
		}
		sql := workload.Script{"": {{Text: "SELECT 1 FROM orders", File: "shop.yaml", Line: 1}}}
		o.Custom = &workload.Custom{Tables: []filewise.CustomTable{{Name: "orders", Key: "id"}},
			Transactions: []workload.Transaction{{Name: "look", Weight: 1, SQL: sql}}}
		made, err := engines.Make(o)
		if (err == nil) != (c.remedy == "") || !strings.Contains(filewise.RemedyOf(err), c.remedy) ||
			err == nil && (made.Params.Custom.From != dump || made.Builds != 0) {
			t.Errorf("%s of %s: %v (%s)", c.from, c.target, err, filewise.RemedyOf(err))
		}
	}
}

// The life cycle is timed by URL if databases go offline by themselves; elsewhere a managed server of the same engine
// is the remedy, and there is one.
func TestLifecycleByURL(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for target, possible := range map[string]bool{"sqlserver://u@h/": true, "oracle://u@h/pdb": true, "postgres://u@h/": false,
		"mariadb://u@h/": false, "mysql://u@h/": false} {
		o := engines.New()
		o.Scenario, o.Target, o.Measure = "inserts", plan.Of(target), plan.Of(experiment.MeasureLifecycle)
		made, err := engines.Make(o)
		if (err == nil) != possible || possible && (made.Plan.Work == 0 || !made.Plan.Program(mustWork(t, made)).Cycles) ||
			!possible && !strings.Contains(filewise.RemedyOf(err), "--engine ") {
			t.Errorf("%s: %v (%s)", target, err, filewise.RemedyOf(err))
		}
	}
}

// The life cycle works with any database that a scenario loads: of order processing after some work, of a read-only
// one as it is loaded. Fixed work of transactions is for the life cycle alone.
func TestLifecycleOfScenarios(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for _, c := range []struct {
		scenario, measure, work string
		possible                bool
	}{
		{"inserts", experiment.MeasureLifecycle, "", true}, {"orders", experiment.MeasureLifecycle, "", true},
		{"orders", experiment.MeasureLifecycle, "1MiB", true}, {"scan", experiment.MeasureLifecycle, "", true},
		{"orders", experiment.MeasureWorkload, "1MiB", false}, {"inserts", experiment.MeasureWorkload, "1MiB", true},
	} {
		o := engines.New()
		o.Scenario, o.Target, o.Measure = c.scenario, plan.Of("sqlserver://u@h/"), plan.Of(c.measure)
		if c.work != "" {
			o.Work = plan.Of(c.work)
		}
		made, err := engines.Make(o)
		if (err == nil) != c.possible || err == nil && (made.Work == 0 || made.Window != 0) {
			t.Errorf("%+v: %v (%s)", c, err, filewise.RemedyOf(err))
		}
	}
}

// Files of several sizes at one number are layouts of one run, whose servers are the same; files that have no size of
// their own are refused.
func TestLayoutsOfSeveralSizes(t *testing.T) {
	engines := plan.Engines(all.Engines())
	make := func(engine string, specs ...string) (plan.Made, error) {
		o := engines.New()
		o.Scenario, o.Engine, o.Volumes = "inserts", plan.Of(engine), plan.Of([]plan.Pair{{Name: "here", Value: t.TempDir()}})
		var all []plan.LayoutSpec
		for _, s := range specs {
			spec, err := plan.ParseLayout(s)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, spec)
		}
		o.Layouts = plan.Of(all)
		return engines.Make(o)
	}
	made, err := make("mariadb", "files=8,size=64MiB", "files=8,size=2GiB")
	if err != nil {
		t.Fatal(err)
	}
	small, large := made.Layouts[0], made.Layouts[1]
	if small.Data.Bytes != 64<<20 || large.Data.Bytes != 2<<30 || small.ServerBytes() != large.ServerBytes() ||
		small.Name != "8 files, 64 MiB in all" {
		t.Errorf("%+v\n%+v", small, large)
	}
	var logs []int64
	for _, l := range made.Layouts {
		s, err := made.Engine.Statements(plan.InScratch(made.Target), l, made.Program(mustWork(t, made)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Files {
			if f.Role == filewise.RoleLog {
				logs = append(logs, f.Bytes)
			}
		}
	}
	if n := len(logs); n < 2 || !slices.Equal(logs[:n/2], logs[n/2:]) {
		t.Errorf("logs of %v bytes", logs)
	}
	if _, err := make("postgres", "files=8,size=2GB", "files=1"); !strings.Contains(filewise.RemedyOf(err), "leave size= out") {
		t.Errorf("%v", err)
	}
	if _, err := make("mariadb", "files=8,size=huge", "files=1"); err == nil {
		t.Error("a size that is none is taken")
	}
}

func mustWork(t *testing.T, made plan.Made) filewise.Workload {
	t.Helper()
	sc, err := workload.Lookup(made.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sc.New(made.Params, made.Seed)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// An option of a server's URL that nothing reads is refused before anything is connected to,
// on every engine, with the list of those that are read.
func TestUnknownOptions(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for _, scheme := range engines.Schemes() {
		for _, option := range []string{"nonsense=1", "nonsense_token=1"} {
			_, _, _, err := engines.ParseTarget(scheme+"://u@db.invalid?"+option, "")
			var e *filewise.Error
			if !errors.As(err, &e) || e.Code != filewise.CodeUsage || !strings.Contains(e.Error(), "nonsense") || strings.Count(e.Remedy, ", ") < 8 {
				t.Errorf("%s: %s: %v", scheme, option, err)
			}
		}
	}
	for _, known := range []string{"postgres://u@h?sslmode=verify-full&sslrootcert=/none&sslpassword=x", "mysql://u@h?tls=true&compress=true",
		"sqlserver://u@h?database=shop&encrypt=strict", "oracle://u@h/s?wallet_password=x&ssl=true"} {
		if _, _, _, err := engines.ParseTarget(known, ""); err != nil {
			t.Errorf("%s: %v", known, err)
		}
	}
}
