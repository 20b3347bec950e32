package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// ScenarioOptions holds the workload parameters that only some scenarios have.
type ScenarioOptions struct {
	Rows    Opt[int64]
	Mode    Opt[string]
	Connect Opt[string]
	Index   Opt[string]
	Cache   Opt[string]
	Data    Opt[string]
	Repeat  Opt[int]
	Batch   Opt[int]
	Cycle   Opt[string]

	Discard        Opt[bool]
	ConcurrentLoad Opt[int]
	BackupOptions  Opt[[]string]
	DataFiles      Opt[[]int]
	Database       Opt[string]
	Part           Opt[[]string]

	AsPublished Opt[bool]
	Scale       Opt[float64]

	Warehouses Opt[int]
	Users      Opt[[]int]
	Think      Opt[float64]
	Rate       Opt[float64]
	Churn      Opt[bool]
	P99Limit   Opt[time.Duration]
	From       Opt[string]
	Skip       Opt[bool]
}

// Table returns the rows of these options.
func (o *ScenarioOptions) Table() []Option {
	return slices.Concat(o.rowTable(), o.backupTable(), o.orderTable())
}

func (o *ScenarioOptions) rowTable() []Option {
	return []Option{
		Row(&o.Rows, "rows", 0, "`number` of rows (dml: of each phase; scan, backup, temp: of each table; default what fills --size)"),
		Row(&o.Mode, "mode", "", "dml: `mode`: a loop on the server (single), clients (concurrent), or both").
			oneOf(workload.ModeSingle, workload.ModeConcurrent, workload.ModeBoth),
		Row(&o.Connect, "connect", "", "dml: `way` to connect: per client (pooled) or per-statement").
			oneOf(workload.ConnectPooled, workload.ConnectPerStatement),
		Row(&o.Index, "index", "", "dml: `index`: none, as published, or key (default if layouts divide rows by it)").
			oneOf(workload.IndexNone, workload.IndexKey),
		Row(&o.Cache, "cache", "", "scan, backup, dump: `state` of caches: warm, buffer-cold (server restarted), or storage-cold (the "+
			"system's cache evicted, too)").
			oneOf(workload.CacheWarm, string(filewise.CacheBufferCold), string(filewise.CacheStorageCold)),
		Row(&o.Data, "data", "", "scan: `order` of rows: by key (ordered) or as grown (grown)").
			oneOf(workload.DataOrdered, workload.DataGrown),
		Row(&o.Repeat, "repeat", 0, "`executions` per trial of each warm query (scan) or each row's select (dml)"),
		Row(&o.Batch, "batch", 0, "scan: repeat warm indexed queries this many `times`"),
		Row(&o.Cycle, "cycle", "", "temp: `cycle`: fill temporary tables, also sort, or also join").
			oneOf(workload.CycleFill, workload.CycleSort, workload.CycleJoin),
	}
}

func (o *ScenarioOptions) backupTable() []Option {
	return []Option{
		Row(&o.Discard, "discard", false, "backup: discard the backup, to see the server's limit"),
		Row(&o.ConcurrentLoad, "concurrent-load", 0, "backup, dump: `connections` that update rows at a fixed rate, with their "+
			"latency (alone: 4)").alone("4"),
		Row(&o.BackupOptions, "backup-option", nil, "backup, dump: try `name=value[,value…]` of the engine's parameters "+
			"(repeatable; an unknown name lists all)"),
		Row(&o.DataFiles, "data-files", nil, "backup, dump: `numbers` of data files, each with all of backup files "+
			"(default 1)"),
		Row(&o.Database, "database", "", "backup, dump: `name` of your database on --target, backed up to --volume directories"),
		Row(&o.Part, "part", nil, "dump: with --database, back up this `table` only (SQL Server: filegroup, Oracle: tablespace; "+
			"repeatable), without restores"),
		Row(&o.AsPublished, "as-published", false, "use the article's design and averages; the sound verdict follows from the same "+
			"trials"),
		Row(&o.Scale, "scale", 0, "`size` of customers and items, relative to the specification (orders) or, of --as-published, to "+
			"the article"),
	}
}

