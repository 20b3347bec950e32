package backup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/results/archive"
	"filewise/run"
)

// Goal holds the aim by which a setting is chosen.
type Goal struct {
	Optimize string        // one of Optimizations. Empty means ToBackup
	Within   time.Duration // no restore may take longer. 0 means no limit
}

// The values of Goal.Optimize.
const (
	ToBackup  = "backup"  // the fastest backup
	ToRestore = "restore" // the fastest restore
	ToBoth    = "both"    // the least geometric mean of both times
)

// Optimizations lists the values of Goal.Optimize.
var Optimizations = []string{ToBackup, ToRestore, ToBoth}

// Check returns an error if the goal is invalid.
func (g Goal) Check() error {
	switch {
	case g.Optimize != "" && !slices.Contains(Optimizations, g.Optimize):
		return filewise.Errorf(filewise.CodeUsage, "known: "+strings.Join(Optimizations, ", "), "--optimize %q is unknown", g.Optimize)
	case g.Within < 0:
		return filewise.Errorf(filewise.CodeUsage, "give a time, such as 30m", "--restore-within %v: out of range", g.Within)
	}
	return nil
}

// Restores reports whether the goal needs restores to be measured.
func (g Goal) Restores() bool { return g.Optimize == ToRestore || g.Optimize == ToBoth || g.Within > 0 }

// Restore holds the medians over a setting's restores, and over its backups in the same run.
type Restore struct {
	Layout   string        `json:"layout"`
	Restores int           `json:"restores"`
	Backup   time.Duration `json:"backup_ns"`
	Took     time.Duration `json:"restore_ns"`
	Slowest  time.Duration `json:"slowest_restore_ns"`
	Bytes    float64       `json:"bytes"`
}

// mostRestored limits the leaders whose restores are measured, since each takes space and minutes.
const mostRestored = 4

// RestorePlan returns the race of the leaders' restores: every trial backs up, restores and compares. The leaders are
// the fastest settings, the setting with the fewest bytes, which are the least to read, and the fastest setting with the
// most jobs. RestorePlan returns false if there is only one setting.
func (r *Result) RestorePlan() (experiment.Plan, bool, error) {
	p := r.plan
	leaders := r.leaders()
	if len(leaders) < 2 {
		return p, false, nil
	}
	p.Layouts, p.Baseline, p.AA, p.Name = leaders, leaders[0].Name, "", ""
	p.Overall, p.Goal, p.Command = true, verdict.GoalBest, []string{"backup", fmt.Sprint(r.Run)}
	return p, true, p.ProveBackups()
}

// leaders returns the layouts whose restores are worth measuring, the fastest backup first.
func (r *Result) leaders() (out []filewise.Layout) {
	names := []string{r.Layout}
	add := func(s Setting) {
		if !slices.Contains(names, s.Layout) {
			names = append(names, s.Layout)
		}
	}
	if len(r.Settings) > 0 {
		add(slices.MinFunc(r.Settings, func(a, b Setting) int { return cmp.Compare(a.Bytes, b.Bytes) }))
		most := slices.MaxFunc(r.Settings, func(a, b Setting) int { // of equal ones the first, which is the fastest
			return cmp.Compare(r.of(a.Layout).Backup.Files, r.of(b.Layout).Backup.Files)
		})
		add(most)
	}
	for _, s := range r.Settings {
		if len(names) < mostRestored {
			add(s)
		}
	}
	for _, name := range names {
		if l := r.of(name); l.Name != "" {
			out = append(out, l)
		}
	}
	return out
}

// of returns the run's layout with that name.
func (r *Result) of(name string) filewise.Layout {
	if i := slices.IndexFunc(r.plan.Layouts, func(l filewise.Layout) bool { return l.Name == name }); i >= 0 {
		return r.plan.Layouts[i]
	}
	return filewise.Layout{}
}

// Settle proves the fastest backup. If the goal depends on restores, it measures the leaders' restores, each compared
// with the original, in a stored run, and takes the goal's setting.
func (r *Result) Settle(ctx context.Context, o run.Options, g Goal) error {
	if !g.Restores() {
		return r.Prove(ctx, o)
	}
	p, several, err := r.RestorePlan()
	if err != nil {
		return err
	}
	if !several {
		return filewise.Errorf(filewise.CodeUsage, "race two settings at least", "one setting leaves nothing to choose by its restores")
	}
	o.Result = func(run.Outcome) error { return nil } // the outcome is in the Result
	out, err := run.Run(ctx, p, o)
	if err != nil {
		return err
	}
	restored, err := archive.Load(ctx, o.Store, fmt.Sprint(out.Run.ID))
	if err != nil {
		return err
	}
	return r.Choose(restored, g)
}

// Late returns an error if every setting misses the limit of its goal, nil otherwise.
func (r *Result) Late() error {
	if !r.Missed {
		return nil
	}
	return filewise.Errorf(filewise.CodeGate, "take the script all the same, or give more time",
		"--restore-within %v: no setting restores within it", r.Within)
}

// Choose takes the setting that serves the goal best, by the results of a run of RestorePlan.
func (r *Result) Choose(restored archive.Run, g Goal) error {
	if err := g.Check(); err != nil {
		return err
	}
	g.Optimize = cmp.Or(g.Optimize, ToBackup)
	r.RestoreRun, r.Optimize, r.Within = restored.ID, g.Optimize, g.Within
	if r.Restores = restores(restored.Plan, restored.Trials); len(r.Restores) == 0 {
		return filewise.Errorf(filewise.CodeTrials, "see the trials: filewise show "+fmt.Sprint(restored.ID),
			"no backup could be restored and compared")
	}
	chosen, proven, err := r.chosen(restored, g)
	if err != nil {
		return err
	}
	bought := r.bought(chosen)
	r.layout, r.Layout = r.of(chosen.Layout), chosen.Layout
	r.Verdict = strings.TrimSpace(bought + " " + proven)
	r.Proof = Proof{chosen.Backup, chosen.Took, int64(chosen.Bytes), ""}
	return nil
}

