package plan_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/all"
	"filewise/lab/workload"
	"filewise/run/plan"
)

// By URL the designs are about files in the cases in which the first readings found that they were not. First
// contact: SQL Server 3, 4, 11; Oracle 7.
func TestUsualThere(t *testing.T) {
	engines := plan.Engines(all.Engines())
	make := func(scenario, target string, change func(*plan.Options)) (plan.Made, error) {
		o := engines.New()
		o.Scenario, o.Target = scenario, plan.Of(target)
		change(o)
		return engines.Make(o)
	}
	nothing := func(*plan.Options) {}
	for _, target := range []string{"sqlserver://sa@db.example/", "oracle://ada@db.example/FREE"} {
		made, err := make("inserts", target, nothing)
		p := made.Params
		if err != nil || p.Table != workload.TablePerConnection || p.RowBytes < 3900 || p.CommitEvery != 100 || p.Connections != 32 ||
			made.Budget != 10*time.Minute || made.Work != 192<<20 || made.Layouts[0].Data.Bytes != 256<<20 {
			t.Errorf("%s: %v, %+v, work %d in %s", target, err, p, made.Work, made.Budget)
		}
		if made, err = make("inserts", target, func(o *plan.Options) { o.Window = plan.Of(2 * time.Second) }); err != nil || made.Work != 0 ||
			made.Params.Table != workload.TableShared {
			t.Errorf("%s with a window: %v, %+v", target, err, made.Params)
		}
	}
	made, err := make("temp", "sqlserver://sa@db.example/", nothing)
	if err != nil || made.Params.Connections != 32 {
		t.Errorf("temp: %v, %d connections", err, made.Params.Connections)
	}
	made, err = make("dml", "sqlserver://sa@db.example/", nothing)
	if err != nil || made.Params.Rows < 21_000 || made.Budget != 10*time.Minute {
		t.Errorf("dml: %v, %d rows", err, made.Params.Rows)
	}
	_, err = make("dml", "sqlserver://sa@db.example/", func(o *plan.Options) { o.Rows = plan.Of[int64](1000) })
	if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(err.Error(), "8 files") ||
		!strings.Contains(filewise.RemedyOf(err), "--rows 20672") {
		t.Errorf("rows of one extent: %v; %s", err, filewise.RemedyOf(err))
	}
	if made, err = make("inserts", "postgres://ada@localhost/", nothing); err != nil ||
		made.Params.Connections != max(16, 2*runtime.NumCPU()) {
		t.Errorf("inserts here: %v, %d connections", err, made.Params.Connections)
	}
	for target, row := range map[string]int{
		"postgres://ada@db.example/": 1900, "mysql://ada@db.example/": 3900, "mariadb://ada@db.example/": 3900,
	} {
		made, err := make("inserts", target, nothing)
		p := made.Params
		if err != nil || p.CommitEvery != 100 || p.Table != workload.TablePerConnection || p.RowBytes != row || made.Work != 192<<20 {
			t.Errorf("%s: %v, %+v", target, err, p)
		}
	}
}

// By default scan and backup read from storage where caches are Filewise's own, and an engine's limit is named.
func TestColdByDefault(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for name, x := range map[string]struct {
		scenario, engine, target string
		change                   func(*plan.Options)
		cache                    string
		files                    int // of the last layout
		leftOut                  string
	}{
		"scan":                {"scan", "sqlite", "", nil, "storage-cold", 4, "40 files for the 4 tables"},
		"scan on PostgreSQL":  {"scan", "postgres", "", nil, "storage-cold", 40, ""},
		"scan on InnoDB":      {"scan", "mariadb", "", nil, "storage-cold", 40, ""},
		"scan by URL":         {"scan", "", "sqlserver://sa@db.example/", nil, "warm", 40, ""},
		"scan on Oracle":      {"scan", "", "oracle://ada@db.example/FREE", nil, "warm", 40, ""},
		"repeated":            {"scan", "sqlite", "", func(o *plan.Options) { o.Repeat = plan.Of(3) }, "warm", 4, "40 files"},
		"cores are not known": {"dml", "", "mysql://ada@db.example/", nil, "", 8, "one file per core: "},
	} {
		o := engines.New()
		o.Scenario = x.scenario
		if x.engine != "" {
			o.Engine = plan.Of(x.engine)
		} else {
			o.Target = plan.Of(x.target)
		}
		if x.change != nil {
			x.change(o)
		}
		made, err := engines.Make(o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		last := made.Layouts[len(made.Layouts)-1]
		text := strings.Join(made.LeftOut, "; ")
		if made.Params.Cache != x.cache || last.Data.Files != x.files || !strings.HasPrefix(text, x.leftOut) ||
			(text == "") != (x.leftOut == "") {
			t.Errorf("%s: cache %q, %d files, left out %q", name, made.Params.Cache, last.Data.Files, text)
		}
	}
}

// Growing files grow ten times by the usual rows and steps; what is given stays.
func TestGrowingRows(t *testing.T) {
	engines := plan.Engines(all.Engines())
	for target, want := range map[string][2]int64{
		"": {4000, 4 << 10}, "sqlserver://sa@db.example/": {430_000, 64 << 10}, "oracle://ada@db.example/FREE": {4000, 64 << 10},
	} {
		for _, given := range []bool{false, true} {
			o := engines.New()
			o.Scenario, o.Allocation = "dml", plan.Of(string(filewise.Growing))
			if target != "" {
				o.Target = plan.Of(target)
			}
			if given {
				o.Rows, o.Growth = plan.Of[int64](30_000), plan.Of("2MiB")
				want = [2]int64{30_000, 2 << 20}
			}
			made, err := engines.Make(o)
			if err != nil || made.Params.Rows != want[0] || made.Layouts[0].Data.Growth != want[1] {
				t.Errorf("%q, given %v: %v, %d rows in steps of %d", target, given, err, made.Params.Rows, made.Layouts[0].Data.Growth)
			}
		}
	}
}
