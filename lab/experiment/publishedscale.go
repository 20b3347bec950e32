package experiment

import (
	"fmt"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/workload"
)

// Meaning is the smallest scale from which an article's design meets the conditions of meaning, as far as that is known
// before any trial.
type Meaning struct {
	// Scale is that smallest scale. If it is above 1, not even the article's own size suffices here.
	Scale float64 `json:"scale"`
	// Why names the most demanding condition.
	Why string `json:"why"`
	// Bytes is the amount that the run loads, writes and reads in all at that scale. Took is the time for that amount at
	// AssumedRate.
	Bytes float64       `json:"bytes"`
	Took  time.Duration `json:"took_ns"`
}

// Rates assumed before anything is measured, in bytes per second. AssumedRate is the rate of whole runs. No backup of a
// single machine's disk is expected to exceed fastRate.
const (
	AssumedRate = 100e6
	fastRate    = 500e6
)

// MostScale is the largest scale at which an article's design can be run.
const MostScale = 100

// leastRun is the work of a run of inserts that exceeds any log or cache, in bytes.
const leastRun = 1 << 30

// Meaning returns the smallest meaningful scale. It returns nil if the plan repeats no article's design.
func (p Plan) Meaning(h Host) *Meaning {
	sc, err := workload.Lookup(p.Scenario)
	if err != nil || p.AsPublished == nil || sc.Design == nil {
		return nil
	}
	d := *sc.On(p.Target.Engine).Design
	whole := d.Data()
	out := &Meaning{Scale: p.AsPublished.Scale, Why: "as planned"}
	raise := func(bytes float64, why string, args ...any) {
		if scale := bytes / whole; scale > out.Scale {
			out.Scale, out.Why = scale, fmt.Sprintf(why, args...)
		}
	}
	if p.Target.Memory > 0 {
		h.Memory = p.Target.Memory
	}
	for _, c := range p.Foreseen(h) {
		if c.Name == filewise.CondReads && !c.OK && !c.Unknown {
			raise(timesCache*float64(h.Memory), "reads: data of %d times the memory of %s; a smaller --memory asks for less", timesCache,
				say.Size(h.Memory))
		}
	}
	for _, l := range p.Layouts {
		if growing(l) {
			raise(float64(l.Data.Bytes+timesGrown*l.Data.Growth), "growth: the files of %q grow %d times, by %s", l.Name, timesGrown,
				say.Size(l.Data.Growth))
		}
	}
	switch {
	case sc.Stripes:
		raise(workload.LeastOf("backups")*fastRate, "duration: a backup takes %g s at 500 MB/s", workload.LeastOf("backups"))
	case d.Work > 0:
		raise(leastRun, "writes: a run inserts %s, more than a log holds back", say.Size(leastRun))
	}
	layouts, runs := float64(len(p.Layouts)), float64(len(p.Trials()))
	at := whole * out.Scale
	switch out.Bytes = runs * at; {
	case sc.Stripes: // loaded once per layout; backed up, restored and read for verification per run
		out.Bytes = (layouts + 3*runs) * at
	case d.Connect != "": // a row is selected, updated and deleted by statements that read all rows
		out.Bytes = 3 * float64(d.Rows) * out.Scale * runs * at
	case d.Work == 0:
		out.Bytes += layouts * at
	}
	out.Took = time.Duration(min(out.Bytes/AssumedRate, maxSeconds) * float64(time.Second))
	return out
}

// maxSeconds keeps a duration within its type: some 290 years.
const maxSeconds = 9e9

// Sentence returns a sentence on the smallest meaningful scale, with what to do. Present is the planned scale.
func (m Meaning) Sentence(present float64) string {
	cost := fmt.Sprintf("it moves %s in all, some %s at 100 MB/s", say.Size(int64(min(m.Bytes, 1<<62))), say.Human(m.Took.Round(time.Second)))
	switch {
	case roundedUp(m.Scale) > MostScale:
		return fmt.Sprintf("Meaning: not even at the original's size (--scale 1) do all conditions hold here (%s).", m.Why)
	case m.Scale > 1:
		return fmt.Sprintf("Meaning: not even at the original's size (--scale 1) do all conditions hold here, but from --scale %.2g on (%s); %s.",
			roundedUp(m.Scale), m.Why, cost)
	case m.Scale > present:
		return fmt.Sprintf("Meaning: the conditions that can be foreseen hold from --scale %.2g on (%s); %s.", roundedUp(m.Scale), m.Why, cost)
	}
	return fmt.Sprintf("Meaning: the conditions that can be foreseen hold at this scale; %s.", cost)
}

// roundedUp stretches a scale by 5 %, so that it is not too small when rounded to two digits.
func roundedUp(x float64) float64 { return x * 1.05 }
