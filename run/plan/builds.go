package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// maxBuilds is the most builds, each with a copy, that exist side by side.
const maxBuilds = 20

// setPreload sets the data that every build is loaded with, and the number of builds of each layout.
func (m *maker) setPreload() (err error) {
	external := m.plan.Target.Mode == filewise.External // it is loaded again for every trial
	if external && m.o.Builds.Given() && (m.o.Preload.Given() || m.work.Appends()) {
		return badUse("builds", m.o.Builds.Value, "on an existing server every trial rebuilds and reloads its database: leave it out")
	}
	if !m.o.Preload.Given() {
		if m.o.Builds.Given() && m.work.Appends() {
			return badUse("builds", m.o.Builds.Value, "without --preload every trial has a separate build: add --preload, or leave it out")
		}
		return nil
	}
	if !m.About.Reset && !external {
		return filewise.Errorf(filewise.CodePreflight, "leave --preload out; builds are then made again for every trial",
			"%s cannot restore a loaded build: %w", m.plan.Target.Engine, filewise.ErrUnsupported)
	}
	if err := m.checkBuilds(); err != nil {
		return err
	}
	if m.plan.Preload, err = bytesOf("preload", m.o.Preload.Value); err != nil {
		return err
	}
	if !external && (m.o.Builds.Given() || !m.copies()) {
		m.plan.Builds = m.o.Builds.Value
	}
	if m.plan.Preload >= m.plan.Layouts[0].Data.Bytes {
		return BadValue("preload", m.o.Preload.Value, "it has to fit into --size, with space for the work")
	}
	return nil
}

// copies reports whether every trial works on its own copy of a build that is loaded once.
func (m *maker) copies() bool {
	return m.o.AddedLater.Value == "" && m.o.Measure.Value == experiment.MeasureWorkload &&
		!slices.ContainsFunc(m.plan.Layouts, func(l filewise.Layout) bool { return !slices.Contains(m.About.CopiedKinds, l.Kind) })
}

// copiesFiles reports whether builds that a dump has filled can be copied.
func (m *maker) copiesFiles() bool {
	return !slices.ContainsFunc(m.plan.Layouts, func(l filewise.Layout) bool {
		alone := len(l.DataVolumes(m.plan.Target.Volumes)) == 1 || l.Data.Placement != filewise.PlaceRoundRobin
		return !slices.Contains(m.About.CopiedKinds, l.Kind) && !(alone && slices.Contains(m.About.CopiedAlone, l.Kind))
	})
}

// setFrom sets the dump that fills the builds. The builds are kept, and restored for every trial.
func (m *maker) setFrom(custom *workload.Custom) (err error) {
	if m.o.From.Value == "" {
		if m.o.Builds.Given() {
			return badUse("builds", m.o.Builds.Value, "a set-up makes every trial a separate build: add --from, or leave it out")
		}
		return nil
	}
	if m.plan.Target.Mode == filewise.External && (m.About.Dumps != "" || m.About.BackupsThere) {
		return m.setFromThere(custom)
	}
	if m.plan.Target.Mode != filewise.Managed {
		return filewise.Errorf(filewise.CodePreflight, "measure it on a managed server, by --engine instead of --target",
			"a dump is restored on servers that Filewise starts alone: %w", filewise.ErrUnsupported)
	}
	if m.fromServer() {
		err = m.setOrigin(custom)
	} else if custom.From, err = filepath.Abs(m.o.From.Value); err == nil {
		if info, stat := os.Stat(custom.From); stat != nil {
			err = BadValue("from", m.o.From.Value, "name a dump that can be read: "+stat.Error())
		} else if !info.Mode().IsRegular() && !info.IsDir() { // it is read more than once
			err = BadValue("from", m.o.From.Value, "name a dump that is a file or a directory")
		}
	}
	if err != nil {
		return err
	}
	if err := m.checkBuilds(); err != nil {
		return err
	}
	m.plan.Builds, m.plan.CopiedBuilds = m.o.Builds.Value, !m.o.Builds.Given() && m.o.Builds.Value > 1 && m.copiesFiles()
	return nil
}

