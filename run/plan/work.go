package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/verdict"
	"filewise/lab/workload"
)

// Defaults of a plan. With these, `filewise run` without arguments ends within two minutes on two cores.
const (
	defaultWindow      = 1500 * time.Millisecond
	defaultBudget      = 90 * time.Second
	budgetStretch      = 2 // factor on a default budget, for an interval on a slow machine
	defaultPilotWindow = time.Second
	defaultMaxBlocks   = 20
	fixedWorkBlocks    = 30 // blocks with fixed work; more would need simulated boundaries
	usefulBounds       = 10 // percent: the bounds of a useful answer without a verdict
	defaultAttempts    = 3
	defaultBuilds      = 3
	sliceLength        = 10 * time.Millisecond
)

// WorkOptions sets the work of a trial, and the number of trials.
type WorkOptions struct {
	Connections  Opt[int]
	Window       Opt[time.Duration]
	Work         Opt[string]
	WarmUp       Opt[time.Duration]
	RowBytes     Opt[string]
	CommitEvery  Opt[int]
	Sharing      Opt[string] // of the table
	Key          Opt[string]
	MaxBlocks    Opt[int]
	Budget       Opt[time.Duration]
	Seed         Opt[string]
	Measure      Opt[string]
	Observe      Opt[string]
	Preload      Opt[string]
	Builds       Opt[int]
	StorageLimit Opt[string]
}

// The values of StorageLimit.
const (
	StorageAuto = "auto"
	StorageOff  = "off"
)

// Table returns the rows of these options.
func (o *WorkOptions) Table() []Option {
	return append(o.trialTable(),
		Row(&o.MaxBlocks, "max-blocks", defaultMaxBlocks, "stop after this `number` of blocks (interleaved fixed work: 30)").
			between(verdict.FirstAnalysis, maxBlocks),
		Row(&o.Budget, "budget", defaultBudget, "stop after about this `time`; longer by default on managed engines, at most "+
			"doubled for an interval (0: only --max-blocks limits)"),
		Row(&o.Seed, "seed", "", "`number` that fixes data and order (default drawn)").unrepeated(),
		Row(&o.Measure, "measure", experiment.MeasureWorkload, "measure this `part`: the workload, or open, shutdown, checkpoint "+
			"and crash recovery (lifecycle)").
			oneOf(experiment.MeasureWorkload, experiment.MeasureLifecycle),
		Row(&o.Observe, "observe", experiment.ObserveRest, "judge writing work over this `span`: from rest to rest with its "+
			"drain (rest), or the window").
			oneOf(experiment.ObserveRest, experiment.ObserveWindow),
		Row(&o.Preload, "preload", "", "fill every build with rows of this `size`, and restore it for each trial (default: empty, "+
			"built again)"),
		Row(&o.Builds, "builds", defaultBuilds, "alternate this many loaded `builds` of a layout (--preload, scan, backup, dump; "+
			"default one per trial if copied)").between(1, maxBuilds),
		Row(&o.StorageLimit, "storage-limit", StorageAuto, "show the storage's `limit` by fio: known, or measured within 5 % of the budget "+
			"(auto), or none (off)").oneOf(StorageAuto, StorageOff),
	)
}

func (o *WorkOptions) trialTable() []Option {
	return []Option{
		Row(&o.Connections, "connections", 0, "`number` of connections at once (default the scenario's)").
			between(1, workload.MaxConnections),
		Row(&o.Window, "window", defaultWindow, "measured `time` of a trial").insteadOf("work"),
		Row(&o.Work, "work", "", "do this many `bytes` of payload per trial instead of --window").
			insteadOf("window"),
		Row(&o.WarmUp, "warm-up", -1, "unmeasured `time` before the window (default by pilots)").shownAs("0s"),
		Row(&o.RowBytes, "row-bytes", "", "payload `bytes` of a row (default the scenario's)"),
		Row(&o.CommitEvery, "commit-every", 0, "`rows` per transaction (default the scenario's)").between(1, workload.MaxCommitEvery),
		Row(&o.Sharing, "table", "", "`sharing` of the table: by all connections (shared) or one each (per-connection)").
			oneOf(workload.TableShared, workload.TablePerConnection),
		Row(&o.Key, "key", "", "`order` of primary keys: sequential, random, or drawn by the server (identity, SQL Server)").
			oneOf(workload.KeySequential, workload.KeyRandom, workload.KeyIdentity),
	}
}

