package experiment

import "filewise/verdict"

// memo keeps the judgement of the complete blocks between the trials of a run: it
// changes with a block, not with a trial, and costs more than choosing a cell.
type memo struct {
	schedule Schedule
	blocks   int
	results  []verdict.Result
}

// of returns what is kept for these blocks.
func (m *memo) of(s Schedule, blocks int) ([]verdict.Result, bool) {
	if m == nil || m.results == nil || m.schedule != s || m.blocks != blocks {
		return nil, false
	}
	return m.results, true
}

func (m *memo) keep(s Schedule, blocks int, results []verdict.Result) {
	if m != nil {
		*m = memo{s, blocks, results}
	}
}
