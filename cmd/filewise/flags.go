package main

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/engine/all"
	"filewise/experiment"
	"filewise/internal/nearest"
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
	defaultAttempts    = 3
	defaultInstances   = 3
	sliceLength        = 10 * time.Millisecond
)

// Limits that keep sums of times and sizes far from overflow, and what is kept
// of a trial small.
const (
	maxTrialTime = 24 * time.Hour       // of a window, and of a warm-up
	maxBudget    = 366 * 24 * time.Hour // of a run
	maxSlices    = 6000                 // of a trial, for each connection
	maxBytes     = int64(1) << 60       // of a size
	maxBlocks    = 500                  // for more, the verdict has no boundaries
)

// planFlags are the flags that say what is measured: those of run and plan.
type planFlags struct {
	engine, kind, serverBin string
	settings                []string
	files                   []int
	size, work, rowBytes    string
	growth                  string
	connections             int
	commitEvery             int
	window, warmUp, budget  time.Duration
	durability              string
	table, key              string
	allocation, placement   string
	volumes                 []string
	judge                   judgeFlags
	maxBlocks               int
	seed                    string
	measure, preload        string
	instances               int
}

// judgeFlags are the flags that say how trials are judged: also those of judge.
type judgeFlags struct {
	margin     float64
	confidence float64
	goal       string
	baseline   string
}

func (f *judgeFlags) register(fs *pflag.FlagSet) {
	fs.Float64Var(&f.margin, "margin", 2, "differences below this `percent` do not matter")
	fs.Float64Var(&f.confidence, "confidence", 95, "confidence of the verdict in `percent`, over all layouts and looks together")
	fs.StringVar(&f.goal, "goal", string(verdict.GoalRecommend), "go on until a layout can be recommended (recommend), or until every layout is resolved (verdicts)")
	fs.StringVar(&f.baseline, "baseline", "", "layout that the others are compared with: its name or number of files (default the first of --files)")
}

func (f *planFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.engine, "engine", "sqlite", "`engine` to lay databases out on (see filewise engines)")
	fs.StringVar(&f.kind, "kind", "", "`kind` of layout (default the engine's usual one)")
	fs.StringVar(&f.serverBin, "server-bin", "", "`directory` of a managed server's binaries (default: searched)")
	fs.StringArrayVar(&f.settings, "set", nil, "`key=value` setting of a managed server (repeatable)")
	fs.IntSliceVar(&f.files, "files", nil, "numbers of data files to compare, the total size held constant (default the scenario's)")
	fs.StringVar(&f.size, "size", "", "total `size` of the data files, such as 64MiB (default the scenario's)")
	fs.IntVar(&f.connections, "connections", 0, "connections that work at the same time (default the scenario's)")
	fs.DurationVar(&f.window, "window", defaultWindow, "measured `time` of a trial")
	fs.StringVar(&f.work, "work", "", "fixed work of a trial in `bytes` of payload, split evenly over the connections, instead of --window")
	fs.DurationVar(&f.warmUp, "warm-up", -1, "`time` before the window that is not measured (default: fixed by pilots)")
	fs.StringVar(&f.rowBytes, "row-bytes", "", "payload `bytes` of a row (default the scenario's)")
	fs.IntVar(&f.commitEvery, "commit-every", 0, "rows per transaction (default the scenario's)")
	fs.StringVar(&f.durability, "durability", string(filewise.DurabilityFull), "what a commit waits for: full, normal or off")
	fs.StringVar(&f.table, "table", "", "one table for all connections (shared) or one each (per-connection)")
	fs.StringVar(&f.key, "key", "", "order of primary keys: sequential or random")
	fs.StringVar(&f.allocation, "allocation", string(filewise.Preallocated), "files at full size from the start (preallocated) or growing")
	fs.StringVar(&f.growth, "growth", "1MiB", "`bytes` by which a growing file grows")
	fs.StringArrayVar(&f.volumes, "volume", nil, "`NAME=DIR` where files may be placed (repeatable; default here=.)")
	fs.StringVar(&f.placement, "placement", "", "all files on the first volume (one) or spread over the volumes (round-robin) (default round-robin with several volumes)")
	fs.IntVar(&f.maxBlocks, "max-blocks", defaultMaxBlocks, "measure at most this many blocks (rounds through all layouts)")
	fs.DurationVar(&f.budget, "budget", defaultBudget, "stop after about this `time` of trials; 0: only --max-blocks limits (default on managed engines: longer, see filewise engines)")
	fs.StringVar(&f.seed, "seed", "", "`number` from which data and order follow (default: drawn, and reported)")
	fs.StringVar(&f.measure, "measure", experiment.MeasureWorkload, "what is measured: the workload, or the lifecycle of a database that it has filled (open, shutdown, checkpoint, crash recovery)")
	fs.StringVar(&f.preload, "preload", "", "load every build with rows of this `size` first, and restore it for every trial (default: built anew, empty)")
	fs.IntVar(&f.instances, "instances", defaultInstances, "loaded builds of each layout, which take turns (with --preload)")
	fs.Lookup("warm-up").DefValue = "0s" // hides −1, which stands for the pilots
	f.judge.register(fs)
}

