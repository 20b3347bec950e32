package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"filewise"
)

// spent is one part of the run's wall time.
type spent struct {
	Name  string
	Took  time.Duration
	Whole time.Duration
}

// Share is the part of the whole: "62 %".
func (s spent) Share() string { return share(float64(s.Took), float64(s.Whole)) }

// Time is the part in words.
func (s spent) Time() string { return human(s.Took) }

// Width is the share in percent, for drawing.
func (s spent) Width() string { return fmt.Sprintf("%.1f", 100*float64(s.Took)/float64(s.Whole)) }

// stageWords are what the stages are for, where the name alone does not say.
var stageWords = map[string]string{
	"measure":            "measuring",
	filewise.StageCreate: "creating servers", filewise.StageBuild: "building layouts", filewise.StageObserve: "observing the files",
	filewise.StageLoad: "loading data", filewise.StageExtend: "adding files to loaded databases",
	filewise.StageSettle: "settling", filewise.StageWarmUp: "warming up",
	filewise.StageDrain: "draining until durable", filewise.StageCheck: "checking the data",
	filewise.StageDrop: "dropping layouts", "pilot": "pilots",
}

// Where says where the wall time of the trials went: measuring first, then the
// rest, largest first. It is empty when nothing was timed.
func (v view) Where() []spent {
	whole := v.Judgement.Elapsed
	sum := time.Duration(0)
	for _, s := range v.Judgement.Stages {
		sum += s.Took
	}
	whole = max(whole, sum)
	if whole <= 0 {
		return nil
	}
	out := []spent{{stageWords["measure"], v.Judgement.Measuring, whole}}
	for _, s := range v.Judgement.Stages {
		if s.Name == filewise.StageMeasure {
			// What the stage took beyond the measured windows is shown as such.
			s.Name, s.Took = "around the measured windows", s.Took-v.Judgement.Measuring
			if float64(s.Took) < 0.001*float64(whole) {
				continue
			}
		}
		if s.Took > 0 {
			out = append(out, spent{stageName(s.Name), s.Took, whole})
		}
	}
	if rest := whole - sum; float64(rest) >= 0.001*float64(whole) {
		out = append(out, spent{"between stages", rest, whole})
	}
	slices.SortStableFunc(out[1:], func(a, b spent) int { return cmp.Compare(b.Took, a.Took) })
	return out
}

func stageName(name string) string {
	if w, ok := stageWords[name]; ok {
		return w
	}
	return name
}

// Elapsed is the wall time of the trials.
func (v view) Elapsed() string {
	if v.Judgement.Elapsed <= 0 {
		return absent
	}
	return human(v.Judgement.Elapsed)
}

// StartedText is when the run started, in the time zone that was stored.
func (v view) StartedText() string { return stamp(v.Started) }

// EndedText is when the run ended.
func (v view) EndedText() string { return stamp(v.Ended) }

func stamp(t time.Time) string {
	if t.IsZero() {
		return absent
	}
	return t.Format("2006-01-02 15:04:05 -07:00")
}
