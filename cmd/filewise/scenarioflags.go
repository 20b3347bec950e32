package main

import (
	"fmt"
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

// scenarioFlags are the parameters of workloads that some scenarios have.
type scenarioFlags struct {
	rows    int64
	mode    string
	connect string
	index   string
	cache   string
	data    string
	repeat  int

	asPublished bool
	scale       float64

	warehouses int
	users      []int
	think      float64
	rate       float64
	churn      bool
	p99Limit   time.Duration
}

func (f *scenarioFlags) register(fs *pflag.FlagSet) {
	fs.Int64Var(&f.rows, "rows", 0, "dml: rows of each phase; scan, backup: `number` of rows of each table (default what fills --size as far as the scenario does)")
	fs.StringVar(&f.mode, "mode", "", "dml: one process that loops on the server (single), concurrent clients, or both")
	fs.StringVar(&f.connect, "connect", "", "dml: concurrent clients keep their connections (pooled) or open one for each statement (per-statement)")
	fs.StringVar(&f.index, "index", "", "dml: no index, as published (none), or one on the key")
	fs.StringVar(&f.cache, "cache", "", "scan: queries start warm, after a restart of the server (buffer-cold), or with the files evicted from the system's cache too (storage-cold)")
	fs.StringVar(&f.data, "data", "", "scan: rows are loaded in the order of their keys (ordered) or as they grow over time (grown)")
	fs.BoolVar(&f.asPublished, "as-published", false, "the article's own design, averages and all, with the sound verdict from the same trials beside it")
	fs.Float64Var(&f.scale, "scale", 0, "orders: customers and items by the specification's; else the `size` of --as-published by the original's, 1 being that (default one that takes minutes)")
	fs.IntVar(&f.warehouses, "warehouses", 0, "orders: `number` of warehouses")
	fs.IntSliceVar(&f.users, "users", nil, "orders: `numbers` of users to compare the layouts at, such as 8,32,128")
	fs.Float64Var(&f.think, "think", 0, "orders: keying and think times by the specification's, 0 being none")
	fs.Float64Var(&f.rate, "rate", 0, "orders: `transactions` a second that arrive whether or not the server keeps up (open loop), with latency from the intended start")
	fs.BoolVar(&f.churn, "churn", false, "orders: each transaction also creates, fills and drops a table")
	fs.DurationVar(&f.p99Limit, "p99-limit", 0, "orders: a layout whose 99th percentile of latency is above this `time` is not recommended")
	fs.IntVar(&f.repeat, "repeat", 0, "scan: `executions` of each query in a trial")
}

// apply sets what is given, and refuses values that are none.
func (f *scenarioFlags) apply(cmd *cobra.Command, p *workload.Params) (err error) {
	set := cmd.Flags().Changed
	if set("rows") {
		p.Rows = f.rows
	}
	if set("repeat") {
		p.Repeat = f.repeat
	}
	if set("warehouses") {
		p.Warehouses = f.warehouses
	}
	if set("scale") && p.Warehouses > 0 {
		p.Scale = f.scale
	}
	if set("users") {
		p.Users = f.users
	}
	if set("think") {
		p.Think = f.think
	}
	if set("rate") {
		p.Rate = f.rate
	}
	p.Churn = f.churn
	for _, x := range []struct {
		flag, value string
		to          *string
		known       []string
	}{
		{"mode", f.mode, &p.Mode, []string{workload.ModeSingle, workload.ModeConcurrent, workload.ModeBoth}},
		{"connect", f.connect, &p.Connect, []string{workload.ConnectPooled, workload.ConnectPerStatement}},
		{"index", f.index, &p.Index, []string{workload.IndexNone, workload.IndexKey}},
		{"cache", f.cache, &p.Cache, []string{workload.CacheWarm, string(filewise.CacheBufferCold), string(filewise.CacheStorageCold)}},
		{"data", f.data, &p.Data, []string{workload.DataOrdered, workload.DataGrown}},
	} {
		if set(x.flag) {
			if *x.to, err = choice(x.flag, x.value, x.known...); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofOthers refuses flags that the scenario does not have and another one has.
func ofOthers(cmd *cobra.Command, sc workload.Scenario) error {
	for _, other := range workload.Scenarios() {
		for _, flag := range other.Flags {
			if !slices.Contains(sc.Flags, flag) && cmd.Flags().Changed(flag) {
				return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("leave it out, or measure filewise run %s", other.Name),
					"--%s is a flag of scenario %s, not of %s", flag, other.Name, sc.Name)
			}
		}
	}
	return nil
}

// setPhases plans a scenario whose trials measure several families of fixed work.
func (f *planFlags) setPhases(_ *cobra.Command, p *experiment.Plan, sc workload.Scenario) error {
	if !sc.Phased {
		return nil
	}
	w, err := sc.New(p.Params, p.Seed)
	if err != nil {
		return err
	}
	program := w.Program()
	p.Phases, p.Overall = program.Families(), sc.Overall
	if p.P99Limit = f.p99Limit; p.P99Limit < 0 {
		return badValue("p99-limit", f.p99Limit, "give a time such as 50ms")
	}
	if !sc.Windowed {
		p.Window, p.PilotWindow, p.WarmUp, p.SliceLength = 0, 0, 0, sliceLength
	}
	if program.ReadOnly {
		if f.instances < 1 || f.instances > maxInstances {
			return badValue("instances", f.instances, fmt.Sprintf("give 1 to %d; with one, the verdict is for that build only", maxInstances))
		}
		p.Instances = f.instances
	}
	return nil
}

// stripes makes a layout of every number of backup files. The data have one file,
// where the engine does not back up file by file.
func (f *planFlags) stripes(base filewise.Layout, files []int) []filewise.Layout {
	out := make([]filewise.Layout, len(files))
	for i, n := range files {
		l := base
		l.Data.Files = 1
		if f.about.StripesAsFiles {
			l.Data.Files = n
		}
		l.Backup = filewise.Spread{Files: n, Placement: base.Data.Placement}
		if base.Data.Placement == filewise.PlaceRoundRobin { // never on a volume of the data
			l.Data.Placement, l.Backup.Placement = filewise.PlaceOne, filewise.PlaceApart
		}
		l.Name, l.Rank = "1 backup file", n
		if n > 1 {
			l.Name = strconv.Itoa(n) + " backup files"
		}
		out[i] = l
	}
	return out
}

// possible leaves out of the scenario's own layouts what the engine cannot do;
// what the user has asked for is refused instead.
func (f *planFlags) possible(p *experiment.Plan, arms []arm, sc workload.Scenario) ([]arm, error) {
	w, err := sc.New(p.Params, p.Seed)
	if err != nil {
		return nil, err
	}
	var can []arm
	var why error
	for _, a := range arms {
		if _, err := f.engine.Script(inScratch(p.Target), a.Layout, w.Program()); err != nil {
			why = refused(f.engine, a.Layout, err)
			continue
		}
		can = append(can, a)
	}
	if len(can) < 2 && why != nil {
		return nil, why
	}
	return can, nil
}

// defaultsOf are a scenario's own values, as flags.
func defaultsOf(sc workload.Scenario) string {
	p := sc.Params
	all := map[string]string{
		"row-bytes": strconv.Itoa(p.RowBytes), "commit-every": strconv.Itoa(p.CommitEvery), "table": p.Table, "key": p.Key,
		"mode": p.Mode, "connect": p.Connect, "index": p.Index, "cache": p.Cache, "data": p.Data, "repeat": strconv.Itoa(p.Repeat),
	}
	if sc.Filling == 0 {
		all["rows"] = strconv.FormatInt(p.Rows, 10)
	}
	out := []string{fmt.Sprintf("--connections %d", p.Connections)}
	for _, flag := range sc.Flags {
		if value := all[flag]; value != "" {
			out = append(out, "--"+flag+" "+value)
		}
	}
	return strings.Join(out, " ")
}