// choice returns the value of an enumerated flag, or a usage error that names
// the nearest known one.
func choice[T ~string](flag, value string, known ...T) (T, error) {
	if i := slices.Index(known, T(value)); i >= 0 {
		return known[i], nil
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	return "", nearest.Unknown("--"+flag, value, names)
}

// bytesOf parses a size such as 64MiB, 64M or 1.5 GB.
func bytesOf(flag, value string) (int64, error) {
	const remedy = "give a size above 0 such as 512KiB, 64MiB or 1.5GB"
	n, err := humanize.ParseBytes(value)
	switch {
	case err != nil:
		return 0, filewise.Errorf(filewise.CodeUsage, remedy, "--%s %q is not a size", flag, value)
	case n == 0 || n > uint64(maxBytes):
		return 0, filewise.Errorf(filewise.CodeUsage, remedy+", at most "+humanize.IBytes(uint64(maxBytes)), "--%s %q is not possible", flag, value)
	}
	return int64(n), nil
}

func badValue(flag string, value any, remedy string) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "--%s %v is not possible", flag, value)
}

// plan makes the plan that the flags describe. Nothing is touched.
func (f *planFlags) plan(cmd *cobra.Command, scenario string) (experiment.Plan, error) {
	sc, err := workload.Lookup(scenario)
	if err != nil {
		return experiment.Plan{}, err
	}
	p := experiment.Plan{
		Scenario: sc.Name, MaxBlocks: f.maxBlocks, Budget: f.budget, Attempts: defaultAttempts,
		Window: f.window, WarmUp: f.warmUp, PilotWindow: min(defaultPilotWindow, f.window),
	}
	steps := []func(*cobra.Command, *experiment.Plan, workload.Scenario) error{
		f.setTarget, f.setVolumes, f.setParams, f.setLayouts, f.setPreload, f.setWork, f.setFill, f.setMeasure, f.setPilot, f.setJudging, f.setSeed,
	}
	for _, step := range steps {
		if err := step(cmd, &p, sc); err != nil {
			return experiment.Plan{}, err
		}
	}
	p.Command = f.command(cmd, p)
	return p, nil
}

func (f *planFlags) setTarget(cmd *cobra.Command, p *experiment.Plan, _ workload.Scenario) (err error) {
	e, err := all.Lookup(f.engine)
	if err != nil {
		return err
	}
	p.Target.Engine = e.Name()
	p.Target.Mode = modeOf(e)
	if usual := describe(e).Budget; usual > 0 && !cmd.Flags().Changed("budget") {
		p.Budget = usual
	}
	if f.serverBin != "" && p.Target.Mode == filewise.Embedded {
		return badValue("server-bin", f.serverBin, e.Name()+" runs inside Filewise: leave it out")
	}
	p.Target.ServerBin = f.serverBin
	if p.Target.Durability, err = choice("durability", f.durability,
		filewise.DurabilityFull, filewise.DurabilityNormal, filewise.DurabilityOff); err != nil {
		return err
	}
	for _, s := range f.settings {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return badValue("set", strconv.Quote(s), "give it as key=value")
		}
		if p.Target.Settings == nil {
			p.Target.Settings = make(map[string]string)
		}
		p.Target.Settings[key] = value
	}
	return nil
}

