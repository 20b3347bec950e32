package plan

import (
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/verdict"
)

// ownBudget is that of backups of a user's database, each of which may take minutes.
const ownBudget = time.Hour

// OfDatabase are the rows that backups of a user's database have a use for.
func (o *Options) OfDatabase() []Option {
	out := slices.Concat(o.ServerTable(), o.JudgeOptions.Table(), o.StopOptions.Table(), o.NotifyOptions.Table())
	for _, row := range o.Table() {
		switch row.Name {
		case "server-bin", "volume", "files", "backup-option", "discard", "database", "max-blocks", "budget", "seed", "aa":
			out = append(out, row)
		}
	}
	return out
}

// setDatabase has a database of the user's backed up. Its files, rows and server are as they
// are: options about these are refused.
func (m *maker) setDatabase() error {
	o := m.o
	if o.Database.Value == "" {
		return nil
	}
	if m.plan.Target.Mode != filewise.External {
		return badUse("database", o.Database.Value, "name the server that has it: --target URL")
	}
	if _, ok := m.Engine.(filewise.BackupTuner); !ok {
		return filewise.Errorf(filewise.CodePreflight,
			"measure scenario backup there, on data that Filewise makes, where filewise engines lists it",
			"backups of a database of yours on %s: %w", m.Engine.Name(), filewise.ErrUnsupported)
	}
	table := o.OfDatabase()
	for _, row := range o.Table() {
		if row.To.Given() && Find(table, row.Name) == nil && row.Name != "engine" {
			return badUse(row.Name, strings.Join(row.To.Texts(), ","), "leave it out: a database of yours (--database) is backed up as it is")
		}
	}
	m.plan.Target.Database, m.plan.OnePilot = o.Database.Value, true
	m.plan.Target.BackupsThere = m.About.BackupsThere
	if !o.Goal.Given() {
		o.Goal.Value = string(verdict.GoalBest)
	}
	if !o.Budget.Given() {
		m.plan.Budget = ownBudget
	}
	return nil
}

// ownOptions are the values that are compared of the options of backups of a user's database:
// those that are given, else the engine's, and each volume.
func (m *maker) ownOptions() ([]string, error) {
	all := m.o.BackupOptions.Value
	if m.o.Discard.Value { // nothing is written
		return all, nil
	}
	if !m.o.BackupOptions.Given() {
		var err error
		if all, err = m.Engine.(filewise.BackupTuner).BackupArms(m.plan.Target, m.work); err != nil {
			return nil, err
		}
	}
	volumes := m.plan.Target.Volumes
	if len(volumes) > 1 && !slices.ContainsFunc(all, func(o string) bool { return strings.HasPrefix(o, filewise.OptionVolume+"=") }) {
		names := filewise.Each(volumes, func(v filewise.Volume) string { return v.Name })
		all = append(slices.Clone(all), filewise.OptionVolume+"="+strings.Join(names, ","))
	}
	return all, nil
}
