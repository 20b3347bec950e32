package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/experiment"
	"filewise/workload"
)

// Defaults of a plan. Window and budget are such that `filewise run` with no
// arguments ends within two minutes on two cores.
const (
	defaultWindow      = 1500 * time.Millisecond
	defaultBudget      = 90 * time.Second
	defaultPilotWindow = time.Second
	defaultMaxBlocks   = 20
	defaultAttempts    = 3
	defaultInstances   = 3
	sliceLength        = 10 * time.Millisecond
)

// planFlags are the flags that say what is measured: those of run and plan.
type planFlags struct {
	target targetFlags
	layoutFlags
	scenarioFlags
	serverBin              string
	settings               []string
	work, rowBytes         string
	connections            int
	commitEvery            int
	window, warmUp, budget time.Duration
	durability             string
	table, key             string
	volumes                []string
	judge                  judgeFlags
	checks                 checkFlags
	maxBlocks              int
	seed                   string
	measure, preload       string
	instances              int
	stops                  stopFlags
	notify                 notifyFlags
	storageLimit           string

	custom *workload.Custom // of a study file; nil: none
	chosen                  // found by setTarget, which comes first
}

func (f *planFlags) register(fs *pflag.FlagSet) {
	f.target.register(fs, "sqlite")
	f.layoutFlags.register(fs)
	f.scenarioFlags.register(fs)
	f.stops.register(fs)
	f.notify.register(fs)
	fs.StringVar(&f.serverBin, "server-bin", "", "`directory` of a managed server's binaries (default: searched)")
	fs.StringArrayVar(&f.settings, "set", nil, "`key=value` setting of a managed server (repeatable)")
	fs.IntVar(&f.connections, "connections", 0, "`number` of connections that work at the same time (default the scenario's)")
	fs.DurationVar(&f.window, "window", defaultWindow, "measured `time` of a trial")
	fs.StringVar(&f.work, "work", "", "fixed work of a trial in `bytes` of payload, split evenly over the connections, instead of --window")
	fs.DurationVar(&f.warmUp, "warm-up", -1, "`time` before the window that is not measured (default: fixed by pilots)")
	fs.StringVar(&f.rowBytes, "row-bytes", "", "payload `bytes` of a row (default the scenario's)")
	fs.IntVar(&f.commitEvery, "commit-every", 0, "`rows` per transaction (default the scenario's)")
	fs.StringVar(&f.durability, "durability", string(filewise.DurabilityFull), "`level` of durability, what a commit waits for: full, normal or off")
	fs.StringVar(&f.table, "table", "", "`sharing` of the table: one for all connections (shared) or one each (per-connection)")
	fs.StringVar(&f.key, "key", "", "`order` of primary keys: sequential or random")
	fs.StringArrayVar(&f.volumes, "volume", nil, "`NAME=DIR` where files may be placed, as the server of --target sees it (repeatable; default here=., or the server's own place)")
	fs.IntVar(&f.maxBlocks, "max-blocks", defaultMaxBlocks, "measure at most this `number` of blocks (rounds through all layouts)")
	fs.DurationVar(&f.budget, "budget", defaultBudget, "stop after about this `time` of trials; 0: only --max-blocks limits (managed engines: longer, see filewise engines)")
	fs.StringVar(&f.seed, "seed", "", "`number` from which data and order follow (default: drawn, and reported)")
	fs.StringVar(&f.measure, "measure", experiment.MeasureWorkload, "`part` of a database's life that is measured: the workload, or the lifecycle of a database that it has filled (open, shutdown, checkpoint, crash recovery)")
	fs.StringVar(&f.preload, "preload", "", "load every build with rows of this `size` first, and restore it for every trial (default: built anew, empty)")
	fs.IntVar(&f.instances, "instances", defaultInstances, "loaded `builds` of each layout, which take turns (with --preload; scan, backup, dump: unless given, every trial has a build of its own)")
	fs.Lookup("warm-up").DefValue = "0s" // hides −1, which stands for the pilots
	fs.StringVar(&f.storageLimit, "storage-limit", storageAuto, "the storage's own limit, by fio, `auto|off`: the one that is known, or measured first where that takes less than a twentieth of the budget (auto), or none (off)")
	f.judge.register(fs)
	f.checks.register(fs)
}

// plan makes the plan that the flags describe. Nothing is touched.
func (f *planFlags) plan(cmd *cobra.Command, scenario string) (experiment.Plan, error) {
	return applicable(cmd.Flags(), func() (experiment.Plan, error) { return f.planned(cmd, scenario) })
}

func (f *planFlags) planned(cmd *cobra.Command, scenario string) (experiment.Plan, error) {
	sc, err := workload.Lookup(scenario)
	if err != nil {
		return experiment.Plan{}, err
	}
	if err := ofOthers(cmd, sc); err != nil {
		return experiment.Plan{}, err
	}
	if sc, err = f.published(cmd, sc); err != nil {
		return experiment.Plan{}, err
	}
	if sc.Window > 0 && !cmd.Flags().Changed("window") {
		f.window = sc.Window
	}
	p := experiment.Plan{
		Scenario: sc.Name, MaxBlocks: f.maxBlocks, Budget: f.budget, Attempts: defaultAttempts,
		Window: f.window, WarmUp: f.warmUp, PilotWindow: min(max(defaultPilotWindow, sc.Window/2), f.window),
	}
	steps := []func(*cobra.Command, *experiment.Plan, workload.Scenario) error{
		f.setTarget, f.setVolumes, f.setParams, f.setLayouts, f.setPreload, f.setWork, f.setFill, f.setPhases, f.setMeasure, f.setPilot, f.setStops, f.setNotify, f.setStorageLimit, f.setJudging, f.checks.setChecks, f.setSeed, f.setPublished, f.checks.setCells,
	}
	for _, step := range steps {
		if err := step(cmd, &p, sc); err != nil {
			return experiment.Plan{}, err
		}
	}
	p.Command = f.command(cmd, p)
	return p, nil
}

// command is the command line that repeats the plan, seed included.
func (f *planFlags) command(cmd *cobra.Command, p experiment.Plan) []string {
	out := []string{"filewise", "run", p.Scenario}
	cmd.Flags().Visit(func(fl *pflag.Flag) {
		switch {
		case !fl.Changed: // forgotten: see applicable
			return
		case slices.Contains([]string{"seed", "volume", "target", "password-file", "no-password", "notify", "notify-on"}, fl.Name) || !inPlan(fl.Name):
			return
		case fl.Name == "engine" && p.Target.Mode == filewise.External: // the URL says it
			return
		}
		if v, ok := fl.Value.(pflag.SliceValue); ok && fl.Name != "files" {
			for _, s := range v.GetSlice() {
				out = append(out, "--"+fl.Name, s)
			}
			return
		}
		if fl.NoOptDefVal != "" { // its value stands behind =
			out = append(out, "--"+fl.Name+"="+fl.Value.String())
			return
		}
		out = append(out, "--"+fl.Name, strings.Trim(fl.Value.String(), "[]"))
	})
	if p.Target.Mode == filewise.External {
		out = append(out, f.target.again(p.Target)...)
	}
	for _, v := range p.Target.Volumes { // absolute: from wherever it is repeated
		if v.Dir != "" || len(p.Target.Volumes) > 1 {
			out = append(out, "--volume", v.Name+"="+v.Dir)
		}
	}
	return append(out, "--seed", strconv.FormatUint(p.Seed, 10))
}

// inPlan tells whether a flag is one of planFlags.
func inPlan(name string) bool {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(planFlags).register(fs)
	return fs.Lookup(name) != nil
}
