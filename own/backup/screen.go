package backup

import (
	"slices"

	"filewise"
	"filewise/results/archive"
	"filewise/run"
	"filewise/run/plan"
)

// Race runs the search for the fastest backup.
type Race struct {
	Engines plan.Engines
	Options *plan.Options
	Screen  int // settings that are compared in full, after a cheaper comparison of all. 0 means all
	// Measure executes a run. last is set for the search's final run.
	Measure func(made plan.Made, last bool) (run.Outcome, error)
}

// Made returns the plan that measures whole backups with every setting.
func (r Race) Made() (plan.Made, error) {
	whole := r.Options.Clone()
	whole.Part = plan.Opt[[]string]{}
	return r.Engines.Make(whole)
}

// Run first measures the limit of backups or, if Screen is set, screens the settings. Then it runs the plan's backups.
func (r Race) Run(made plan.Made) (run.Outcome, error) {
	cheap, err := r.Options.Cheaper(r.Screen, made.Plan.Target.BackupsThere)
	if err != nil {
		return run.Outcome{}, err
	}
	first, err := r.Engines.Make(cheap)
	switch {
	case err == nil:
		first.Secret = made.Secret
		out, err := r.Measure(first, false)
		if err == nil && r.Screen > 0 {
			cheap := archive.Run{Run: out.Run, Trials: out.Data.Trials}
			made.Plan.Layouts, err = Screened(cheap, made.Plan.Layouts, made.Plan.Baseline, r.Screen)
		}
		if err != nil {
			return out, err
		}
	case r.Screen > 0: // otherwise one number of jobs leaves nothing to compare
		return run.Outcome{}, err
	}
	return r.Measure(made, true)
}

// Screened returns the layouts to race in full: the n fastest of a cheap race, and the baseline. The cheap race backed
// up a part of the database, or threw its backups away. If nothing was written, it did not compare volumes: a setting
// that stays then stays with each of its volumes.
func Screened(cheap archive.Run, layouts []filewise.Layout, baseline string, n int) ([]filewise.Layout, error) {
	fastest := settings(cheap.Plan, cheap.Trials)
	if len(fastest) == 0 {
		return nil, filewise.Errorf(filewise.CodeTrials, "give a longer --budget, or a smaller --part", "run %d, which was to screen the "+
			"settings, has measured none", cheap.ID)
	}
	kept := map[setting]bool{}
	for _, s := range fastest[:min(n, len(fastest))] {
		i := slices.IndexFunc(cheap.Plan.Layouts, func(l filewise.Layout) bool { return l.Name == s.Layout })
		kept[settingOf(cheap.Plan.Layouts[i], cheap.Plan.Params.Discard)] = true
	}
	return slices.DeleteFunc(slices.Clone(layouts), func(l filewise.Layout) bool {
		return l.Name != baseline && !kept[settingOf(l, cheap.Plan.Params.Discard)]
	}), nil
}

// setting holds the fields in which the layouts of backups differ.
type setting struct {
	files   int
	options filewise.BackupOptions
}

func settingOf(l filewise.Layout, anywhere bool) setting {
	if anywhere {
		return setting{l.Backup.Files, l.BackupOptions.Without(filewise.OptionVolume)}
	}
	return setting{l.Backup.Files, l.BackupOptions}
}
