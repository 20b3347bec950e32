package experiment

import (
	"context"
	"fmt"
	"math"
	"time"

	"filewise"
)

// FamilyCalibration is the measure of the probe before a trial: a speed of the
// machine, which the verdict adjusts throughput for.
const FamilyCalibration = "calibration"

// calibrate measures the machine right before the trial's window, by the same
// short piece of work each time.
func (l *life) calibrate(ctx context.Context) error {
	if l.runner.Calibrate == nil {
		return fmt.Errorf("there is no calibration here: %w", filewise.ErrUnsupported)
	}
	start := l.runner.Clock.Now()
	speed, err := l.runner.Calibrate(ctx)
	if err != nil {
		return err
	}
	if !(speed > 0) || math.IsInf(speed, 0) {
		return fmt.Errorf("the calibration gave %v a second", speed)
	}
	window := max(l.runner.Clock.Now().Sub(start), time.Microsecond)
	l.calibration = &filewise.Measure{Family: FamilyCalibration, Unit: "writes",
		Window: [2]time.Duration{0, window}, Work: speed * window.Seconds()}
	return nil
}

// noteCalibration keeps the probe with the trial, behind what it is about.
func (l *life) noteCalibration() {
	if l.calibration != nil {
		l.trial.Measures = append(l.trial.Measures, *l.calibration)
	}
}