func (o *ScenarioOptions) orderTable() []Option {
	return []Option{
		Row(&o.Warehouses, "warehouses", 0, "orders: `number` of warehouses").between(1, 10_000),
		Row(&o.Users, "users", nil, "orders: `numbers` of users to compare the layouts at, such as 8,32,128").between(1, workload.MaxConnections),
		Row(&o.Think, "think", 0, "orders: `factor` of the specified keying and think times, or 0"),
		Row(&o.Rate, "rate", 0, "start this many `operations` a second, at any speed of the server; latency counts from the intended "+
			"start"),
		Row(&o.Churn, "churn", false, "orders: each transaction also creates, fills and drops a table"),
		Row(&o.From, "from", "", "custom: fill each build from this dump `file` or database URL (SQL Server: its backup files, with "+
			"commas; Oracle: datapump:DIRECTORY/FILE.dmp?schema=NAME)"),
		Row(&o.Skip, "skip-failing", false, "custom: leave out transaction types that fail at first"),
		Row(&o.P99Limit, "p99-limit", 0, "recommend no layout whose p99 latency is above this `time`"),
	}
}

// checkHere refuses keys that the engine cannot generate. On an existing server, it also refuses to empty caches that
// serve all of its users.
func (m *maker) checkHere() error {
	if m.plan.Params.Key == workload.KeyIdentity && !m.About.Identity {
		return BadValue("key", workload.KeyIdentity, "use sequential or random: keys that the server draws are for SQL Server alone")
	}
	cold := filewise.Cache(m.plan.Params.Cache)
	switch {
	case m.Target.Mode != filewise.External || cold != filewise.CacheBufferCold && cold != filewise.CacheStorageCold,
		cold == filewise.CacheBufferCold && m.About.Cools:
		return nil
	case m.About.Cools:
		return BadValue("cache", string(cold), "use warm or buffer-cold here: nothing empties the storage's own cache for one database")
	}
	return BadValue("cache", string(cold), "use warm here: an existing server is not restarted, and its caches serve all of its users")
}

// apply sets the given options, and refuses invalid values.
func (o *ScenarioOptions) apply(p *workload.Params) error {
	if o.Repeat.Given() && o.Cache.Given() && o.Cache.Value != workload.CacheWarm {
		return badUse("repeat", o.Repeat.Value, "leave it out: with --cache "+o.Cache.Value+
			" a query is executed once in a trial, for the next time it would not be cold")
	}
	if o.Batch.Given() && o.Batch.Value < 1 {
		return OutOfRange("batch", o.Batch.Value, "give 1 or more")
	}
	if o.ConcurrentLoad.Given() && o.ConcurrentLoad.Value < 1 {
		return OutOfRange("concurrent-load", o.ConcurrentLoad.Value, "give a number of connections from 1, or leave it out")
	}
	put(&p.Rows, &o.Rows)
	put(&p.Repeat, &o.Repeat)
	put(&p.Batch, &o.Batch)
	put(&p.Warehouses, &o.Warehouses)
	if p.Warehouses > 0 && !o.AsPublished.Value {
		put(&p.Scale, &o.Scale)
	}
	put(&p.Users, &o.Users)
	put(&p.Think, &o.Think)
	put(&p.Rate, &o.Rate)
	put(&p.ConcurrentLoad, &o.ConcurrentLoad)
	p.Churn, p.Discard, p.Own = o.Churn.Value, o.Discard.Value, o.Database.Value != ""
	put(&p.Mode, &o.Mode)
	put(&p.Connect, &o.Connect)
	put(&p.Index, &o.Index)
	put(&p.Cache, &o.Cache)
	put(&p.Cycle, &o.Cycle)
	put(&p.Data, &o.Data)
	return nil
}

// setCache keeps caches warm, unless --cache is given, in designs that need it: queries that are repeated or arrive at a
// rate, and servers by URL, whose caches serve others or take a further right to empty.
func (m *maker) setCache() {
	o := m.o
	if !slices.Contains(m.sc.Flags, "cache") || o.Cache.Given() {
		return
	}
	if o.Repeat.Given() || o.Batch.Given() || o.Rate.Given() || o.Measure.Value == experiment.MeasureLifecycle ||
		m.Target.Mode == filewise.External || m.plan.Params.Own {
		m.plan.Params.Cache = workload.CacheWarm
	}
}

// put sets a parameter if the option is given.
func put[T any](to *T, o *Opt[T]) {
	if o.Given() {
		*to = o.Value
	}
}