// chosen returns the setting, and the judgement's sentence on it. If restores have a limit, it is the best setting
// whose slowest restore keeps to the limit. If no setting does, it is the setting with the fastest restore.
func (r *Result) chosen(restored archive.Run, g Goal) (Restore, string, error) {
	by := map[string]func(Restore) float64{
		ToBackup:  func(s Restore) float64 { return float64(s.Backup) },
		ToRestore: func(s Restore) float64 { return float64(s.Took) },
		ToBoth:    func(s Restore) float64 { return float64(s.Backup) * float64(s.Took) },
	}
	least := func(of []Restore, x func(Restore) float64) Restore {
		return slices.MinFunc(of, func(a, b Restore) int { return cmp.Compare(x(a), x(b)) })
	}
	if g.Within > 0 {
		within := slices.DeleteFunc(slices.Clone(r.Restores), func(s Restore) bool { return s.Slowest > g.Within })
		if r.Missed = len(within) == 0; r.Missed {
			return least(r.Restores, by[ToRestore]), "", nil
		}
		return least(within, by[g.Optimize]), "", nil
	}
	operation := experiment.OperationOverall
	if phases := restored.Plan.Phases; g.Optimize == ToRestore && len(phases) > 0 {
		operation = phases[len(phases)-1]
	}
	j, err := restored.Plan.Judge(restored.Trials)
	if err != nil {
		return Restore{}, "", err
	}
	for _, f := range j.Operations {
		analysis, ok := f.Result.Last()
		if f.Name != operation || !ok || analysis.Leader < 0 {
			continue
		}
		best := analysis.Recommended
		if best < 0 {
			best = analysis.Leader
		}
		name := restored.Plan.Layouts[best].Name
		if i := slices.IndexFunc(r.Restores, func(s Restore) bool { return s.Layout == name }); i >= 0 {
			return r.Restores[i], lossText(analysis.Estimates[best].WorstLoss, analysis.Recommended >= 0, restored.Plan.Confidence), nil
		}
	}
	return least(r.Restores, by[g.Optimize]), lossText(unknownLoss, false, restored.Plan.Confidence), nil
}

// bought describes the setting's gain and cost against the fastest backup. An empty text means it is that setting.
func (r *Result) bought(s Restore) string {
	i := slices.IndexFunc(r.Restores, func(x Restore) bool { return x.Layout == r.Layout })
	if i < 0 || s.Layout == r.Layout {
		return ""
	}
	fastest := r.Restores[i]
	return fmt.Sprintf("Against %s, the fastest backup: restores take %s instead of %s, backups %s instead of %s, and %s instead of %s.",
		fastest.Layout, say.Human(s.Took), say.Human(fastest.Took), say.Human(s.Backup), say.Human(fastest.Backup),
		say.Size(int64(s.Bytes)), say.Size(int64(fastest.Bytes)))
}

// restores returns the measured restores per layout, the fastest first.
func restores(p experiment.Plan, trials []filewise.Trial) (out []Restore) {
	for _, l := range p.Layouts {
		var backups, times, sizes []float64
		for _, t := range trials {
			backup, ok := took(t)
			if !ok || t.Cell.Layout != l.Name || t.Cell.Pilot || len(t.Measures) < 2 {
				continue
			}
			backups = append(backups, float64(backup))
			times = append(times, float64(t.Measures[1].Window[1]-t.Measures[1].Window[0]))
			sizes = append(sizes, float64(size(t)))
		}
		if len(times) == 0 {
			continue
		}
		slowest := time.Duration(slices.Max(times))
		out = append(out, Restore{l.Name, len(times), time.Duration(median(backups)), time.Duration(median(times)), slowest, median(sizes)})
	}
	slices.SortStableFunc(out, func(a, b Restore) int { return cmp.Compare(a.Took, b.Took) })
	return out
}

// restoreLines describes the measured restores. It returns nil if none were measured.
func (r *Result) restoreLines() (out []string) {
	if len(r.Restores) == 0 {
		return nil
	}
	switch {
	case r.Missed:
		out = append(out, fmt.Sprintf("No setting restores within %s: the fastest took up to %s.", say.Human(r.Within),
			say.Human(r.Restores[0].Slowest)))
	case r.Within > 0:
		out = append(out, fmt.Sprintf("Within %s: of the settings that restore in time it is the best by --optimize %s.", say.Human(r.Within),
			r.Optimize))
	}
	wide := len("setting")
	for _, s := range r.Restores {
		wide = max(wide, len(s.Layout))
	}
	out = append(out, "", fmt.Sprintf("Restores of the leaders, the fastest first (run %d).", r.RestoreRun),
		fmt.Sprintf("  %-*s  %9s  %9s  %9s  %9s", wide, "setting", "restore", "slowest", "backup", "size"))
	for _, s := range r.Restores {
		out = append(out, fmt.Sprintf("  %-*s  %9s  %9s  %9s  %9s", wide, s.Layout, say.Human(s.Took), say.Human(s.Slowest),
			say.Human(s.Backup), say.Size(int64(s.Bytes))))
	}
	return out
}
