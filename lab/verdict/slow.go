package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A trial stalls if it falls short of what its block and its layout's other trials make
// expected by so much.
const (
	slowLeast  = 0.10 // on the log scale
	slowSpread = 6    // standard deviations of a trial, robust
)

// Slow is the cost of an arm's stalled trials.
type Slow struct {
	Arm     int     `json:"arm"`
	Trials  int     `json:"trials"`  // of the arm
	Stalled int     `json:"stalled"` // of them; at least 1
	Worst   float64 `json:"worst"`   // the slowest one against a typical trial, log scale, below 0
	// Cost is the share of work that the stalls took from all trials of the arm, as of blocks that
	// are equally fast.
	Cost float64 `json:"cost"`
}

// slow finds the stalled trials of each arm, dropped arms included.
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
		if len(own) < FirstLook {
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
			// Of two layouts the other may have been fast.
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

// without returns a block's result by its other arms, of which half could stall.
func (s *scene) without() func(b, arm int) float64 {
	sorted := make([][]float64, len(s.y))
	each(s.grid, func(b, i int) { sorted[b] = append(sorted[b], s.y[b][i]-s.fit.arm[i]) })
	for _, x := range sorted {
		slices.Sort(x)
	}
	return func(b, arm int) float64 {
		all := sorted[b]
		at, _ := slices.BinarySearch(all, s.y[b][arm]-s.fit.arm[arm])
		other := func(n int) float64 { // the n-th of the others
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

// Unseen is the largest share of trials that can stall though none of n did, with 95 % confidence.
func Unseen(n int) float64 { return 1 - math.Pow(0.05, 1/float64(n)) }

// Stalls reports which trials stalled and what that costs in total work, or how often they may though none did. Empty
// before the first claim, and of rules 1 and 2.
func (r Result) Stalls() string {
	look, ok := r.Last()
	if !ok || r.Config.Rules < 3 || look.Block < r.FirstClaim() {
		return ""
	}
	var seen []string
	for _, x := range look.Slow {
		worst := fmt.Sprintf("%s slower than a typical one", size(math.Round(-Percent(x.Worst))))
		if x.Stalled > 1 {
			worst = "up to " + worst
		}
		seen = append(seen, fmt.Sprintf("%d of %d trials of %s (%s; total work %s less)", x.Stalled, x.Trials, r.Arms[x.Arm].Name, worst,
			size(math.Round(1000*x.Cost)/10)))
	}
	least, most := r.unstalled(look)
	trials := fmt.Sprint(least)
	if most > least {
		trials = fmt.Sprintf("%d to %d", least, most)
	}
	may := fmt.Sprintf("up to %.0f %% of trials may (95 %% confidence)", 100*Unseen(least))
	switch {
	case len(seen) == 0 && least > 0:
		return fmt.Sprintf("None of %s trials of a layout stalled; %s.", trials, may)
	case len(seen) > 0 && least > 0:
		return fmt.Sprintf("Stalled: %s. The differences are those of typical trials. None of %s trials of another layout stalled; %s.",
			strings.Join(seen, ", "), trials, may)
	case len(seen) > 0:
		return fmt.Sprintf("Stalled: %s. The differences are those of typical trials.", strings.Join(seen, ", "))
	}
	return ""
}

// unstalled are the fewest and the most trials of layouts of which none stalled. 0 means there is none.
func (r Result) unstalled(look Look) (least, most int) {
	for j, e := range look.Estimates {
		if e.N == 0 || slices.ContainsFunc(look.Slow, func(x Slow) bool { return x.Arm == j }) {
			continue
		}
		if least == 0 || e.N < least {
			least = e.N
		}
		most = max(most, e.N)
	}
	return least, most
}
