package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Thresholds for a stalled trial: how far it falls short of what its block and its layout's other trials predict. It
// must exceed both.
const (
	slowLeast  = 0.10 // on the log scale
	slowSpread = 6    // in robust standard deviations of a trial
)

// Slow reports the stalled trials of an arm and their cost.
type Slow struct {
	Arm     int     `json:"arm"`
	Trials  int     `json:"trials"`  // of the arm
	Stalled int     `json:"stalled"` // of Trials; at least 1
	Worst   float64 `json:"worst"`   // slowest trial against a typical trial, log scale, below 0
	// Cost is the share of the arm's work that the stalls cost, over all its trials, if all blocks were equally fast.
	Cost float64 `json:"cost"`
}

// slow returns the arms with stalled trials, including dropped arms.
func (s *scene) slow() []Slow {
	if !s.fitted {
		return nil
	}
	cells := float64(s.cells())
	limit := max(slowLeast, slowSpread*madToSD*s.fit.medianAbsResidual()*math.Sqrt(cells/float64(s.fit.df)))
	without := s.without()
	var out []Slow
	for j := range s.arms {
		var own []float64
		for b := range s.y {
			if s.mask[b][j] {
				own = append(own, s.y[b][j])
			}
		}
		if len(own) < FirstAnalysis {
			continue
		}
		usual := median(own)
		x := Slow{Arm: j, Trials: s.trials[j]}
		var did, would float64
		for b := range s.y {
			if !s.mask[b][j] {
				continue
			}
			short := s.y[b][j] - s.fit.arm[j] - without(b, j)
			usually := short
			// With two layouts, the other one may have been fast instead.
			if short < -limit && (count(s.mask[b]) > 2 || s.y[b][j]-usual < -limit/2) {
				x.Stalled++
				x.Worst, usually = min(x.Worst, short), 0
			}
			did, would = did+math.Exp(short), would+math.Exp(usually)
		}
		if x.Stalled > 0 {
			x.Cost = 1 - did/would
			out = append(out, x)
		}
	}
	return out
}

// without returns a function that estimates a block's effect from the arms other than the given one. It is a median, so
// half of these could stall.
func (s *scene) without() func(b, arm int) float64 {
	sorted := make([][]float64, len(s.y))
	each(s.grid, func(b, i int) { sorted[b] = append(sorted[b], s.y[b][i]-s.fit.arm[i]) })
	for _, x := range sorted {
		slices.Sort(x)
	}
	return func(b, arm int) float64 {
		all := sorted[b]
		at, _ := slices.BinarySearch(all, s.y[b][arm]-s.fit.arm[arm])
		other := func(n int) float64 { // the n-th of the other arms
			if n >= at {
				n++
			}
			return all[n]
		}
		switch n := len(all) - 1; {
		case n == 0:
			return s.fit.block[b]
		case n%2 == 1:
			return other(n / 2)
		default:
			return (other(n/2-1) + other(n/2)) / 2
		}
	}
}

// Unseen returns the largest share of trials that can stall although none of n did, with 95 % confidence.
func Unseen(n int) float64 { return 1 - math.Pow(0.05, 1/float64(n)) }

// Stalls returns sentences on which trials stalled and what that costs in total work. If none did, it returns how many
// trials may stall undetected. It returns "" before the first claim, and by rules 1 and 2.
func (r Result) Stalls() string {
	analysis, ok := r.Last()
	if !ok || r.Config.Rules < 3 || analysis.Block < r.FirstClaim() {
		return ""
	}
	var seen []string
	for _, x := range analysis.Slow {
		worst := fmt.Sprintf("%s slower than a typical one", size(math.Round(-Percent(x.Worst))))
		if x.Stalled > 1 {
			worst = "up to " + worst
		}
		seen = append(seen, fmt.Sprintf("%d of %d trials of %s (%s; total work %s less)", x.Stalled, x.Trials, r.Arms[x.Arm].Name, worst,
			size(math.Round(1000*x.Cost)/10)))
	}
	least, most := r.unstalled(analysis)
	trials := fmt.Sprint(least)
	if most > least {
		trials = fmt.Sprintf("%d to %d", least, most)
	}
	may := fmt.Sprintf("up to %.0f %% of trials could (95 %% confidence)", 100*Unseen(least))
	switch {
	case len(seen) == 0 && least > 0:
		return fmt.Sprintf("None of %s trials of a layout stalled; %s.", trials, may)
	case len(seen) > 0 && least > 0:
		return fmt.Sprintf("Stalled: %s. The differences are between typical trials. None of %s trials of another layout stalled; %s.",
			strings.Join(seen, ", "), trials, may)
	case len(seen) > 0:
		return fmt.Sprintf("Stalled: %s. The differences are between typical trials.", strings.Join(seen, ", "))
	}
	return ""
}

// unstalled returns the smallest and the largest number of trials of a layout without stalls. 0 means every layout
// stalled.
func (r Result) unstalled(analysis Analysis) (least, most int) {
	for j, e := range analysis.Estimates {
		if e.N == 0 || slices.ContainsFunc(analysis.Slow, func(x Slow) bool { return x.Arm == j }) {
			continue
		}
		if least == 0 || e.N < least {
			least = e.N
		}
		most = max(most, e.N)
	}
	return least, most
}