// ofOthers refuses options that only other scenarios have.
func (o *Options) ofOthers(sc workload.Scenario) error {
	table := o.Table()
	for _, other := range workload.Scenarios() {
		for _, name := range other.Flags {
			if row := Find(table, name); !slices.Contains(sc.Flags, name) && row != nil && row.To.Given() {
				return filewise.Errorf(filewise.CodeUsage, fmt.Sprintf("leave it out, or measure filewise run %s", other.Name),
					"--%s is a flag of scenario %s, not of %s%w", name, other.Name, sc.Name, unfit{name: name})
			}
		}
	}
	return nil
}

// setPhases plans the operations that a trial measures.
func (m *maker) setPhases() error {
	program, err := m.program()
	if err != nil {
		return err
	}
	m.plan.Phases, m.plan.Overall = program.Operations(), m.sc.Overall
	if m.plan.P99Limit = m.o.P99Limit.Value; m.plan.P99Limit < 0 {
		return OutOfRange("p99-limit", m.o.P99Limit.Value, "give a time such as 50ms")
	}
	if m.fixed() {
		m.plan.Window, m.plan.PilotWindow, m.plan.WarmUp, m.plan.SliceLength = 0, 0, 0, sliceLength
	}
	// A database that no trial alters could serve all trials. But with few builds, each operation's interval would be several
	// times as wide.
	if program.ReadOnly && m.o.Builds.Given() {
		if err := m.checkBuilds(); err != nil {
			return err
		}
		m.plan.Builds = m.o.Builds.Value
	}
	return nil
}

// temps returns a layout for every number of temporary files. The size is the temporary files' total; the data have one
// file.
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

// possible drops the scenario's own layouts that the engine cannot do, and keeps the reason. A layout that the user has
// chosen is refused instead.
func (m *maker) possible(arms []arm) ([]arm, error) {
	program, err := m.program()
	if err != nil {
		return nil, err
	}
	var can []arm
	var why error
	for _, a := range arms {
		if _, err := m.Engine.Statements(InScratch(m.plan.Target), a.Layout, program); err != nil {
			why = Refused(m.Engine, a.Layout, err)
			if m.o.AsPublished.Value { // the plan lists what it does not repeat
				continue
			}
			m.plan.LeftOut = append(m.plan.LeftOut, strings.TrimSuffix(err.Error(), ": "+filewise.ErrUnsupported.Error()))
			continue
		}
		can = append(can, a)
	}
	if len(can) < 2 && why != nil {
		all := m.plan
		all.Layouts = filewise.Each(arms, func(a arm) filewise.Layout { return a.Layout })
		return nil, largerFor(m.Engine, all, program, why)
	}
	return can, nil
}

// Values returns a plan's values as flags, by name. Zero and empty values are left out.
func Values(p experiment.Plan) map[string]string {
	w := p.Params
	if w.Cache != "" && w.Cache != workload.CacheWarm { // a cold query is executed once
		w.Repeat, w.Batch = 0, 0
	}
	all := map[string]any{
		"connections": w.Connections, "row-bytes": w.RowBytes, "commit-every": w.CommitEvery, "table": w.Table, "key": w.Key,
		"rows": w.Rows, "mode": w.Mode, "connect": w.Connect, "index": w.Index, "cache": w.Cache, "data": w.Data,
		"repeat": w.Repeat, "batch": w.Batch, "cycle": w.Cycle, "warehouses": w.Warehouses, "scale": w.Scale,
		"window": p.Window, "budget": p.Budget, "max-blocks": p.MaxBlocks,
	}
	out := map[string]string{}
	for name, value := range all {
		if text := texts(value)[0]; !slices.Contains([]string{"", "0", "0s"}, text) {
			out[name] = text
		}
	}
	return out
}

// DefaultsOf returns a scenario's own values, as flags.
func DefaultsOf(sc workload.Scenario) string {
	all := Values(experiment.Plan{Params: sc.Params})
	out := []string{fmt.Sprintf("--files %s --size %s --connections %s", joined(sc.Files, ","), SizeText(sc.Bytes), all["connections"])}
	for _, flag := range sc.Flags {
		if value := all[flag]; value != "" && (flag != "rows" || sc.Filling == 0) {
			out = append(out, "--"+flag+" "+value)
		}
	}
	return strings.Join(out, " ")
}

// SizeText returns a size in the form that flags take.
func SizeText(bytes int64) string { return strings.ReplaceAll(humanize.IBytes(uint64(bytes)), " ", "") }
