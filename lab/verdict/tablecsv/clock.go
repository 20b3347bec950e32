package tablecsv

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// A column "time" holds the duration of each trial, or a clock: seconds since the start of the run or since 1970, which
// sysbench and pgbench print next to the rate. The inverse of a clock is no speed.

// stamp is one line's time, as written in the file.
type stamp struct {
	line, column  int
	block, layout int
	value         float64
}

const (
	fewestSteps   = 5   // steps of a clock that continues through the file or within each layout
	manySteps     = 10  // this many growing steps are a clock, even or not
	evenWithin    = 0.2 // share of the median step
	mostlyEven    = 0.8 // share of steps that are even
	epochSpread   = 1e-3
	restartWithin = 5e-3 // share of the first step
)

// timeOfDay matches 10:00:05, 2026-11-27 or 27.11.2026, and whatever follows.
var timeOfDay = regexp.MustCompile(`^(\d{1,2}:\d{2}|\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4})`)

// clock returns an error if times are not durations.
func (p *parser) clock() error {
	if len(p.times) == 0 {
		return nil
	}
	byLayout, byBlock := map[int][]float64{}, map[int][]float64{}
	var all []float64
	for _, t := range p.times {
		byLayout[t.layout] = append(byLayout[t.layout], t.value)
		byBlock[t.block] = append(byBlock[t.block], t.value)
		all = append(all, t.value)
	}
	var why string
	switch {
	case epoch(all):
		why = "they are seconds of a clock since 1970, or parts of them"
	case goesOn(all, fewestSteps):
		why = "they grow from line to line"
	case every(byLayout, func(x []float64) bool { return goesOn(x, fewestSteps-1) }):
		why = "each layout's grow from line to line"
	case len(byBlock) >= fewestSteps-2 && every(byBlock, restarts):
		why = "they begin again in each block, and grow by one step from line to line"
	default:
		return nil
	}
	return failf(p.times[0].line, p.times[0].column, "%s", p.noDuration(why))
}

// noDuration returns the reason of an error, with what can be judged instead of the times.
func (p *parser) noDuration(why string) string {
	return fmt.Sprintf("column %q holds no durations: %s. %s", p.named(p.at.time), why, p.judgeable("If they are times of trials, "+
		"in the order of the trials, call the column duration"))
}

// judgeable returns advice that names the columns that look like rates. If there is none, it returns otherwise.
func (p *parser) judgeable(otherwise string) string {
	var rates []string
	for _, name := range p.ignored {
		if rate.MatchString(strings.TrimSpace(name)) {
			rates = append(rates, name)
		}
	}
	switch len(rates) {
	case 0:
		return otherwise
	case 1:
		return fmt.Sprintf("Column %q can be judged: rename it to throughput", rates[0])
	}
	return fmt.Sprintf("Columns %s can be judged: rename one of them to throughput", quoted(rates))
}

// rate matches names that benchmarks use for work per time.
var rate = regexp.MustCompile(`(?i)^(n?opm|tp[sm]|qp[sm]|tpmc|rps|iops|ops|bps|[kmg]i?b/?p?s` +
	`|.*(throughput|per[ _]?(s|sec|second|min|minute)|/ ?(s|sec|min)|_ps|_rate|^rate)` +
	`|(transactions|queries|rows|requests|operations|ops|tps|qps|nopm|tpm|orders|inserts)([ _(].*)?)$`)

func (p *parser) named(i int) string {
	if i < 0 || i >= len(p.allNames) {
		return ""
	}
	return p.allNames[i]
}

func every[K comparable](groups map[K][]float64, is func([]float64) bool) bool {
	for _, x := range groups {
		if !is(x) {
			return false
		}
	}
	return len(groups) > 0
}

// epoch reports whether all values are seconds since 1970, or thousandths, millionths or billionths of these, within
// days of each other. Durations differ by more.
func epoch(x []float64) bool {
	least, most := slices.Min(x), slices.Max(x)
	if len(x) < 3 || least == most || (most-least)/most > epochSpread {
		return false
	}
	for unit := 1.0; unit <= 1e9; unit *= 1e3 {
		if least >= 9e8*unit && most < 5e9*unit {
			return true
		}
	}
	return false
}

// goesOn reports whether times continue like a clock. Each is later than the one before, and they double from the first
// to the last, or have even steps, or are very many. A clock with even steps may restart.
func goesOn(x []float64, least int) bool {
	if len(x) <= least {
		return false
	}
	var up []float64
	back := 0
	for i := 1; i < len(x); i++ {
		switch step := x[i] - x[i-1]; {
		case step > 0:
			up = append(up, step)
		case step < 0:
			back++
		}
	}
	steps := len(x) - 1
	if back == 0 && 2*len(up) >= steps {
		return len(up) >= manySteps || x[len(x)-1] >= 2*x[0] || even(up)
	}
	return steps >= manySteps && float64(len(up)) >= mostlyEven*float64(steps) && even(up)
}

// even reports whether most steps are about equal.
func even(steps []float64) bool {
	if len(steps) < fewestSteps-1 {
		return false
	}
	sorted := slices.Sorted(slices.Values(steps))
	median, n := sorted[len(sorted)/2], 0
	for _, s := range steps {
		if math.Abs(s-median) <= evenWithin*median {
			n++
		}
	}
	return float64(n) >= mostlyEven*float64(len(steps))
}

// restarts reports whether a block's times are one, two, three … times a step.
func restarts(x []float64) bool {
	for i, t := range x {
		if math.Abs(t-float64(i+1)*x[0]) > restartWithin*x[0] {
			return false
		}
	}
	return len(x) >= 2
}
