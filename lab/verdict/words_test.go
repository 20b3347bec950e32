package verdict

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// resultWith is a result of five arms with one analysis that has the estimates
// against 1 file, and everything else unknown.
func resultWith(analysis Analysis, estimates map[int]Estimate) Result {
	nan := math.NaN()
	r := Result{Config: rules1(), Arms: armsOf(5), Blocks: analysis.Block}
	for j := range r.Arms {
		e, ok := estimates[j]
		if !ok {
			e = Estimate{Lo: nan, Hi: nan}
		}
		analysis.Estimates = append(analysis.Estimates, e)
	}
	r.Analyses = []Analysis{analysis}
	return r
}

func percent(p float64) float64 { return math.Log1p(p / 100) }

func estimate(effect, lo, hi float64) Estimate {
	return Estimate{Effect: percent(effect), Lo: percent(lo), Hi: percent(hi)}
}

const goOn = "More blocks (--budget), longer trials or a wider --margin would resolve it."

func TestHeadline(t *testing.T) {
	regret := func(p float64) Estimate { return Estimate{WorstLoss: percent(p)} }
	for _, c := range []struct {
		analysis  Analysis
		estimates map[int]Estimate
		opts      WordsOptions
		want      string
	}{
		{Analysis{Stop: ReasonRecommend, Recommended: 3}, map[int]Estimate{3: regret(1.53)}, WordsOptions{},
			"Recommended: 8 files. No tested layout is more than 1.6 % faster (95 %)."},
		{Analysis{Stop: ReasonRecommend, Recommended: 3}, map[int]Estimate{3: regret(0)}, WordsOptions{},
			"Recommended: 8 files. No tested layout is faster (95 %)."},
		{Analysis{Stop: ReasonKeepBaseline, Recommended: 0}, map[int]Estimate{0: regret(1.97)}, WordsOptions{},
			"Keep 1 file: no tested layout is more than 2 % faster (95 %)."},
		{Analysis{Block: 20, Stop: ReasonMaxBlocks, Recommended: -1, BlocksNeeded: 95}, map[int]Estimate{1: estimate(1, -9, 4.3),
			2: estimate(1, -9, 3), 3: estimate(1, -9, 3), 4: estimate(1, -9, 3)}, WordsOptions{BlockSeconds: 265},
			"Undecided: no layout is proven to be faster than 1 file. No tested layout is more than 4.3 % faster (95 %); " +
				"telling 2 % apart would take about 95 blocks (7 h). " + goOn},
		{Analysis{Block: 5, Recommended: -1, LargestDifference: percent(4.31), BlocksNeeded: 12}, nil, WordsOptions{},
			"Undecided: no layout is proven to be faster than 1 file. No tested layout is more than 4.4 % faster (95 %); " +
				"telling 2 % apart would take about 12 blocks."},
		{Analysis{Block: 3, Trials: 4, Recommended: -1, LargestDifference: math.NaN()}, nil, WordsOptions{},
			"Undecided: too few trials succeeded to exclude any difference (3 blocks, 4 trials)."},
		{Analysis{Block: 6, Trials: 15, Recommended: -1, LargestDifference: math.NaN(), BlocksNeeded: 12},
			map[int]Estimate{3: estimate(-6.8, -12.5, 16)}, WordsOptions{}, // another was dropped before it had an interval
			"Undecided: no layout is proven to be faster than 1 file. 8 files is not more than 16 % faster (95 %); " +
				"telling 2 % apart would take about 12 blocks."},
		{Analysis{Block: 6, Recommended: -1, LargestDifference: percent(40), BlocksNeeded: 12}, map[int]Estimate{
			1: estimate(0, -2, 2), 2: estimate(-20, -40, -10), 3: estimate(1, -3, 6), 4: estimate(1, -7, 6)}, WordsOptions{},
			"Undecided: no layout is proven to be faster than 1 file. None of 2 files, 8 files and 16 files is more than 6 % faster (95 %); " +
				"telling 2 % apart would take about 12 blocks."},
		{Analysis{Block: 6, Stop: ReasonMaxBlocks, Recommended: -1, Leader: 4, LargestDifference: percent(900), BlocksNeeded: 9000},
			map[int]Estimate{
				3: {Lo: percent(20), Candidate: true, WorstLoss: percent(60)},
				4: {Lo: percent(30), Candidate: true, WorstLoss: percent(41)},
			}, WordsOptions{},
			"Undecided which is best: 8 files and 16 files are each proven to be faster, at least +20.0 % against 1 file; " +
				"no tested layout is more than 41 % faster than 16 files (95 %). " + goOn},
		{Analysis{Recommended: -1, Leader: 4, LargestDifference: percent(900)},
			map[int]Estimate{4: {Lo: percent(30), Candidate: true, WorstLoss: percent(162.5)}}, WordsOptions{},
			"Undecided which is best: 16 files is proven to be faster, at least +30.0 % against 1 file; " +
				"no tested layout is more than 2.7 times as fast as 16 files (95 %). " + goOn},
		{Analysis{Recommended: -1, Leader: 4, LargestDifference: percent(900)},
			map[int]Estimate{4: {Lo: percent(30), Candidate: true, WorstLoss: 0}}, WordsOptions{},
			"Undecided which is best: 16 files is proven to be faster, at least +30.0 % against 1 file; " +
				"no tested layout is faster than 16 files (95 %). " + goOn},
		{Analysis{Stop: ReasonRecommend, Recommended: 3}, map[int]Estimate{3: regret(162.5)}, WordsOptions{},
			"Recommended: 8 files. No tested layout is more than 2.7 times as fast (95 %)."},
		{Analysis{Stop: ReasonKeepBaseline, Recommended: 0}, map[int]Estimate{0: regret(100)}, WordsOptions{},
			"Keep 1 file: no tested layout is more than 2 times as fast (95 %)."},
		{Analysis{Block: 20, Stop: ReasonMaxBlocks, Recommended: -1, LargestDifference: percent(734.7), BlocksNeeded: 95},
			nil, WordsOptions{},
			"Undecided: no layout is proven to be faster than 1 file. No tested layout is more than 8.4 times as fast (95 %); " +
				"telling 2 % apart would take about 95 blocks. " + goOn},
		{Analysis{Block: 20, Recommended: -1, BlocksNeeded: 95}, map[int]Estimate{1: {Lo: -5, Hi: 5}}, WordsOptions{},
			"Undecided: no layout is proven to be faster than 1 file, and the trials differ so much that not even a factor of 10 is " +
				"excluded; telling 2 % apart would take about 95 blocks. " + goOn},
		{Analysis{Block: 20, Recommended: -1}, map[int]Estimate{1: {Lo: percent(1), Hi: percent(9), DroppedAt: 4}, 2: estimate(5, -1, 10)},
			WordsOptions{}, "Undecided: which layout is the best is open. 4 files is not more than 10 % faster (95 %)."},
		{Analysis{Stop: ReasonAllResolved, Recommended: -1}, nil, WordsOptions{},
			"Every layout is resolved against 1 file (95 %); which one is best is not."},
	} {
		if got := Headline(resultWith(c.analysis, c.estimates), c.opts); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	analysis := Analysis{Block: 9, Stop: ReasonRecommend, Recommended: 3, Leader: 3}
	apart := resultWith(analysis, map[int]Estimate{
		3: {Lo: percent(310), WorstLoss: percent(39.3), Candidate: true, Effect: percent(400)}, 4: {Candidate: true}})
	apart.Config.Rules = 2
	known := "Recommended: 8 files, at least 4.1 times 1 file; 16 files and 8 files are not distinguished (95 %). " +
		"Its worst-case loss, 39.3 %, is at most a quarter of the proven gain."
	if got, want := Headline(apart, WordsOptions{}), known; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	early := Result{Config: DefaultConfig(), Arms: armsOf(2), Blocks: 1}
	want := "Too early to say: 1 of the 7 blocks that an interval needs is complete."
	if got := Sentences(early, WordsOptions{}); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

func TestArmSentence(t *testing.T) {
	dropped := func(e Estimate, block int) Estimate { e.DroppedAt = block; return e }
	const tail = ", simultaneous over 4 layouts; 7 blocks, 33 trials)."
	for _, c := range []struct {
		estimate Estimate
		want     string
	}{
		{estimate(6.1, 4.9, 7.4), "8 files: +6.1 % against 1 file (95 % interval +4.9 … +7.4" + tail},
		{estimate(-6.1, -7.4, -4.9), "8 files: −6.1 % against 1 file (95 % interval −7.4 … −4.9" + tail},
		{estimate(0.24, 0.04, 0.44), "8 files: +0.2 % against 1 file (95 % interval +0.04 … +0.4" + tail},
		{estimate(0, -1.04, 1), "8 files: 0.0 % against 1 file (95 % interval −1.0 … +1.0" + tail},
		{estimate(1975, 1700, 2300), "8 files: 20.8 times 1 file (95 % interval 18.0 … 24.0 times" + tail},
		{estimate(150, 90, 210), "8 files: 2.5 times 1 file (95 % interval 1.9 … 3.1 times" + tail},
		{dropped(estimate(-1, -9, 7), 5), "8 files: dropped after block 5, not the best (95 %)."},
		{dropped(estimate(-6.1, -7.4, -4.9), 5), "8 files: −6.1 % against 1 file (95 % interval −7.4 … −4.9" +
			", simultaneous over 4 layouts; 7 blocks, 33 trials; dropped after block 5)."},
		{Estimate{N: 1, Lo: math.NaN()}, "8 files: too few trials to judge (1 trial)."},
	} {
		r := resultWith(Analysis{Block: 7, Trials: 33}, map[int]Estimate{3: c.estimate})
		if got := ArmSentence(r, 3); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	for _, j := range []int{-1, 0, 5} {
		if got := ArmSentence(resultWith(Analysis{}, nil), j); got != "" {
			t.Errorf("arm %d: %s", j, got)
		}
	}
}

// TestDroppedArmIsShownAsOfItsDrop: the effect belongs to the frozen interval,
// however the estimate moves later.
func TestDroppedArmIsShownAsOfItsDrop(t *testing.T) {
	then, now := estimate(-47.2, -58.4, -21.1), estimate(-42.5, -58.4, -21.1)
	then.RawEffect, now.RawEffect = percent(-46), percent(-40)
	then.DroppedAt, now.DroppedAt = 4, 4
	then.Typical, now.Typical = 900, 1000
	r := resultWith(Analysis{Block: 7, Trials: 33}, map[int]Estimate{3: now})
	was := resultWith(Analysis{Block: 4}, map[int]Estimate{3: then}).Analyses
	before := resultWith(Analysis{Block: 3}, map[int]Estimate{3: estimate(5, -90, 900)}).Analyses
	r.Analyses = append(append(before, was...), r.Analyses...)
	last, _ := r.Last()
	if e := r.Shown(last, 3); e.Effect != then.Effect || e.RawEffect != then.RawEffect || e.Typical != 1000 {
		t.Errorf("shown: %+v", e)
	}
	if e := r.Shown(r.Analyses[0], 3); e.Effect != percent(5) {
		t.Errorf("shown of the analysis before the drop: %+v", e)
	}
	if got := ArmSentence(r, 3); !strings.HasPrefix(got, "8 files: −47.2 % against 1 file (95 % interval −58.4 … −21.1,") {
		t.Error(got)
	}
	r.Analyses = r.Analyses[2:] // without the analysis at which it was dropped
	if got := ArmSentence(r, 3); !strings.HasPrefix(got, "8 files: −42.5 %") {
		t.Error(got)
	}
}

func TestBound(t *testing.T) {
	for _, c := range []struct {
		percent  float64
		want     string
		isFactor bool
	}{
		{1.51, "1.6 %", false}, {99.9, "99.9 %", false}, {99.95, "2", true}, {100, "2", true}, {100.1, "2.1", true},
		{162.5, "2.7", true}, {1434.7, "15.4", true}, {99800, "999", true}, {123350, "1240", true}, {1234567800, "12400000", true},
	} {
		if got, isFactor := bound(percent(c.percent)); got != c.want || isFactor != c.isFactor {
			t.Errorf("%v %%: %q, %v; want %q, %v", c.percent, got, isFactor, c.want, c.isFactor)
		}
	}
}

func TestConfidenceInWords(t *testing.T) {
	r := resultWith(Analysis{Recommended: 3}, map[int]Estimate{3: estimate(6, 5, 7)})
	r.Config.Confidence = 0.999
	if got := ArmSentence(r, 3); !strings.Contains(got, "(99.9 % interval") {
		t.Error(got)
	}
	if got := Headline(r, WordsOptions{}); !strings.Contains(got, "(99.9 %)") {
		t.Error(got)
	}
}

func TestSentencesOfTrace(t *testing.T) {
	cases, _ := readTraces(t, readVectors(t)["sequential_traces"])
	want := map[string][]string{
		"randal": {
			"Recommended: 8 files. No tested layout is more than 1.1 % faster (95 %).",
			"2 files: dropped after block 7, not the best (95 %).",
			"4 files: dropped after block 9, not the best (95 %).",
			"8 files: +8.2 % against 1 file (95 % interval +1.6 … +15.1, simultaneous over 4 layouts; 10 blocks, 46 trials).",
			"16 files: +3.6 % against 1 file (95 % interval −3.2 … +10.9, simultaneous over 4 layouts; 10 blocks, 46 trials).",
		},
		"shea": {"Recommended: 8 files. No tested layout is more than 7 % faster (95 %)."},
		"null": {"Keep 1 file: no tested layout is more than 2 % faster (95 %)."},
	}
	for _, c := range cases {
		r := must(Judge(rules1(), armsOf(5), tableOf(c.TPS)))
		got := Sentences(r, WordsOptions{})
		if diff := cmp.Diff(want[c.Name], got[:len(want[c.Name])]); diff != "" {
			t.Errorf("%s: %s", c.Name, diff)
		}
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[float64]string{40: "40 s", 2100: "35 min", 25000: "7 h", 300000: "3 days"} {
		if got := duration(seconds); got != want {
			t.Errorf("%v: %s, want %s", seconds, got, want)
		}
	}
}
