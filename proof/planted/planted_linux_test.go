package planted

import (
	"math"
	"testing"

	"filewise/lab/verdict"
)

// Speeds are low so that waiting for the storage, and not the processor, takes the time on a busy machine too.
var (
	usual = Speed{Bytes: 2 << 20}
	slow  = Speed{Bytes: usual.Bytes / 4}
)

func TestTwoEqualVolumesDoubleABackup(t *testing.T) {
	w := newWorld(t, usual, usual, 1.5)
	truth := w.plant(t, oneFile, twoFiles)
	j, analysis := w.run(t, w.plan(6, oneFile, twoFiles))
	truth.mustBeIn(t, analysis)
	if analysis.Recommended != 1 || analysis.Estimates[1].Lo <= 0 {
		t.Errorf("two volumes that together are twice as fast are not recommended: %v", j.Sentences())
	}
}

func TestSlowSecondVolumeIsSeen(t *testing.T) {
	w := newWorld(t, usual, slow, 1)
	truth := w.plant(t, oneFile, twoFiles)
	j, analysis := w.run(t, w.plan(6, oneFile, twoFiles))
	truth.mustBeIn(t, analysis)
	if analysis.Recommended != 0 || analysis.Estimates[1].Hi >= 0 {
		t.Errorf("a stripe on a volume four times slower is not found to be a loss: %v", j.Sentences())
	}
}

// largestOfNothing bounds the possible difference between layouts that differ in name only.
const largestOfNothing = 0.10

func TestNameAloneMakesNoDifference(t *testing.T) {
	w := newWorld(t, usual, usual, 2)
	w.storage.limit(t)
	w.storage.prove(t)
	plan := w.plan(16, oneFile, sameByName)                                 // it ends as soon as the margin is proved
	plan.Goal, plan.Margin, plan.Confidence = verdict.GoalVerdicts, 9, 0.99 // one false alarm in 100 is enough
	j, analysis := w.run(t, plan)
	other := analysis.Estimates[1]
	if !(other.Lo <= 0 && other.Hi >= 0) {
		t.Errorf("a difference is claimed between layouts that differ in name only: %v", j.Sentences())
	}
	if x := math.Expm1(analysis.LargestDifference); !(x < largestOfNothing) {
		t.Errorf("differences up to %.1f %% are not excluded after %d blocks: %v", 100*x, analysis.Block, j.Sentences())
	} else {
		t.Logf("no difference larger than %.1f %%", 100*x)
	}
}