func (f *planFlags) setVolumes(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	volumes := f.volumes
	if len(volumes) == 0 {
		volumes = []string{"here=."}
	}
	for _, v := range volumes {
		name, dir, ok := strings.Cut(v, "=")
		if !ok || name == "" || dir == "" {
			return badValue("volume", strconv.Quote(v), "give it as NAME=DIR, such as fast=/mnt/nvme")
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return filewise.Errorf(filewise.CodePreflight, "", "--volume %s: %w", v, err)
		}
		for _, other := range p.Target.Volumes {
			if other.Name == name {
				return badValue("volume", strconv.Quote(v), "the name is taken by "+other.Dir)
			}
		}
		p.Target.Volumes = append(p.Target.Volumes, filewise.Volume{Name: name, Dir: abs})
	}
	return nil
}

func (f *planFlags) setParams(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) error {
	p.Params = sc.Params
	if cmd.Flags().Changed("connections") {
		p.Params.Connections = f.connections
	}
	if cmd.Flags().Changed("commit-every") {
		p.Params.CommitEvery = f.commitEvery
	}
	if cmd.Flags().Changed("row-bytes") {
		n, err := bytesOf("row-bytes", f.rowBytes)
		if err != nil {
			return err
		}
		p.Params.RowBytes = int(n)
	}
	if cmd.Flags().Changed("table") {
		p.Params.Table = f.table
	}
	if cmd.Flags().Changed("key") {
		p.Params.Key = f.key
	}
	return p.Params.Validate()
}

func (f *planFlags) setWork(cmd *cobra.Command, p *experiment.Plan, _ workload.Scenario) (err error) {
	set := cmd.Flags().Changed
	p.SliceLength = sliceLength
	switch {
	case f.work == "" && !set("work"):
		return f.setWindow(cmd, p)
	case set("window"):
		return badValue("work", f.work, "--window and --work exclude each other: measured time, or fixed work")
	case set("warm-up"):
		return badValue("warm-up", f.warmUp, "fixed work (--work) has no warm-up: leave it out")
	}
	p.Window, p.PilotWindow = 0, 0
	if p.Work, err = bytesOf("work", f.work); err != nil {
		return err
	}
	if least := int64(p.Params.RowBytes) * int64(p.Params.Connections); p.Work < least {
		return badValue("work", f.work, fmt.Sprintf("every connection needs at least one row: %s", humanize.IBytes(uint64(least))))
	}
	return nil
}

// setWindow sets the measured time of a trial, and slices of which there are
// not too many.
func (f *planFlags) setWindow(cmd *cobra.Command, p *experiment.Plan) error {
	const shortest = 20 * sliceLength
	switch {
	case f.window <= 0:
		return badValue("window", f.window, "give a time such as 2s, or fixed work by --work")
	case f.window < shortest:
		return badValue("window", f.window, fmt.Sprintf("the shortest window is %v", shortest))
	case f.window > maxTrialTime:
		return badValue("window", f.window, fmt.Sprintf("the longest window is %v", maxTrialTime))
	case cmd.Flags().Changed("warm-up") && (f.warmUp < 0 || f.warmUp > maxTrialTime):
		return badValue("warm-up", f.warmUp, fmt.Sprintf("give a time from 0 to %v, or leave it to the pilots", maxTrialTime))
	}
	all := f.window + max(f.warmUp, 0)
	p.SliceLength = sliceLength * ((all + maxSlices*sliceLength - 1) / (maxSlices * sliceLength))
	return nil
}

func (f *planFlags) setJudging(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	if f.maxBlocks < verdict.FirstLook {
		return badValue("max-blocks", f.maxBlocks, fmt.Sprintf("a verdict needs at least %d blocks", verdict.FirstLook))
	}
	if f.maxBlocks > maxBlocks {
		return badValue("max-blocks", f.maxBlocks, fmt.Sprintf("a verdict can use at most %d blocks", maxBlocks))
	}
	if f.budget < 0 || f.budget > maxBudget {
		return badValue("budget", f.budget, "give a time such as 10m, at most a year, or 0 for none")
	}
	if least, _ := p.Duration(); p.Budget > 0 && least > p.Budget {
		return badValue("budget", p.Budget, fmt.Sprintf("pilots and the %d blocks that a verdict needs take at least %v: give more, or a shorter --window or fewer --files",
			verdict.FirstLook, least.Round(time.Second)))
	}
	return f.judge.apply(p)
}

