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
	batch   int
	cycle   string

	discard       bool
	beside        int
	backupOptions []string
	dataFiles     []int

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
	fs.Int64Var(&f.rows, "rows", 0, "dml: rows of each phase; scan, backup, temp: `number` of rows of each table (default what fills --size as far as the scenario does)")
	fs.StringVar(&f.mode, "mode", "", "dml: `mode` of work: one process that loops on the server (single), concurrent clients (concurrent), or both")
	fs.StringVar(&f.connect, "connect", "", "dml: `way` to connect: concurrent clients keep their connections (pooled) or open one for each statement (per-statement)")
	fs.StringVar(&f.index, "index", "", "dml: `index` of the table: as published, without (none), or one on the key (key; the default where layouts divide the rows by it, as partitions and SQLite's files do)")
	fs.StringVar(&f.cache, "cache", "", "scan: `state` of the caches: queries start warm, after a restart of the server (buffer-cold), or with the files evicted from the system's cache too (storage-cold)")
	fs.StringVar(&f.data, "data", "", "scan: `order` of the rows: loaded in that of their keys (ordered) or as they grow over time (grown)")
	fs.BoolVar(&f.discard, "discard", false, "backup: what is backed up is thrown away: what the server could do at most")
	fs.IntVar(&f.beside, "beside", 0, "backup, dump: `connections` that update single rows at a fixed rate meanwhile (4 where no number is given), and what it does to their latency (default none)")
	fs.Lookup("beside").NoOptDefVal = "4"
	fs.StringArrayVar(&f.backupOptions, "backup-option", nil, "backup, dump: `name=value[,value…]` of the engine's own parameter, each value with every layout (repeatable; unknown names list what there is)")
	fs.IntSliceVar(&f.dataFiles, "data-files", nil, "backup, dump: `numbers` of data files, each with every number of backup files (default 1)")
	fs.BoolVar(&f.asPublished, "as-published", false, "the article's own design, averages and all, with the sound verdict from the same trials beside it")
	fs.Float64Var(&f.scale, "scale", 0, "orders: customers and items by the specification's; else the `size` of --as-published by the original's, 1 being that (default one that takes minutes)")
	fs.IntVar(&f.warehouses, "warehouses", 0, "orders: `number` of warehouses")
	fs.IntSliceVar(&f.users, "users", nil, "orders: `numbers` of users to compare the layouts at, such as 8,32,128")
	fs.Float64Var(&f.think, "think", 0, "orders: `factor` of the specification's keying and think times, 0 being none")
	fs.Float64Var(&f.rate, "rate", 0, "orders: `transactions` a second that arrive whether or not the server keeps up (open loop), with latency from the intended start")
	fs.BoolVar(&f.churn, "churn", false, "orders: each transaction also creates, fills and drops a table")
	fs.DurationVar(&f.p99Limit, "p99-limit", 0, "orders: a layout whose 99th percentile of latency is above this `time` is not recommended")
	fs.StringVar(&f.cycle, "cycle", "", "temp: `cycle` of a connection: temporary tables are created, filled and dropped (fill), sorted into others too (sort), and joined with them (join)")
	fs.IntVar(&f.batch, "batch", 0, "scan: warm queries that find rows by an index are executed so many `times` as often as the others")
	fs.IntVar(&f.repeat, "repeat", 0, "`executions` in a trial: scan, of each warm query; dml, of the select of each row")
}

// apply sets what is given, and refuses values that are none.
func (f *scenarioFlags) apply(cmd *cobra.Command, p *workload.Params) (err error) {
	set := cmd.Flags().Changed
	if set("rows") {
		p.Rows = f.rows
	}
	if set("repeat") {
		p.Repeat = f.repeat
		if set("cache") && f.cache != workload.CacheWarm {
			return badUse("repeat", f.repeat, "leave it out: with --cache "+f.cache+" a query is executed once in a trial, for the next time it would not be cold")
		}
	}
	if set("batch") {
		if p.Batch = f.batch; p.Batch < 1 {
			return badValue("batch", f.batch, "give 1 or more")
		}
	}
	if set("warehouses") {
		p.Warehouses = f.warehouses
	}
	if set("scale") && p.Warehouses > 0 && !f.asPublished {
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
	p.Churn, p.Discard = f.churn, f.discard
	if set("beside") {
		if p.Beside = f.beside; p.Beside < 1 {
			return badValue("beside", f.beside, "give a number of connections from 1, or leave it out")
		}
	}
	few := choices()
	for _, x := range []struct {
		flag, value string
		to          *string
	}{
		{"mode", f.mode, &p.Mode}, {"connect", f.connect, &p.Connect}, {"index", f.index, &p.Index},
		{"cache", f.cache, &p.Cache}, {"cycle", f.cycle, &p.Cycle}, {"data", f.data, &p.Data},
	} {
		if set(x.flag) {
			if *x.to, err = choice(x.flag, x.value, few[x.flag]...); err != nil {
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
					"--%s is a flag of scenario %s, not of %s%w", flag, other.Name, sc.Name, notFor{flag: flag})
			}
		}
	}
	return nil
}

// setPhases plans a scenario whose trials measure several families of fixed work.
func (f *planFlags) setPhases(cmd *cobra.Command, p *experiment.Plan, sc workload.Scenario) error {
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
	// What is not altered could serve all trials; but of a few builds each family's
	// interval would be several times as wide.
	if program.ReadOnly && cmd.Flags().Changed("instances") {
		if f.instances < 1 || f.instances > maxInstances {
			return badValue("instances", f.instances, fmt.Sprintf("give 1 to %d; with one, the verdict is for that build only", maxInstances))
		}
		p.Instances = f.instances
	}
	return nil
}

// temps makes a layout of every number of temporary files, which have the size;
// the data have one file.
func temps(base filewise.Layout, files []int, sc workload.Scenario) []filewise.Layout {
	out := make([]filewise.Layout, len(files))
	for i, n := range files {
		l := base
		l.Temp = base.Data
		l.Temp.Files, l.Name, l.Rank = n, sc.NameOf(n), n
		l.Data.Files, l.Data.Placement = 1, filewise.PlaceOne
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
		"mode": p.Mode, "connect": p.Connect, "index": p.Index, "cache": p.Cache, "data": p.Data, "repeat": strconv.Itoa(p.Repeat), "batch": strconv.Itoa(p.Batch), "cycle": p.Cycle,
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
