package tablecsv

import (
	"fmt"
	"math"

	"filewise/lab/verdict"
)

const (
	perhapsByChance = 0.2 // share of orders above which lines without blocks count as trials
	batches         = 8   // largest number of batches that lines of possibly one run are combined into
)

// trials returns an error if lines are from one run, and combines lines that may be from one run. A file that names
// blocks, or that Filewise exported, is trusted unless the evidence is clear.
func (p *parser) trials(in *Input) error {
	if in.Design.Rules > 0 {
		return nil
	}
	correlation, chance := resembles(in.Table)
	switch {
	case chance < byChance:
		return failf(0, 0, "its lines are no trials: differences between layouts resemble their neighbours (correlation %.2f), as seconds of "+
			"one run do. Give one line a run, its mean, of several runs of each layout in turn", correlation)
	case chance < perhapsByChance && p.at.block < 0:
		n := (len(in.Table) + batches - 1) / batches
		in.Notes = append(in.Notes, fmt.Sprintf("Differences between layouts resemble their neighbours (correlation %.2f), as seconds of "+
			"one run do: %d lines of each layout are judged as one trial. If every line is a run, and layouts ran in turn, a column "+
			"block settles it.", correlation, n))
		in.batch(n)
	}
	return nil
}

// batch combines n blocks at a time.
func (in *Input) batch(n int) {
	var names []string
	var table, tails verdict.Table
	for b := 0; b < len(in.Table); b += n {
		end := min(b+n, len(in.Table))
		names = append(names, in.Blocks[b]+"–"+in.Blocks[end-1])
		table = append(table, together(in.Table[b:end]))
		if in.P99 != nil {
			tails = append(tails, together(in.P99[b:end]))
		}
	}
	in.Blocks, in.Table, in.P99 = names, table, tails
}

// together returns the geometric means of the cells present. A mean keeps the build that all its cells have in common.
func together(rows verdict.Table) []verdict.Cell {
	out := make([]verdict.Cell, len(rows[0]))
	for j := range out {
		work, probe, n, probes := 0.0, 0.0, 0.0, 0.0
		for _, row := range rows {
			c := row[j]
			if !c.OK {
				continue
			}
			if n == 0 {
				out[j].Build = c.Build
			} else if out[j].Build != c.Build {
				out[j].Build = ""
			}
			work, n = work+math.Log(c.Throughput), n+1
			if c.Calibration > 0 {
				probe, probes = probe+math.Log(c.Calibration), probes+1
			}
		}
		if n == 0 {
			continue
		}
		out[j].OK, out[j].Throughput = true, math.Exp(work/n)
		if probes == n {
			out[j].Calibration = math.Exp(probe / n)
		}
	}
	return out
}
