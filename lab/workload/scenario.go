package workload

import (
	"time"

	"filewise"
)

// Source is an experiment's publication.
type Source struct {
	Author string `json:"author"`
	Title  string `json:"title"`
	Where  string `json:"where"`
	Year   int    `json:"year"`
}

// Figure is one published statement about layouts, in the article's terms.
type Figure struct {
	Files   int `json:"files"`   // number of files it speaks of
	Against int `json:"against"` // number of files it is compared with
	// Percent is the difference in throughput, nil if only words were published. A figure
	// with Time has it from there, one with Ours from two published times.
	Percent *float64 `json:"percent,omitempty"`
	// Time is the difference in time, in percent, as the article printed it: never computed
	// from its rounded times. Nil if it printed none.
	Time *float64 `json:"time_percent,omitempty"`
	Ours bool     `json:"ours,omitempty"` // the article gives two times, and no percentage
	Sign int      `json:"sign"`           // +1: faster than Against, −1: slower, 0: no difference claimed
	// Apart claims a difference without its direction; Sign is 0.
	Apart bool   `json:"apart,omitempty"`
	Words string `json:"words"`
	// Reader marks a reader's report below the article, by which the article names no best.
	Reader bool `json:"reader,omitempty"`
	// Family is the family of operations that it speaks of. Empty means the scenario's one.
	Family string `json:"family,omitempty"`
	// Variant is the condition under which it was measured, as Scenario.Variant names it. Empty means there was one.
	Variant string `json:"variant,omitempty"`
	// Over is the condition of Against if it is another one.
	Over string `json:"over,omitempty"`
	// LeastUsers and MostUsers bound the load levels that it speaks of. 0 means no bound.
	LeastUsers int `json:"least_users,omitempty"`
	MostUsers  int `json:"most_users,omitempty"`
	// Engine is the only one that it speaks of, if the article has different results for different engines. Empty
	// means the article had one.
	Engine string `json:"engine,omitempty"`
}

// Scenario is a workload with default layouts and sizes, and the published
// figures that it repeats.
type Scenario struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Summary string `json:"summary"` // two or three plain sentences
	Source  Source `json:"source"`
	Files   []int  `json:"files"` // default numbers of data files
	// PerCore: as many files as the server has cores are a default number, too.
	PerCore   bool     `json:"per_core,omitempty"`
	Bytes     int64    `json:"bytes"` // default size of the database
	Params    Params   `json:"params"`
	Best      int      `json:"best"` // the article's best number of files. 0 means none
	Published []Figure `json:"published"`
	// Also are published statements that no pair of layouts can be compared with.
	Also  []string `json:"also,omitempty"`
	Timed bool     `json:"timed,omitempty"` // the article gives times, not throughput
	Notes []string `json:"notes"`           // how the original was measured, and what differs here
	// Flags are the flags of the command line that this scenario understands in addition to the ones that all do.
	Flags []string `json:"flags"`
	// Budget is the usual duration of an experiment. 0 means the command's.
	Budget time.Duration `json:"budget_ns,omitempty"`
	// Window is the usual measured time of a trial. 0 means the command's.
	Window time.Duration `json:"window_ns,omitempty"`
	// Overall: the families are judged together too, by their geometric mean.
	Overall bool `json:"overall,omitempty"`
	// Stripes: Files are numbers of backup files.
	Stripes bool `json:"stripes,omitempty"`
	// Jobs: Files are numbers of jobs that write backup files, with Stripes.
	Jobs bool `json:"jobs,omitempty"`
	// ByVolumes: the article measured on one storage and on two.
	ByVolumes bool `json:"by_volumes,omitempty"`
	// Temp: Files are numbers of temporary files.
	Temp bool `json:"temp,omitempty"`
	// Filling is the part of the size that the loaded tables take, indexes left out, or that all temporary tables
	// take at once. 0 means the scenario has neither.
	Filling float64 `json:"filling,omitempty"`
	// Design is the article's own, for --as-published. Nil means it is not repeated.
	Design *Design `json:"design,omitempty"`
	// New makes the workload; seed is the experiment's.
	New func(p Params, seed uint64) (filewise.Workload, error) `json:"-"`
}

// RowsIn is the number of rows of each table that fill a database of so many
// bytes as far as the scenario does.
func (s Scenario) RowsIn(bytes int64, p Params) int64 {
	if s.Temp {
		return int64(s.Filling * float64(bytes) / float64(max(p.Connections*p.RowBytes, 1)))
	}
	return int64(s.Filling * float64(bytes) / (fragTables * fragRowBytes))
}

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
			"What your statements do within the database that Filewise makes for them is your responsibility; they are given no other.",
		},
		Flags:  []string{"users", "rate", "p99-limit", "from", "skip-failing", "builds", "window", "warm-up"},
		Budget: phasedBudget,
		New:    NewCustom,
	}
}
