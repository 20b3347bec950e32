package workload

import (
	"time"

	"filewise"
)

// Source is the publication of an experiment.
type Source struct {
	Author string `json:"author"`
	Title  string `json:"title"`
	Where  string `json:"where"`
	Year   int    `json:"year"`
}

// Figure is one published statement on layouts, in the article's terms.
type Figure struct {
	Files   int `json:"files"`   // number of files that the statement is about
	Against int `json:"against"` // number of files it is compared with
	// Percent is the difference in throughput, or nil if only words were published. If Time is set, Percent follows from
	// Time. If Ours is set, it follows from two published times.
	Percent *float64 `json:"percent,omitempty"`
	// Time is the difference in time in percent, as printed in the article. It is never computed from rounded times. It is
	// nil if none was printed.
	Time *float64 `json:"time_percent,omitempty"`
	Ours bool     `json:"ours,omitempty"` // the article gives two times but no percentage
	Sign int      `json:"sign"`           // +1: faster than Against, −1: slower, 0: no difference claimed
	// Apart means that the article claims a difference without a direction. Sign is then 0.
	Apart bool   `json:"apart,omitempty"`
	Words string `json:"words"`
	// Reader marks a reader's report below the article. The article's best number of files does not follow from it.
	Reader bool `json:"reader,omitempty"`
	// Operation is the operation that the statement is about. If empty, the scenario has only one.
	Operation string `json:"family,omitempty"`
	// Variant is the condition under which the figure was measured, as in Scenario.Variant. Empty means that there was
	// only one condition.
	Variant string `json:"variant,omitempty"`
	// Over is the condition of Against if it differs from Variant.
	Over string `json:"over,omitempty"`
	// LeastUsers and MostUsers bound the load levels that the statement covers. 0 means no bound.
	LeastUsers int `json:"least_users,omitempty"`
	MostUsers  int `json:"most_users,omitempty"`
	// Engine is the only engine that the statement covers, if the article has different results for different engines. If
	// empty, the article covers one engine.
	Engine string `json:"engine,omitempty"`
}

// Scenario is a workload with default layouts and sizes, and the published figures that it repeats.
type Scenario struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Summary string `json:"summary"` // two or three plain sentences
	Source  Source `json:"source"`
	Files   []int  `json:"files"` // default numbers of data files
	// PerCore adds as many files as the server has cores to the default numbers.
	PerCore   bool     `json:"per_core,omitempty"`
	Bytes     int64    `json:"bytes"` // default size of the database
	Params    Params   `json:"params"`
	Best      int      `json:"best"` // the article's best number of files. 0 means it names none
	Published []Figure `json:"published"`
	// Also lists published statements that no pair of layouts can be compared with.
	Also  []string `json:"also,omitempty"`
	Timed bool     `json:"timed,omitempty"` // the article gives times instead of throughput
	Notes []string `json:"notes"`           // how the original was measured, and what differs here
	// Flags lists the flags of the command line that this scenario accepts in addition to the common ones.
	Flags []string `json:"flags"`
	// Budget is the default duration of an experiment. 0 means the command's default.
	Budget time.Duration `json:"budget_ns,omitempty"`
	// Window is the default measured time of a trial. 0 means the command's default.
	Window time.Duration `json:"window_ns,omitempty"`
	// Overall means that the operations are also judged together, by their geometric mean.
	Overall bool `json:"overall,omitempty"`
	// Stripes means that Files are numbers of backup files.
	Stripes bool `json:"stripes,omitempty"`
	// Jobs means that Files are numbers of jobs that write backup files. Stripes is then set too.
	Jobs bool `json:"jobs,omitempty"`
	// ByVolumes means that the article measured on one storage and on two.
	ByVolumes bool `json:"by_volumes,omitempty"`
	// Temp means that Files are numbers of temporary files.
	Temp bool `json:"temp,omitempty"`
	// Filling is the share of the size that the loaded tables take without indexes, or that all temporary tables take at
	// once. 0 means the scenario has neither.
	Filling float64 `json:"filling,omitempty"`
	// Design is the article's own design, for --as-published. Nil means it is not repeated.
	Design *Design `json:"design,omitempty"`
	// New returns the workload. Seed is the experiment's.
	New func(p Params, seed uint64) (filewise.Workload, error) `json:"-"`
}

// RowsIn returns how many rows each table needs so that a database of that size is filled to the scenario's share.
func (s Scenario) RowsIn(bytes int64, p Params) int64 {
	if s.Temp {
		return int64(s.Filling * float64(bytes) / float64(max(p.Connections*p.RowBytes, 1)))
	}
	return int64(s.Filling * float64(bytes) / (fragTables * fragRowBytes))
}

// customScenario returns the scenario of the user's own SQL. It repeats no article.
func customScenario() Scenario {
	return Scenario{
		Name:  OperationCustom,
		Title: "Your own SQL, by number of data files",
		Summary: "A set-up, transactions with parameters that are drawn from the seed, and checks, all from a study file. " +
			"Measured are transactions per second, and the latency of each type.",
		Files:  []int{1, 2, 4},
		Bytes:  64 << 20,
		Params: Params{Connections: 4, CommitEvery: 1, Table: TableShared, Key: KeySequential, RowBytes: 100},
		Notes: []string{
			`"filewise init custom -o my.yaml" writes a study file with an example, and "filewise run my.yaml" runs it.`,
			"What your statements do within the database that Filewise makes for them is your responsibility; they are given no other.",
		},
		Flags:  []string{"users", "rate", "p99-limit", "from", "skip-failing", "builds", "window", "warm-up"},
		Budget: phasedBudget,
		New:    NewCustom,
	}
}
