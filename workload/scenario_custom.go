package workload

// customScenario is the user's own SQL. It repeats no article.
func customScenario() Scenario {
	return Scenario{
		Name:  FamilyCustom,
		Title: "Your own SQL, by number of data files",
		Summary: "A set-up, transactions with parameters that are drawn from the seed, and checks, all from a study file. " +
			"Measured are transactions per second, and the latency of each type.",
		Files:  []int{1, 2, 4},
		Bytes:  64 << 20,
		Params: Params{Connections: 4, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: 100},
		Notes: []string{
			`"filewise init custom -o my.yaml" writes a study file with an example, and "filewise run my.yaml" runs it.`,
			"What your statements do within the database that Filewise makes for them is yours to know; they are given no other.",
		},
		Flags:  []string{"users", "rate", "p99-limit", "from", "instances", "window", "warm-up"},
		Budget: phasedBudget,
		New:    NewCustom,
	}
}
