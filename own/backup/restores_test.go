package backup

import (
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/archive"
)

// raced is a run of restores of four settings, of which the fastest backup restores slowest; a
// block has a little noise.
func raced(t *testing.T) (*Result, archive.Run) {
	t.Helper()
	r := &Result{Run: 3, Database: "shop", Layout: "8 files"}
	minutes := map[string][2]float64{"1 file": {27, 19.75}, "4 files": {11, 7}, "8 files": {10, 12}, "2 files": {15, 9}}
	for _, s := range []struct {
		name  string
		files int
	}{{"8 files", 8}, {"4 files", 4}, {"2 files", 2}, {"1 file", 1}} {
		r.plan.Layouts = append(r.plan.Layouts, filewise.Layout{Name: s.name, Backup: filewise.Spread{Files: s.files}})
		r.Settings = append(r.Settings, Setting{Layout: s.name, Bytes: float64(s.files) * 1e9})
	}
	r.layout = r.plan.Layouts[0]
	r.plan.Params = workload.Params{Own: true, Connections: 1}
	r.plan.Scenario, r.plan.Margin, r.plan.Confidence, r.plan.Rules, r.plan.MaxBlocks = "dump", 2, 0.95, verdict.NewestRules, 8
	p, several, err := r.RestorePlan()
	if err != nil || !several {
		t.Fatal(several, err)
	}
	if len(p.Layouts) != 4 || p.Layouts[0].Name != "8 files" || p.Layouts[1].Name != "1 file" || !p.Params.Proof || len(p.Phases) != 2 {
		t.Fatalf("%v, %v", p.Layouts, p.Phases)
	}
	restored := archive.Run{}
	restored.ID, restored.Plan = 4, p
	for block := 1; block <= 8; block++ {
		for i, l := range p.Layouts {
			noise := 1 + 0.002*float64((block*(i+3))%5)
			at := func(minutes float64) [2]time.Duration {
				return [2]time.Duration{0, time.Duration(minutes * noise * float64(time.Minute))}
			}
			m := minutes[l.Name]
			restored.Trials = append(restored.Trials, filewise.Trial{State: filewise.Done, Cell: filewise.Cell{Block: block, Position: i,
				Layout: l.Name, Attempt: 1}, Measures: []filewise.Measure{
				{Operation: workload.OperationDump, Unit: "dumps", Work: 1, Window: at(m[0])},
				{Operation: workload.OperationRestore, Unit: "restores", Work: 1, Window: at(m[1])}}})
		}
	}
	return r, restored
}

// Each goal takes its setting, and reports its gain and cost; a limit that none keeps takes the fastest restore, and
// is reported as missed.
func TestChoosesByRestores(t *testing.T) {
	for _, c := range []struct {
		goal   Goal
		want   string
		missed bool
		says   string
	}{
		{Goal{Optimize: ToRestore}, "4 files", false, "restores take 7 min"},
		{Goal{Optimize: ToBoth}, "4 files", false, "backups 11 min"},
		{Goal{Optimize: ToBackup, Within: 13 * time.Minute}, "8 files", false, ""},
		{Goal{Within: 8 * time.Minute}, "4 files", false, "instead of 10 min"},
		{Goal{Within: time.Minute}, "4 files", true, ""},
	} {
		r, restored := raced(t)
		if err := r.Choose(restored, c.goal); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(r.Lines(), "\n")
		if r.Layout != c.want || r.layout.Name != c.want || r.Missed != c.missed || !strings.Contains(r.Verdict, c.says) ||
			!strings.Contains(text, "Restores of the leaders, the fastest first (run 4).") || strings.Contains(text, " \n") {
			t.Errorf("%+v: %s, missed %v, want %s, %q:\n%s", c.goal, r.Layout, r.Missed, c.want, c.says, text)
		}
		if (filewise.CodeOf(r.Late()) == filewise.CodeGate) != c.missed {
			t.Errorf("%+v: %v", c.goal, r.Late())
		}
		if c.missed != strings.Contains(text, "No setting restores within 1 min: the fastest took up to 7 min") {
			t.Errorf("%+v:\n%s", c.goal, text)
		}
	}
	r, restored := raced(t)
	restored.Trials = nil
	if err := r.Choose(restored, Goal{Optimize: ToBoth}); filewise.CodeOf(err) != filewise.CodeTrials {
		t.Errorf("without trials: %v", err)
	}
	for _, bad := range []Goal{{Optimize: "speed"}, {Within: -time.Second}} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if (Goal{}).Restores() || (Goal{Optimize: ToBackup}).Restores() || !(Goal{Within: 1}).Restores() {
		t.Error("restores are measured where they were not asked for, or not where they were")
	}
}
