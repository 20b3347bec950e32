package workload

import "filewise"

// Source is where an experiment was published.
type Source struct {
	Author string `json:"author"`
	Title  string `json:"title"`
	Where  string `json:"where"`
	Year   int    `json:"year"`
}

// Figure is one published statement about layouts, in the article's terms.
type Figure struct {
	Files   int      `json:"files"`             // number of files it speaks of
	Against int      `json:"against"`           // number of files it is compared with
	Percent *float64 `json:"percent,omitempty"` // difference in throughput; absent where only words were published
	Sign    int      `json:"sign"`              // +1: faster than Against, −1: slower, 0: no difference claimed
	Words   string   `json:"words"`
}

// Scenario is a workload with default layouts and sizes, and the published
// figures that it repeats.
type Scenario struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Summary   string   `json:"summary"` // two or three plain sentences
	Source    Source   `json:"source"`
	Files     []int    `json:"files"` // default numbers of data files
	Bytes     int64    `json:"bytes"` // default size of the database
	Params    Params   `json:"params"`
	Best      int      `json:"best"` // the article's best number of files; 0: none
	Published []Figure `json:"published"`
	Notes     []string `json:"notes"` // how the original was measured, and what differs here
	// New makes the workload; seed is the experiment's.
	New func(p Params, seed uint64) (filewise.Workload, error) `json:"-"`
}
