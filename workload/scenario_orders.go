package workload

// ordersScenario repeats Shea's experiment with a workload derived from TPC-C, at
// a size that loads in seconds.
func ordersScenario() Scenario {
	return Scenario{
		Name:  "orders",
		Title: "Order processing, by number of data files",
		Summary: "Five transactions of a wholesaler, from new orders to deliveries, are executed by connections that each work for one " +
			"warehouse, " +
			"on data that are loaded before every trial. Measured are transactions per second, and the latency of each type. " +
			"The workload is derived from the TPC-C specification and not comparable with published TPC results.",
		Source: Source{
			Author: "Linchi Shea", Title: "How Many Data Files Should I Create for a User Database?", Where: "SQLblog", Year: 2007,
		},
		Files: []int{1, 2, 4},
		Bytes: 256 << 20,
		Params: Params{
			Connections: 8, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: orderBytes,
			Warehouses: 4, Scale: 0.1,
		},
		Published: []Figure{
			{Files: 4, Against: 1, Sign: 0, Variant: VariantPlain,
				Words: "the five transactions alone: little to no difference, even under heavy load"},
			{Files: 4, Against: 1, Sign: 0, Variant: VariantChurn, MostUsers: 100,
				Words: "with --churn, up to 100 users: the curves of 1 and 4 files lie together"},
			{Files: 4, Against: 1, Sign: +1, Variant: VariantChurn, LeastUsers: 200,
				Words: "with --churn, from 200 users: 4 files hold their throughput, while that of 1 file declines sharply"},
			{Files: 4, Against: 1, Sign: +1, Variant: VariantChurn, LeastUsers: 600,
				Words: "with --churn, at 600 users: 4 files give up to 50 % more transactions"},
		},
		Notes: []string{
			"The original had 1,000 warehouses, about 160 GB, on SQL Server with 4 cores and one drive, 1 to 64 files, and up to 600 users; its " +
				"numbers are in charts, so that only its words are repeated here.",
			"The default here is 4 warehouses with a tenth of the specification's customers and items: --warehouses 1000 --scale 1 is the " +
				"original's size.",
			"Amounts are whole cents, and connections do not think between transactions unless --think says so.",
		},
		Flags:  []string{"warehouses", "scale", "users", "think", "rate", "churn", "p99-limit", "window", "warm-up", "as-published"},
		Budget: phasedBudget,
		New:    NewOrders, Design: ordersDesign(),
	}
}
