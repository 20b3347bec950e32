package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/lab/verdict"
)

// ownBudget is the default budget for backups of a user's database. Each backup may take minutes.
const ownBudget = time.Hour

// OfDatabase returns the rows of the options that backups of a user's database use.
func (o *Options) OfDatabase() []Option {
	out := slices.Concat(o.ServerTable(), o.JudgeOptions.Table(), o.StopOptions.Table(), o.NotifyOptions.Table())
	for _, row := range o.Table() {
		switch row.Name {
		case "server-bin", "set", "volume", "files", "backup-option", "discard", "database", "part", "max-blocks", "budget", "seed", "aa":
			out = append(out, row)
		}
	}
	return out
}

// setDatabase sets up backups of a user's database. The database's files, rows and server stay unchanged, so options
// about them are refused.
func (m *maker) setDatabase() error {
	o := m.o
	if o.Database.Value == "" {
		if len(o.Part.Value) > 0 {
			return badUse("part", strings.Join(o.Part.Value, ", "), "name its database: --database NAME")
		}
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
			return badUse(row.Name, row.value(), "leave it out: a database of yours (--database) is backed up as it is")
		}
	}
	if o.Settings.Given() && !m.About.BackupsThere {
		return badUse("set", Find(table, "set").value(), "leave it out: a database of yours (--database) is backed up as it is")
	}
	m.plan.Target.Database, m.plan.Target.Part, m.plan.OnePilot = o.Database.Value, o.Part.Value, true
	m.plan.Target.BackupsThere = m.About.BackupsThere
	if !o.Goal.Given() {
		o.Goal.Value = string(verdict.GoalBest)
	}
	if !o.Budget.Given() {
		m.plan.Budget = ownBudget
	}
	return nil
}

// Cheaper returns the options for the first, cheaper run of backup, which has only the blocks of a first interim
// analysis. Without screening, the run measures only the cost of reading. With screening, it compares all settings on
// the part, or, if the server itself writes its backups, with backups thrown away.
func (o *Options) Cheaper(screen int, there bool) (*Options, error) {
	cheap := o.Clone()
	cheap.MaxBlocks, cheap.Notify = Of(verdict.FirstAnalysis), Opt[[]string]{}
	switch part := strings.Join(o.Part.Value, ", "); {
	case screen < 0:
		return nil, OutOfRange("screen", screen, "give the number of settings to compare in full, such as 3")
	case screen == 0 && part != "":
		return nil, badUse("part", part, "add --screen 3: settings are compared on the part, and the fastest 3 on all")
	case screen == 0:
		cheap.Discard, cheap.BackupOptions, cheap.Baseline = Of(true), Of([]string(nil)), Opt[string]{}
	case part == "" && there:
		cheap.Discard = Of(true)
	case part == "":
		return nil, badUse("screen", screen, "name what to compare settings on: --part TABLE (repeatable), or on Oracle --part TABLESPACE")
	}
	return cheap, nil
}

// ownOptions returns the backup options whose values are compared for a user's database: the given ones, or else the
// engine's, and each volume.
func (m *maker) ownOptions() ([]string, error) {
	all := m.o.BackupOptions.Value
	if m.o.Discard.Value && !m.About.BackupsThere { // rows are read without a tool that has options
		return all, nil
	}
	if !m.o.BackupOptions.Given() {
		var err error
		if all, err = m.Engine.(filewise.BackupTuner).BackupArms(m.plan.Target, m.work); err != nil {
			return nil, err
		}
	}
	volumes := m.plan.Target.Volumes
	if m.o.Discard.Value {
		return slices.DeleteFunc(slices.Clone(all), func(o string) bool { return strings.HasPrefix(o, filewise.OptionVolume+"=") }), nil
	}
	if len(volumes) > 1 && !slices.ContainsFunc(all, func(o string) bool { return strings.HasPrefix(o, filewise.OptionVolume+"=") }) {
		names := filewise.Each(volumes, func(v filewise.Volume) string { return v.Name })
		all = append(slices.Clone(all), filewise.OptionVolume+"="+strings.Join(names, ","))
	}
	return all, nil
}

// fitLoaded sets the size of files that an engine fills one after the other to the size of the loaded data. Otherwise
// transactions would not reach the last file within a window. A size that the user gives takes precedence.
func (m *maker) fitLoaded(l *filewise.Layout) error {
	sizer, ok := m.Engine.(filewise.Filler)
	if !ok || m.work.Appends() || m.fixed() || l.Kind != filewise.KindSystem || m.o.Size.Given() {
		return nil
	}
	program, err := m.program()
	if err != nil {
		return err
	}
	bytes, err := sizer.LoadedBytes(m.plan.Target, program)
	if bytes > 0 {
		l.Data.Bytes = bytes
	}
	return err
}

// setFill sets the work for engines that fill one file after the other. Unless the user sets the work, a trial gets the
// fixed work that reaches every layout's last file. A window would end before that, and N files would be measured as
// one.
func (m *maker) setFill() error {
	if !m.work.Appends() || m.o.Work.Given() || m.o.Window.Given() {
		return nil
	}
	filler, ok := m.Engine.(filewise.Filler)
	if !ok {
		return nil
	}
	program, err := m.program()
	if err != nil {
		return err
	}
	var least int64
	for _, l := range m.plan.Layouts {
		work, err := filler.FillWork(m.plan.Target, l, program)
		if err != nil {
			return largerFor(m.Engine, m.plan, program, Refused(m.Engine, l, err))
		}
		if work > 0 && (least == 0 || work < least) {
			least = work
		}
	}
	if least == 0 {
		return nil
	}
	if least -= m.plan.Preload; least <= 0 {
		return BadValue("preload", m.o.Preload.Value, "it fills the files already: make --size larger")
	}
	if m.o.WarmUp.Value >= 0 {
		return badUse("warm-up", m.o.WarmUp.Value, fmt.Sprintf(
			"the work of a trial is fixed here (%s, to fill the files) and has no warm-up: leave it out, or give a "+
				"--window", humanize.IBytes(uint64(least))))
	}
	m.plan.Window, m.plan.PilotWindow, m.plan.Work = 0, 0, least
	return nil
}
