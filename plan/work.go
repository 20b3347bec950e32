package plan

import (
	"time"

	"filewise"
	"filewise/experiment"
	"filewise/verdict"
	"filewise/workload"
)

// Defaults of a plan. Window and budget are such that `filewise run` with no
// arguments ends within two minutes on two cores.
const (
	defaultWindow      = 1500 * time.Millisecond
	defaultBudget      = 90 * time.Second
	defaultPilotWindow = time.Second
	defaultMaxBlocks   = 20
	fixedWorkBlocks    = 30 // of sessions whose work is fixed; for more, boundaries would have to be simulated
	usefulBounds       = 10 // percent, that an answer has which is no verdict
	defaultAttempts    = 3
	defaultInstances   = 3
	sliceLength        = 10 * time.Millisecond
)

// WorkOptions say what a trial does, and how many there are.
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
	Preload      Opt[string]
	Instances    Opt[int]
	StorageLimit Opt[string]
}

// The values of StorageLimit.
const (
	StorageAuto = "auto"
	StorageOff  = "off"
)

// Table has their rows.
func (o *WorkOptions) Table() []Option {
	return append(o.trialTable(),
		Row(&o.MaxBlocks, "max-blocks", defaultMaxBlocks, "measure at most this `number` of blocks (rounds through all layouts; unless given, "+
			"30 where layouts take turns at fixed work)").
			between(verdict.FirstLook, maxBlocks),
		Row(&o.Budget, "budget", defaultBudget, "stop after about this `time` of trials; 0: only --max-blocks limits (managed engines: longer, "+
			"see filewise engines)"),
		Row(&o.Seed, "seed", "", "`number` from which data and order follow (default: drawn, and reported)").unrepeated(),
		Row(&o.Measure, "measure", experiment.MeasureWorkload, "`part` of a database's life that is measured: the workload, or the lifecycle "+
			"of a database that it has filled (open, shutdown, checkpoint, crash recovery)").
			oneOf(experiment.MeasureWorkload, experiment.MeasureLifecycle),
		Row(&o.Preload, "preload", "", "load every build with rows of this `size` first, and restore it for every trial (default: built anew, "+
			"empty)"),
		Row(&o.Instances, "instances", defaultInstances, "loaded `builds` of each layout, which take turns (with --preload; scan, backup, dump, "+
			"and where builds can be copied: unless given, every trial has a build of its own)").between(1, maxInstances),
		Row(&o.StorageLimit, "storage-limit", StorageAuto, "the storage's own limit, by fio, `auto|off`: the one that is known, or measured "+
			"first where that takes less than a twentieth of the budget (auto), or none (off)").oneOf(StorageAuto, StorageOff),
	)
}

func (o *WorkOptions) trialTable() []Option {
	return []Option{
		Row(&o.Connections, "connections", 0, "`number` of connections that work at the same time (default the scenario's)").
			between(1, workload.MaxConnections),
		Row(&o.Window, "window", defaultWindow, "measured `time` of a trial").insteadOf("work"),
		Row(&o.Work, "work", "", "fixed work of a trial in `bytes` of payload, split evenly over the connections, instead of --window").
			insteadOf("window"),
		Row(&o.WarmUp, "warm-up", -1, "`time` before the window that is not measured (default: fixed by pilots)").shownAs("0s"),
		Row(&o.RowBytes, "row-bytes", "", "payload `bytes` of a row (default the scenario's)"),
		Row(&o.CommitEvery, "commit-every", 0, "`rows` per transaction (default the scenario's)").between(1, workload.MaxCommitEvery),
		Row(&o.Sharing, "table", "", "`sharing` of the table: one for all connections (shared) or one each (per-connection)").
			oneOf(workload.TableShared, workload.TablePerConnection),
		Row(&o.Key, "key", "", "`order` of primary keys: sequential or random, or as the server draws them (identity: on SQL Server)").
			oneOf(workload.KeySequential, workload.KeyRandom, workload.KeyIdentity),
	}
}

func (m *maker) setStorageLimit() error {
	if m.o.StorageLimit.Value == StorageOff {
		m.plan.StorageLimit = StorageOff
	}
	return nil
}

// program is what the connections do, as far as it is planned.
func (m *maker) program() (filewise.Program, error) {
	w, err := m.sc.New(m.plan.Params, m.plan.Seed)
	if err != nil {
		return filewise.Program{}, err
	}
	return w.Program(), nil
}
