package doctor

import (
	"slices"
	"time"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/run/plan"
)

// trial is a trial of a self-check, described by its options.
type trial struct {
	name string
	set  func(*plan.Options)
}

// trials returns the trials of every workload, small enough for any server. First come inserts into each kind of
// layout, with indexes apart and with files added later, and databases that go offline; then come the other workloads.
func trials(about filewise.Description) []trial {
	var all []trial
	add := func(scenario, variant string, set func(*plan.Options)) {
		all = append(all, trial{scenario + variant, func(o *plan.Options) {
			o.Scenario = scenario
			small(o, about)
			if n := about.UsualThere[scenario].RowsAFile; n > 0 { // fewer rows do not reach both files
				o.Rows = plan.Of(2 * n)
			}
			set(o)
		}})
	}
	for _, kind := range about.ExternalKinds {
		add("inserts", " into "+string(kind), func(o *plan.Options) {
			if kind != about.PublishedOne {
				o.Kind = plan.Of(string(kind))
				return
			}
			one := func(kind filewise.Kind) plan.LayoutSpec { // it always has one file
				return plan.LayoutSpec{{Name: "files", Value: "1"}, {Name: "kind", Value: string(kind)}}
			}
			o.Files.Forget()
			o.Layouts = plan.Of([]plan.LayoutSpec{one(about.ExternalKinds[0]), one(kind)})
		})
	}
	add("inserts", " into growing files", func(o *plan.Options) { o.Allocation = plan.Of(string(filewise.Growing)) })
	add("inserts", ", indexes apart", func(o *plan.Options) { o.Indexes = plan.Of(filewise.IndexesApart) })
	for _, later := range []filewise.AddedLater{filewise.LaterNewData, filewise.LaterRebuilt} {
		add("inserts", ", files added later: "+string(later), func(o *plan.Options) {
			o.AddedLater, o.Files, o.Preload = plan.Of(string(later)), plan.Of([]int{2}), plan.Of("64KiB")
		})
	}
	if about.Identity {
		add("inserts", ", keys of the server", func(o *plan.Options) { o.Key = plan.Of(workload.KeyIdentity) })
	}
	if about.Cycles {
		add("inserts", ", offline and online", func(o *plan.Options) {
			o.Window.Forget()
			o.WarmUp.Forget()
			o.Measure, o.Work = plan.Of(experiment.MeasureLifecycle), plan.Of("1MiB")
		})
	}
	for _, sc := range workload.Scenarios()[1:] {
		switch add(sc.Name, "", func(*plan.Options) {}); {
		case sc.Name == "orders":
			add(sc.Name, " with churn", func(o *plan.Options) { o.Churn = plan.Of(true) })
		case sc.Name == "scan" && about.Cools:
			add(sc.Name, ", buffer-cold", func(o *plan.Options) {
				o.Repeat, o.Batch, o.Cache = plan.Opt[int]{}, plan.Opt[int]{}, plan.Of(string(filewise.CacheBufferCold))
			})
		case slices.Contains(sc.Flags, "discard"):
			add(sc.Name, " thrown away", func(o *plan.Options) { o.Discard = plan.Of(true) })
		}
	}
	return all
}

// small makes trials as short as the statements of the options' scenario allow.
func small(o *plan.Options, about filewise.Description) {
	o.Files, o.Size, o.Seed = plan.Of([]int{1, 2}), plan.Of("32MiB"), plan.Of("1")
	o.Budget, o.StorageLimit = plan.Of(time.Duration(0)), plan.Of(plan.StorageOff)
	sc, err := workload.Lookup(o.Scenario)
	if err != nil {
		return // Make reports the error
	}
	if sc.Temp && about.TempAsIs {
		o.Files = plan.Opt[[]int]{} // the files are the server's own
	}
	if sc.Params.Connections > 1 {
		o.Connections = plan.Of(2)
	}
	if slices.Contains(sc.Flags, "window") {
		o.Window, o.WarmUp = plan.Of(experiment.MinTurn), plan.Of(time.Duration(0))
	}
	if slices.Contains(sc.Flags, "rows") {
		o.Rows = plan.Of(int64(1000))
	}
	if slices.Contains(sc.Flags, "warehouses") {
		o.Warehouses, o.Scale = plan.Of(2), plan.Of(0.001)
	}
	if slices.Contains(sc.Flags, "batch") {
		o.Repeat, o.Batch = plan.Of(1), plan.Of(1)
	}
	if o.Scenario == workload.OperationCustom {
		o.Custom = custom()
	}
}

// custom returns SQL that every engine accepts, in the form in which a user would give it.
func custom() *workload.Custom {
	text := func(sql string) workload.Script {
		return workload.Script{"": {{Text: sql, File: "self-check", Line: 1}}}
	}
	return &workload.Custom{
		Tables: []filewise.CustomTable{{Name: "accounts", Key: "id"}}, ShardBy: "id",
		Setup: text(`CREATE TABLE accounts (id INTEGER NOT NULL PRIMARY KEY, balance INTEGER NOT NULL) {{spread "accounts"}};
INSERT INTO accounts (id, balance) VALUES (1, 0)`),
		Parameters:   []workload.Parameter{{Name: "id", Draw: workload.DrawInt, From: 1, To: 1}},
		Transactions: []workload.Transaction{{Name: "deposit", Weight: 1, SQL: text("UPDATE accounts SET balance = balance + 1 WHERE id = :id")}},
		Checks:       []workload.CustomCheck{{Query: text("SELECT SUM(balance) FROM accounts"), Committed: "deposit", Each: 1}},
	}
}
