package verdict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Few is what can be said of fewer blocks than a verdict takes: of every arm the mean of
// its log ratios to the baseline, and from two common blocks on limits by Student's t with
// as many degrees of freedom as ratios but one, at the confidence for all arms together
// (Bonferroni). They hold for one look, at all blocks. Ratios that are equal to the last
// digit say nothing of the spread: the limits are unknown then, as of a single one.
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

// FewSentences phrase it: that it is no verdict, then each arm.
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
			out = append(out, fmt.Sprintf("%s: no run beside one of %s.", arms[j].Name, base))
		case e.N == 1:
			out = append(out, fmt.Sprintf("%s: %s against %s in the one run; how far runs of one layout differ is not known, so this "+
				"shows no difference between layouts.", arms[j].Name, change(e.Effect), base))
		case math.IsNaN(e.Lo):
			out = append(out, fmt.Sprintf("%s: %s against %s in each of %d runs, alike to the last digit: that says nothing of their spread.",
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

// InTime are an arm's differences from the baseline as those of the time that the same work
// takes; empty: not known.
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
