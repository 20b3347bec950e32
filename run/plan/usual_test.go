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
