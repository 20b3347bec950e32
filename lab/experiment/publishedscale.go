package experiment

import (
	"fmt"
	"time"

	"filewise"
	"filewise/internal/say"
	"filewise/lab/workload"
)

// Meaning is from what scale on an article's design meets the conditions of meaning, by what can be
// known before anything is measured.
type Meaning struct {
	// Scale is the least that does; more than 1: not even the article's own size does here.
	Scale float64 `json:"scale"`
	// Why is the most demanding condition.
	Why string `json:"why"`
	// Bytes are loaded, written and read in all at that scale, which takes Took at AssumedRate.
	Bytes float64       `json:"bytes"`
	Took  time.Duration `json:"took_ns"`
}

// Rates for what is not measured yet, in bytes a second: AssumedRate is of whole runs, fastRate what
// no backup of a single machine's disk is expected to exceed.
const (
	AssumedRate = 100e6
	fastRate    = 500e6
)

// leastRun is the work of a run of inserts that no log or cache takes whole, in bytes.
const leastRun = 1 << 30

// Meaning is nil if the plan repeats no article's design, or its data are not known in bytes.
func (p Plan) Meaning(h Host) *Meaning {
	sc, err := workload.Lookup(p.Scenario)
	if err != nil || p.AsPublished == nil || sc.Design == nil {
		return nil
	}
	d := *sc.On(p.Target.Engine).Design
	whole := d.Data()
	if whole == 0 {
		return nil
	}
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
	switch {
	case sc.Stripes:
		raise(workload.LeastOf("backups")*fastRate, "duration: a backup takes %g s at 500 MB/s", workload.LeastOf("backups"))
	case d.Work > 0:
		raise(leastRun, "writes: a run inserts %s, more than a log holds back", say.Size(leastRun))
	}
	layouts, runs := float64(len(p.Layouts)), float64(len(p.Trials()))
	at := whole * out.Scale
	switch out.Bytes = runs * at; {
	case sc.Stripes: // loaded once for each layout; backed up, restored and read to be verified
		out.Bytes = (layouts + 3*runs) * at
	case d.Work == 0:
		out.Bytes += layouts * at
	}
	out.Took = time.Duration(min(out.Bytes/AssumedRate, maxSeconds) * float64(time.Second))
	return out
}

// maxSeconds keeps a time within its type: some 290 years.
const maxSeconds = 9e9

// Sentence phrases it, with what to do.
func (m Meaning) Sentence(present float64) string {
	cost := fmt.Sprintf("it moves %s in all, some %s at 100 MB/s", say.Size(int64(min(m.Bytes, 1<<62))), say.Human(m.Took.Round(time.Second)))
	switch {
	case m.Scale > 1:
		return fmt.Sprintf("Meaning: not even at the original's size (--scale 1) do all conditions hold here (%s).", m.Why)
	case m.Scale > present:
		return fmt.Sprintf("Meaning: what can be foreseen holds from --scale %.2g on (%s); %s.", roundedUp(m.Scale), m.Why, cost)
	}
	return fmt.Sprintf("Meaning: what can be foreseen holds at this scale; %s.", cost)
}

// roundedUp is a scale with two digits that is not below it.
func roundedUp(x float64) float64 { return x * 1.05 }
