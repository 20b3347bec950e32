package verdict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Few judges fewer blocks than a verdict needs. For each arm it returns the mean of its log ratios to the baseline.
// With two or more common blocks it adds limits by Student's t, with one degree of freedom fewer than ratios, at the
// confidence for all arms together (Bonferroni). The limits hold for one analysis, after all blocks. If ratios agree to the
// last digit, they say nothing about the spread, and the limits are NaN, as for a single ratio.
//
// Errors wrap ErrConfig or ErrTable.
func Few(cfg Config, arms []Arm, t Table) ([]Estimate, error) {
	if err := cfg.check(len(arms)); err != nil {
		return nil, err
	}
	if err := t.check(len(arms)); err != nil {
		return nil, err
	}
	tail := (1 - cfg.Confidence) / 2 / float64(len(arms)-1)
	out := make([]Estimate, len(arms))
	for j := range arms {
		var ratios []float64
		for _, row := range t {
			if a, b := row[j], row[cfg.Baseline]; a.OK && b.OK {
				ratios = append(ratios, math.Log(a.Throughput/b.Throughput))
			}
		}
		out[j] = Estimate{N: len(ratios), Effect: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
		if len(ratios) == 0 {
			continue
		}
		mean, sd := stat.MeanStdDev(ratios, nil)
		out[j].Effect = mean
		if len(ratios) > 1 && sd > 0 {
			df := float64(len(ratios) - 1)
			half := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1-tail) * sd / math.Sqrt(df+1)
			out[j].Lo, out[j].Hi = mean-half, mean+half
		}
	}
	return out, nil
}

// Unjudged returns a result that claims nothing. For each arm it holds an estimate from all blocks, the median of its
// log ratios to the baseline, without an interval, a bound or a decision. Errors wrap ErrConfig or ErrTable.
func Unjudged(cfg Config, arms []Arm, t Table) (Result, error) {
	few, err := Few(cfg, arms, t)
	if err != nil {
		return Result{}, err
	}
	r := Result{Config: cfg, Arms: append([]Arm{}, arms...), Analyses: []Analysis{}, Blocks: len(t), Warnings: []Warning{}}
	analysis := Analysis{Block: len(t), Dropped: []int{}, PooledVar: math.NaN(), CTwoSided: math.NaN(), COneSided: math.NaN(), Leader: -1,
		Recommended: -1, Tolerance: cfg.Margin, CalibrationSlope: math.NaN(), LargestDifference: math.NaN()}
	for j, e := range few {
		var ratios, levels []float64
		for _, row := range t {
			if row[j].OK {
				levels = append(levels, math.Log(row[j].Throughput))
			}
			if row[j].OK && row[cfg.Baseline].OK {
				ratios = append(ratios, math.Log(row[j].Throughput/row[cfg.Baseline].Throughput))
			}
		}
		analysis.Trials += len(levels)
		out := Estimate{N: len(levels), Effect: math.NaN(), SE: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), RawEffect: e.Effect,
			WorstLoss: math.NaN(), Typical: math.NaN(), Alive: true, Candidate: true, Mark: MarkUndecided, BuildSD: math.NaN()}
		if len(ratios) > 0 {
			out.Effect = median(ratios)
		}
		if len(levels) > 0 {
			out.Typical = math.Exp(median(levels))
		}
		if j == cfg.Baseline {
			out.Mark, out.Lo, out.Hi = MarkBaseline, 0, 0
		}
		analysis.Estimates = append(analysis.Estimates, out)
	}
	if r.Trials = analysis.Trials; len(t) > 0 {
		r.Analyses = append(r.Analyses, analysis)
	}
	return r, nil
}

// FewSentences returns the result of Few in words: first that it is no verdict, then a sentence per arm.
func FewSentences(cfg Config, arms []Arm, t Table) ([]string, error) {
	all, err := Few(cfg, arms, t)
	if err != nil {
		return nil, err
	}
	first := Result{Config: cfg, Arms: arms}.FirstClaim()
	out := []string{fmt.Sprintf("No verdict: there %s of each layout, and a verdict takes %d.",
		map[bool]string{true: "is 1 run", false: fmt.Sprintf("are %d runs", len(t))}[len(t) == 1], first)}
	for j, e := range all {
		switch base := arms[cfg.Baseline].Name; {
		case j == cfg.Baseline:
		case e.N == 0:
			out = append(out, fmt.Sprintf("%s: no block holds both a run of it and one of %s.", arms[j].Name, base))
		case e.N == 1:
			out = append(out, fmt.Sprintf("%s: %s against %s in the one run; how far runs of one layout differ is not known, so this "+
				"shows no difference between layouts.", arms[j].Name, change(e.Effect), base))
		case math.IsNaN(e.Lo):
			out = append(out, fmt.Sprintf("%s: %s against %s in each of %d runs, identical to the last digit: that shows nothing of their spread.",
				arms[j].Name, change(e.Effect), base, e.N))
		case e.Lo > 0 || e.Hi < 0:
			out = append(out, fmt.Sprintf("%s: %s against %s (%s, %d runs): a difference, if nothing else changed between the runs.",
				arms[j].Name, change(e.Effect), base, interval(e), e.N))
		default:
			out = append(out, fmt.Sprintf("%s: %s against %s (%s, %d runs): no difference is shown.", arms[j].Name, change(e.Effect), base,
				interval(e), e.N))
		}
	}
	return out, nil
}

// InTime returns an arm's difference from the baseline as a difference of the time for the same work. It returns "" if
// the difference is not known.
func InTime(arm Arm, e Estimate) string {
	if math.IsNaN(e.Effect) {
		return ""
	}
	back := Estimate{Effect: -e.Effect, Lo: -e.Hi, Hi: -e.Lo}
	words := fmt.Sprintf("%s: time %s", arm.Name, change(back.Effect))
	if !math.IsNaN(e.Lo) && !math.IsNaN(e.Hi) {
		words += " (" + interval(back) + ")"
	}
	return words + "."
}