// setFromThere has the target's server restore its data for every trial. The source is a dump that the server can read,
// or a backup that it makes of one of its databases.
func (m *maker) setFromThere(custom *workload.Custom) error {
	if m.o.Builds.Given() {
		return badUse("builds", m.o.Builds.Value, "on an existing server every trial restores its data again: leave it out")
	}
	if scheme, _, _ := strings.Cut(m.About.Dumps, ":"); scheme != "" && !strings.HasPrefix(m.o.From.Value, scheme+":") {
		return BadValue("from", m.o.From.Value, "name a dump that the server reads: "+m.About.Dumps)
	}
	if custom.From = m.o.From.Value; m.About.Dumps != "" || !m.fromServer() {
		return nil
	}
	_, address, _, err := m.engines.ParseTarget(m.o.From.Value, m.plan.Target.Engine)
	if err != nil {
		return err
	}
	shown, there := WithoutSecrets(*address), m.plan.Target.Address
	if shown.Scheme != there.Scheme || shown.Host != there.Host || shown.Port != there.Port || shown.Path != there.Path {
		return BadValue("from", shown, "the server of --target makes the backup: name a database of that one, "+WithoutSecrets(*there).String())
	}
	custom.From = shown.String()
	m.o.From.Value = custom.From
	return nil
}

// fromServer reports whether --from is the URL of a database to dump.
func (m *maker) fromServer() bool { return strings.Contains(m.o.From.Value, "://") }

func (m *maker) setOrigin(custom *workload.Custom) error {
	e, address, _, err := m.engines.ParseTarget(m.o.From.Value, m.plan.Target.Engine)
	if err != nil {
		return err
	}
	shown := WithoutSecrets(*address)
	switch {
	case e.Name() != m.plan.Target.Engine:
		return BadValue("from", shown, "the run is on "+m.plan.Target.Engine+": give a database of that")
	case address.Path == "":
		return BadValue("from", shown, "name the database, too: "+shown.String()+"/NAME")
	}
	m.Secret, custom.Origin, custom.From = *address, &shown, shown.String()
	m.o.From.Value = custom.From
	return nil
}

func (m *maker) checkBuilds() error {
	if n := m.o.Builds.Value; n < 1 || n > maxBuilds {
		return OutOfRange("builds", n, fmt.Sprintf("give 1 to %d; with one, the verdict is for that build only", maxBuilds))
	}
	return nil
}

// setMeasure sets what a trial measures. The life cycle needs a server, and fixed work that leaves something to write
// and to recover.
func (m *maker) setMeasure() error {
	if m.plan.Measure = m.o.Measure.Value; m.plan.Measure == experiment.MeasureWorkload {
		if m.o.Work.Given() && !m.work.Appends() {
			return BadValue("work", m.o.Work.Value, "give --window: fixed work of transactions is for --measure lifecycle alone")
		}
		return nil
	}
	switch {
	case m.plan.Target.Mode == filewise.External && !m.About.Cycles:
		return filewise.Errorf(filewise.CodePreflight, "measure it on a managed server: --engine "+m.plan.Target.Engine+" instead of --target",
			"an existing server is its owner's and is never stopped, and databases of %s cannot be taken offline by themselves: %w",
			m.plan.Target.Engine, filewise.ErrUnsupported)
	case m.plan.Target.Mode != filewise.External && !m.About.Lifecycle:
		return filewise.Errorf(filewise.CodePreflight, "measure it on an engine with a server that Filewise may stop, such as --engine mariadb",
			"%s has no life cycle to time: %w", m.plan.Target.Engine, filewise.ErrUnsupported)
	case m.plan.Target.Durability == filewise.DurabilityOff:
		return BadValue("durability", m.plan.Target.Durability, "a crash would lose commits, and the check would fail: use full or normal "+
			"with --measure lifecycle")
	case m.o.Window.Given():
		return BadValue("window", m.o.Window.Value, "the life cycle is timed after fixed work: give --work, or leave both out")
	}
	if m.plan.Work == 0 {
		m.plan.Work = m.plan.Layouts[0].Data.Bytes / 2
		if !m.work.Appends() { // transactions dirty many pages for each of their bytes
			m.plan.Work /= 32
		}
	}
	m.plan.Window, m.plan.PilotWindow = 0, 0
	return nil
}