// setObserve sets whether a trial is observed from rest to rest. It comes after all steps that set a trial's measures.
// An article's design observes what the article did.
func (m *maker) setObserve() error {
	program, err := m.program()
	if err != nil {
		return err
	}
	writes := !program.ReadOnly && slices.ContainsFunc(program.Phases, func(p filewise.Phase) bool {
		return p.Act == filewise.ActWork && p.Rate == 0 && p.Pause == nil
	})
	if m.o.Observe.Value == experiment.ObserveRest && writes && m.plan.AsPublished == nil && m.plan.Measure != experiment.MeasureLifecycle {
		m.plan.Observe = experiment.ObserveRest
	}
	return nil
}

func (m *maker) setStorageLimit() error {
	if m.o.StorageLimit.Value == StorageOff {
		m.plan.StorageLimit = StorageOff
	}
	return nil
}

// program returns the connections' work as far as it is planned.
func (m *maker) program() (filewise.Program, error) {
	w, err := m.sc.New(m.plan.Params, m.plan.Seed)
	if err != nil {
		return filewise.Program{}, err
	}
	return w.Program(), nil
}

// DriverOptions names the hosts that put the load on a server in place of this one.
type DriverOptions struct {
	Drivers  Opt[string]
	Temporal Opt[string]
}

// Table returns the rows of these options.
func (o *DriverOptions) Table() []Option {
	return append([]Option{
		Row(&o.Drivers, "drivers", "", "share the connections among these `hosts` (host1,host2), through Temporal"),
	}, o.TemporalTable()...)
}

// TemporalTable returns only the row with Temporal's address.
func (o *DriverOptions) TemporalTable() []Option {
	return []Option{Row(&o.Temporal, "temporal", "", "`HOST:PORT` of Temporal (default: TEMPORAL_ADDRESS, a profile of "+
		"temporal.toml, or localhost:7233)").unrepeated()}
}

// setDrivers checks and sets the drivers. It comes after all steps that set a trial's work.
func (m *maker) setDrivers() error {
	given := m.o.Drivers.Value
	if given == "" {
		return nil
	}
	hosts := strings.Split(strings.ToLower(given), ",")
	program, err := m.program()
	if err != nil {
		return err
	}
	for i, host := range hosts {
		if host == "" || strings.ContainsAny(host, " \"'`\\\n") || slices.Contains(hosts[:i], host) {
			return BadValue("drivers", given, "give the name of each host once, as its worker has it: host1,host2")
		}
	}
	refuse := func(remedy, format string, args ...any) error {
		return filewise.Errorf(filewise.CodeUsage, remedy, "--drivers %s: not possible here: %s%w", given, fmt.Sprintf(format, args...),
			unfit{name: "drivers"})
	}
	const leave = "leave --drivers out"
	switch {
	case m.Target.Mode != filewise.External || m.plan.Target.Database != "":
		return refuse("give the URL of an existing server that all drivers reach (--target), or "+leave,
			"drivers share a server by its URL, and %s here is a server that Filewise starts on this host", m.Target.Engine)
	case !m.About.Shares:
		return refuse(leave+": this host drives it alone", "connections of several hosts cannot yet work on one build of %s", m.Target.Engine)
	case program.HasConcurrentLoad() || program.BacksUp() || program.Churns() || m.plan.Layouts[0].AddedLater != "" ||
		m.plan.Measure == experiment.MeasureLifecycle:
		return refuse(leave, "only the load of connections can be shared, and trials of this plan do more")
	}
	for _, x := range program.Phases {
		switch {
		case x.Rate > 0:
			return refuse("leave --rate or --drivers out", "any free connection takes the next operation of a rate, and they are on several hosts")
		case len(hosts) > x.Connections:
			return refuse("name fewer, or give more --connections", "%s for %s (%s)", filewise.Counted(len(hosts), "driver"),
				filewise.Counted(x.Connections, "connection"), x.Operation)
		}
	}
	m.plan.Drivers = hosts
	return nil
}
