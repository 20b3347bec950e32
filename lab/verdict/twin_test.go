package verdict

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// twinTable has arms 1 file, 4 files and the twin, with effects and little noise.
func twinTable(effects []float64, blocks int) Table {
	random := rand.New(rand.NewPCG(5, 5))
	t := make(Table, blocks)
	for b := range t {
		for _, e := range effects {
			t[b] = append(t[b], Cell{Throughput: 1000 * math.Exp(e+0.01*random.NormFloat64()), OK: true})
		}
	}
	return t
}

func twinArms() []Arm {
	return []Arm{{Name: "1 file", Rank: 1}, {Name: "4 files", Rank: 4}, {Name: "1 file again", Rank: 1, Twin: "1 file"}}
}

// A twin is measured to the end, and not recommended however fast it seems.
func TestTwinIsNeverRecommended(t *testing.T) {
	r := must(Judge(DefaultConfig(), twinArms(), twinTable([]float64{0, 0.1, 0.5}, 20)))
	analysis, _ := r.Last()
	if analysis.Recommended != 1 || analysis.Leader != 1 {
		t.Errorf("recommended %d, leader %d; want 4 files", analysis.Recommended, analysis.Leader)
	}
	if e := analysis.Estimates[2]; e.DroppedAt != 0 || e.N != analysis.Block || e.Candidate {
		t.Errorf("the twin was dropped or a candidate: %+v", e)
	}
	if arm, _, failed := r.AAFailed(); !failed || arm != 2 {
		t.Errorf("a twin 65 %% faster does not fail the check")
	}
	s := Sentences(r, WordsOptions{})
	if !strings.HasPrefix(s[0], "Do not use this result: the A/A check failed") || r.Answer().Decision != DecisionNone {
		t.Errorf("headline %q", s[0])
	}
	if !strings.Contains(strings.Join(s, "\n"), "A/A check failed: 1 file again is the same as 1 file, and measured +6") {
		t.Errorf("sentences %q", s)
	}
	if r.Warnings[0].Code != WarnAAFailed {
		t.Errorf("warnings %+v", r.Warnings)
	}
}

func TestTwinHolds(t *testing.T) {
	r := must(Judge(DefaultConfig(), twinArms(), twinTable([]float64{0, 0, 0}, 20)))
	analysis, _ := r.Last()
	if _, _, failed := r.AAFailed(); failed || analysis.Estimates[2].Mark != MarkAAHolds || analysis.Recommended != 0 {
		t.Errorf("mark %q, recommended %d", analysis.Estimates[2].Mark, analysis.Recommended)
	}
	s := Sentences(r, WordsOptions{})
	if !strings.HasPrefix(s[0], "Keep 1 file: ") || !strings.Contains(s[0], " can be gained by any tested layout (95 % confidence).") {
		t.Errorf("sentences %q", s)
	}
}

// With the goal of verdicts a twin that is not resolved keeps nothing going.
func TestTwinIsNotWaitedFor(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Goal = GoalVerdicts
	r := must(Judge(cfg, twinArms(), twinTable([]float64{0, 0.4, 0.03}, 20)))
	if analysis, _ := r.Last(); analysis.Stop != ReasonAllResolved || analysis.Block > r.FirstClaim() {
		t.Errorf("stopped after block %d: %q", analysis.Block, analysis.Stop)
	}
}

func TestTwinsOfNothing(t *testing.T) {
	arms := twinArms()
	arms[2].Twin = "2 files"
	cfg := DefaultConfig()
	if _, err := Judge(cfg, arms, nil); !errors.Is(err, ErrConfig) {
		t.Errorf("a twin of no arm: %v", err)
	}
	cfg.Baseline = 2
	if _, err := Judge(cfg, twinArms(), nil); !errors.Is(err, ErrConfig) {
		t.Errorf("a twin as the baseline: %v", err)
	}
}
