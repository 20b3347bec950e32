package plan

import (
	"fmt"
	"slices"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// ofDesign lists the flags whose values an article's design fixes.
var ofDesign = []string{
	"files", "size", "layout", "added-later", "allocation", "growth", "connections", "window", "work", "warm-up", "rows", "mode",
	"connect", "index", "warehouses", "users", "rate", "repeat", "batch", "data", "preload", "builds", "measure", "max-blocks",
	"goal", "aa", "calibrate", "interleave", "rounds",
}

// published makes the article's design the scenario's defaults, if the user chose it.
func (m *maker) published() error {
	o, sc := m.o, m.sc
	if !o.AsPublished.Value {
		if o.Scale.Given() && slices.Contains(sc.Flags, "as-published") && !slices.Contains(sc.Flags, "warehouses") {
			return badUse("scale", o.Scale.Value, "it is the size of --as-published: add that, or give sizes by --size and --rows")
		}
		return nil
	}
	if sc.Design == nil {
		return filewise.Errorf(filewise.CodeUsage, "leave it out",
			"--as-published: scenario %s repeats no article's design%w", sc.Name, unfit{name: "as-published"})
	}
	table := o.Table()
	for _, name := range ofDesign {
		if Find(table, name).To.Given() {
			return filewise.Errorf(filewise.CodeUsage, "leave one of them out",
				"--as-published fixes --%s%w", name, unfit{name, "as-published"})
		}
	}
	if !o.Scale.Given() { // set as given, so that the repeating command contains it
		o.Scale = Of(sc.Design.Scale)
	}
	if !(o.Scale.Value > 0 && o.Scale.Value <= experiment.MostScale) {
		return OutOfRange("scale", o.Scale.Value, fmt.Sprintf("give a number above 0, such as %g; 1 is the original's size", sc.Design.Scale))
	}
	m.sc = sc.AsPublished(o.Scale.Value)
	return nil
}

// publishedHere takes the article's design as it was on this engine.
func (m *maker) publishedHere() error {
	if usual, err := workload.Lookup(m.sc.Name); err == nil && m.o.AsPublished.Value {
		m.sc = usual.On(m.plan.Target.Engine).AsPublished(m.o.Scale.Value)
	}
	return nil
}

// publishedArms returns the layouts of the article's design. Every number of files gets each of the design's
// allocations. Under backup files, it sets the article's number of data files.
func (m *maker) publishedArms(arms []arm) []arm {
	if !m.o.AsPublished.Value {
		return arms
	}
	d := m.sc.Design
	if d.DataFiles > 0 && !m.About.StripesAsFiles {
		for i := range arms {
			if arms[i].BackupOptions == "" { // the article's backups were compressed
				arms[i].BackupOptions = m.About.CompressedBackup
			}
			arms[i].Data.Files = d.DataFiles
		}
	}
	if len(d.Allocations) < 2 {
		return arms
	}
	for i := range arms {
		if arms[i].Data.Files == 1 && m.About.PublishedOne != "" {
			arms[i].Kind = m.About.PublishedOne
		}
	}
	var out []arm
	for i, allocation := range d.Allocations {
		for _, a := range arms {
			a.Data.Allocation, a.allocationGiven = allocation, true
			a.Name += ", " + string(allocation)
			a.Rank = a.Rank*len(d.Allocations) + i
			switch {
			case allocation == filewise.Growing:
				a.Data.Bytes = m.leastSize(a.Layout, int64(a.Data.Files)<<20)
			case d.Allocated > 0:
				a.Data.Bytes = m.leastSize(a.Layout, d.Allocated)
			}
			out = append(out, a)
		}
	}
	return out
}

// leastSize returns the smallest size, starting at from and in steps of 1 MiB, in which the engine can create the
// files. Larger files would hold rows before they grow.
func (m *maker) leastSize(l filewise.Layout, from int64) int64 {
	program, err := m.program()
	if err != nil {
		return l.Data.Bytes
	}
	if l.Data.Growth == 0 {
		l.Data.Growth = 1 << 20
	}
	usual := l.Data.Bytes
	for l.Data.Bytes = from; l.Data.Bytes < max(usual, from+1); l.Data.Bytes += 1 << 20 {
		if _, err := m.Engine.Statements(InScratch(m.plan.Target), l, program); err == nil {
			return l.Data.Bytes
		}
	}
	return usual
}

// unpublishedNumbers returns the scenario's own numbers of files, for an engine that cannot do the article's. It
// returns nil if they are the same, or if the article's design was not chosen.
func (m *maker) unpublishedNumbers() []int {
	usual, err := workload.Lookup(m.sc.Name)
	if err != nil || !m.o.AsPublished.Value || slices.Equal(usual.Files, m.sc.Files) {
		return nil
	}
	return usual.Files
}

// longScale is the scale above which a run may take hours.
const longScale = 0.001

// setPublished replaces the planned order, repeats and work by the article's. It comes last.
func (m *maker) setPublished() error {
	if !m.o.AsPublished.Value {
		return nil
	}
	runs := m.sc.Design.RunsOf(m.plan.Params)
	m.plan.AsPublished = &experiment.AsPublished{Repeats: runs.Repeats, Drop: runs.Drop, Scale: m.o.Scale.Value}
	m.plan.MaxBlocks, m.plan.Goal = runs.Repeats, verdict.GoalVerdicts
	if !m.o.Budget.Given() { // the design determines the end
		m.plan.Budget = 0
	}
	if m.plan.Builds > 0 || slices.Contains(m.sc.Flags, "builds") && !m.work.Appends() {
		m.plan.Builds = 1
	}
	if m.sc.Design.Work > 0 {
		least := int64(m.plan.Params.RowBytes) * int64(m.plan.Params.Connections)
		m.plan.Work = max(m.sc.Design.WorkIn(m.plan.Layouts[0].Data.Bytes), least)
		m.plan.Window, m.plan.WarmUp = 0, 0
	}
	if m.sc.Design.Window > 0 { // pilots do not set the window
		m.plan.WarmUp = m.sc.Design.Window / 2
	}
	m.plan.PilotWindow, m.plan.PilotWork = 0, 0
	if m.o.Scale.Value > longScale { // such a run takes hours, and finer slices would fill the store
		m.plan.SliceLength = time.Second
	}
	return nil
}
