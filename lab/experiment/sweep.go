package experiment

import (
	"fmt"
	"math"
	"slices"

	"filewise"
	"filewise/lab/verdict"
	"filewise/lab/verdict/stats"
	"filewise/lab/workload"
)

// Sweep is the result of a workload over several load levels, with a curve for each layout.
type Sweep struct {
	Curves []Curve `json:"curves"`
	// Differs is the lowest load from which layouts differ: there and at all higher levels, some layout is better or worse
	// than the baseline. All claims hold together, over all levels. 0 means there is none.
	Differs   int      `json:"differs_from_users,omitempty"`
	Sentences []string `json:"sentences"`
}

// Curve is a layout's throughput over load levels.
type Curve struct {
	Layout string  `json:"layout"`
	Points []Point `json:"points"`
	// Fit is the fitted universal scalability law. It is nil with fewer than four levels, or if the fit fails.
	Fit *Scalability `json:"fit,omitempty"`
}

// Point is a layout's throughput at one load: the geometric mean over its trials. Its limits are Student's interval at
// the plan's confidence, for this point alone. They are nil with fewer than two trials.
type Point struct {
	Users      int      `json:"users"`
	Trials     int      `json:"trials"`
	Throughput float64  `json:"throughput"`
	Lo         *float64 `json:"lo,omitempty"`
	Hi         *float64 `json:"hi,omitempty"`
}

// Scalability is Gunther's universal scalability law (Guerrilla Capacity Planning, 2007), X(N) = λN / (1 + σ(N−1) +
// κN(N−1)), fitted to all trials. It describes the curve; it proves nothing.
type Scalability struct {
	Lambda float64 `json:"lambda"` // throughput of one user
	Sigma  float64 `json:"sigma"`  // contention
	Kappa  float64 `json:"kappa"`  // coherence
	// Peak is the load with the highest throughput by the fit. It is nil if throughput never falls.
	Peak *float64 `json:"peak_users,omitempty"`
	// Error is the standard deviation of the trials around the fit, on the log scale.
	Error float64 `json:"error"`
}

// leastLevels is the fewest levels for a fit: one more than the law has parameters.
const leastLevels = 4

// sweep returns the curves over load levels, or nil if the workload has one level.
func (s standing) sweep() *Sweep {
	levels := slices.Sorted(slices.Values(s.plan.Params.Users))
	if len(levels) < 2 {
		return nil
	}
	out := &Sweep{Differs: s.differsFrom(levels)}
	for _, l := range s.plan.Layouts {
		out.Curves = append(out.Curves, s.curve(l.Name, levels))
	}
	out.Sentences = out.words(levels, s.plan.Confidence)
	return out
}

// curve returns a layout's results at each level, from its trials in blocks.
func (s standing) curve(layout string, levels []int) Curve {
	c := Curve{Layout: layout}
	var loads, throughputs []float64
	for _, users := range levels {
		var logs []float64
		for _, t := range s.trials {
			x, ok := t.Throughput(workload.UsersOperation(users))
			if !ok || t.Cell.Pilot || t.Cell.Layout != layout {
				continue
			}
			logs = append(logs, math.Log(x))
			loads, throughputs = append(loads, float64(users)), append(throughputs, x)
		}
		if len(logs) > 0 {
			c.Points = append(c.Points, point(users, logs, s.plan.Confidence))
		}
	}
	if len(c.Points) >= leastLevels {
		c.Fit = scalability(loads, throughputs)
	}
	return c
}

// point returns the point of a load: the mean of the logarithms, with its interval.
func point(users int, logs []float64, confidence float64) Point {
	n := float64(len(logs))
	mean, squares := 0.0, 0.0
	for _, x := range logs {
		mean += x / n
	}
	for _, x := range logs {
		squares += (x - mean) * (x - mean)
	}
	p := Point{Users: users, Trials: len(logs), Throughput: math.Exp(mean)}
	if len(logs) > 1 {
		half := stats.TQuantile((1+confidence)/2, n-1) * math.Sqrt(squares/(n-1)/n)
		lo, hi := math.Exp(mean-half), math.Exp(mean+half)
		p.Lo, p.Hi = &lo, &hi
	}
	return p
}

// scalability fits the law. It returns nil if the fit fails.
func scalability(loads, throughputs []float64) *Scalability {
	u, err := stats.FitUSL(loads, throughputs)
	if err != nil { // the points are shown without a fit
		return nil
	}
	s := &Scalability{Lambda: u.Lambda, Sigma: u.Sigma, Kappa: u.Kappa}
	if free := len(loads) - 3; free > 0 {
		s.Error = math.Sqrt(u.RSS / float64(free))
	}
	if peak := u.Peak(); !math.IsInf(peak, 0) && !math.IsNaN(peak) {
		s.Peak = &peak
	}
	return s
}

// differsFrom returns the lowest level from which, at every level, some layout is better or worse than the baseline. It
// returns 0 if there is none.
func (s standing) differsFrom(levels []int) int {
	operations, from := s.plan.operations(), 0
	for _, users := range slices.Backward(levels) {
		f := slices.Index(operations, workload.UsersOperation(users))
		if f < 0 || !differs(s.results[f]) {
			break
		}
		from = users
	}
	return from
}

// differs reports whether, at an operation's last analysis, the interval of some layout excludes zero difference. The
// baseline's twin is ignored.
func differs(r verdict.Result) bool {
	analysis, ok := r.Last()
	if !ok {
		return false
	}
	for i, e := range analysis.Estimates {
		if i != r.Config.Baseline && r.Arms[i].Twin == "" && (e.Lo > 0 || e.Hi < 0) {
			return true
		}
	}
	return false
}

func (s *Sweep) words(levels []int, confidence float64) []string {
	highest := workload.UsersOperation(levels[len(levels)-1])
	words := []string{fmt.Sprintf("At the highest load, %s, no layout is proven to differ from the baseline (%g %% over all levels).", highest,
		100*confidence)}
	if s.Differs > 0 {
		words[0] = fmt.Sprintf("Layouts differ from %s on, up to %s (%g %% over all levels).", workload.UsersOperation(s.Differs), highest,
			100*confidence)
	}
	for _, c := range s.Curves {
		switch {
		case c.Fit == nil:
		case c.Fit.Peak == nil || *c.Fit.Peak > float64(levels[len(levels)-1]):
			words = append(words, fmt.Sprintf("%s: by a fit of the universal scalability law (σ = %.3g, κ = %.3g) throughput still grows at %s.",
				c.Layout, c.Fit.Sigma, c.Fit.Kappa, highest))
		default:
			words = append(words,
				fmt.Sprintf("%s: by a fit of the universal scalability law (σ = %.3g, κ = %.3g) throughput is highest at about %.0f users.", c.Layout,
					c.Fit.Sigma, c.Fit.Kappa, *c.Fit.Peak))
		}
	}
	return words
}

// latencies returns the latencies if operations have several types or p99 is limited. Otherwise it returns nil.
func (s standing) latencies() ([]Latency, error) {
	typed := slices.ContainsFunc(s.trials, func(t filewise.Trial) bool {
		return slices.ContainsFunc(t.Measures, func(m filewise.Measure) bool { return len(m.Types) > 0 })
	})
	if !typed && s.plan.P99Limit <= 0 {
		return nil, nil
	}
	return s.plan.Latencies(s.trials)
}
