package experiment

import (
	"time"

	"filewise"
	"filewise/verdict"
)

// Trials are all trials that there can be, in order: pilots and MaxBlocks
// blocks with every layout in question to the end and none failing.
func (p Plan) Trials() []filewise.Cell {
	if p.AsPublished != nil {
		return p.publishedTrials()
	}
	var out []filewise.Cell
	for b := range p.MaxBlocks + 1 {
		for pos, i := range p.Order(b, len(p.Layouts)) {
			if b == 0 && p.OnePilot && p.Layouts[i].Name != p.Baseline {
				continue
			}
			out = append(out, filewise.Cell{Pilot: b == 0, Block: b, Position: pos, Layout: p.Layouts[i].Name, Attempt: 1})
		}
	}
	return out
}

// Duration is the measured time of the fewest blocks that allow a verdict, and
// the most that the whole may take: the budget, or the measured time of all
// blocks where there is none. With fixed work the first is 0: not known.
func (p Plan) Duration() (least, most time.Duration) {
	block := time.Duration(len(p.Layouts)) * p.Window
	pilots := time.Duration(len(p.Layouts)) * p.PilotWindow
	least, most = pilots+verdict.FirstLook*block, p.Budget
	if p.Window == 0 {
		least = 0
	}
	if most == 0 {
		most = pilots + time.Duration(p.MaxBlocks)*block
	}
	return least, most
}