// pilotShare of the fixed work of a trial is enough to forecast its time.
const pilotShare = 8

func (f *planFlags) setPilot(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	if p.Work > 0 && p.Measure == experiment.MeasureWorkload {
		least := int64(p.Params.RowBytes) * int64(p.Params.Connections)
		p.PilotWork = max(p.Work/pilotShare, min(least, p.Work))
	}
	return nil
}

// apply sets how the plan's trials are judged.
func (f *judgeFlags) apply(p *experiment.Plan) (err error) {
	if !(f.margin > 0 && f.margin <= 100) {
		return badValue("margin", f.margin, "give a percentage above 0 and up to 100, such as 2")
	}
	if !(f.confidence >= 50 && f.confidence <= 99.99) {
		return badValue("confidence", f.confidence, "give a percentage from 50 to 99.99, such as 95")
	}
	p.Margin, p.Confidence = f.margin, f.confidence/100
	if p.Goal, err = choice("goal", f.goal, verdict.GoalRecommend, verdict.GoalVerdicts); err != nil {
		return err
	}
	return f.setBaseline(p)
}

func (f *judgeFlags) setBaseline(p *experiment.Plan) error {
	if f.baseline == "" {
		if p.Baseline == "" {
			p.Baseline = p.Layouts[0].Name
		}
		return nil
	}
	names := make([]string, len(p.Layouts))
	for i, l := range p.Layouts {
		if f.baseline == l.Name || f.baseline == strconv.Itoa(l.Data.Files) {
			p.Baseline = l.Name
			return nil
		}
		names[i] = l.Name
	}
	return nearest.Unknown("--baseline", f.baseline, names)
}

func (f *planFlags) setSeed(_ *cobra.Command, p *experiment.Plan, _ workload.Scenario) (err error) {
	if f.seed == "" {
		var b [8]byte
		if _, err := rand.Read(b[:]); err != nil {
			return fmt.Errorf("draw a seed: %w", err)
		}
		p.Seed = binary.LittleEndian.Uint64(b[:]) >> 33 // short enough to type again
		return nil
	}
	if p.Seed, err = strconv.ParseUint(f.seed, 10, 64); err != nil {
		return badValue("seed", strconv.Quote(f.seed), "give a whole number from 0 to 18446744073709551615")
	}
	return nil
}

// command is the command line that repeats the plan, seed included.
func (f *planFlags) command(cmd *cobra.Command, p experiment.Plan) []string {
	out := []string{"filewise", "run", p.Scenario}
	cmd.Flags().Visit(func(fl *pflag.Flag) {
		if fl.Name == "seed" || fl.Name == "volume" || !inPlan(fl.Name) {
			return
		}
		if v, ok := fl.Value.(pflag.SliceValue); ok && fl.Name != "files" {
			for _, s := range v.GetSlice() {
				out = append(out, "--"+fl.Name, s)
			}
			return
		}
		out = append(out, "--"+fl.Name, strings.Trim(fl.Value.String(), "[]"))
	})
	for _, v := range p.Target.Volumes { // absolute: from wherever it is repeated
		out = append(out, "--volume", v.Name+"="+v.Dir)
	}
	return append(out, "--seed", strconv.FormatUint(p.Seed, 10))
}

// inPlan tells whether a flag is one of planFlags.
func inPlan(name string) bool {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(planFlags).register(fs)
	return fs.Lookup(name) != nil
}

// fromEnvironment sets every flag that the command line leaves open from
// FILEWISE_NAME, where there is one; an empty one is none.
func fromEnvironment(fs *pflag.FlagSet) error {
	var err error
	fs.VisitAll(func(fl *pflag.Flag) {
		name := "FILEWISE_" + strings.ToUpper(strings.ReplaceAll(fl.Name, "-", "_"))
		value := os.Getenv(name)
		if value == "" || fl.Changed || err != nil || fl.Name == "help" {
			return
		}
		if serr := fs.Set(fl.Name, value); serr != nil {
			err = wrongType(fmt.Sprintf("%s=%q in the environment", name, value), fl, serr)
		}
	})
	return err
}
