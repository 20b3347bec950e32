package doctor

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"filewise"
)

// recorder collects a record. It is safe for concurrent use.
type recorder struct {
	mu       sync.Mutex
	record   Record
	now      string // the current trial. Empty means none
	at       map[string]*Outcome
	counters map[string]bool
}

func newRecorder(engine string) *recorder {
	r := &recorder{record: Record{Format: recordFormat, Engine: engine}, at: map[string]*Outcome{}, counters: map[string]bool{}}
	for _, claim := range common {
		r.at[claim] = &Outcome{Claim: claim, State: StateUntried}
	}
	return r
}

// begin sets the current trial. An empty name ends the trial before.
func (r *recorder) begin(trial string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now = trial; trial != "" && r.at[trial] == nil {
		r.at[trial] = &Outcome{Claim: trial, State: StateUntried, Took: map[string]string{}}
		r.record.Outcomes = append(r.record.Outcomes, Outcome{Claim: trial})
	}
}

// of calls change with the outcome of the current trial, if there is one.
func (r *recorder) of(change func(*Outcome)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.at[r.now]; o != nil {
		change(o)
	}
}

// tried marks the current trial as not offered if it neither worked nor failed.
func (r *recorder) tried() {
	r.of(func(o *Outcome) {
		if o.State == StateUntried {
			o.State = StateAbsent
		}
	})
}

// status records the status of a finding.
func (r *recorder) status(s filewise.Status) {
	if s == filewise.StatusFailed {
		r.of(func(o *Outcome) { o.State = StateFailed })
	}
}

// stage records the stage in which the current trial fails.
func (r *recorder) stage(at string) { r.of(func(o *Outcome) { o.At = at }) }

// failedIn records the stage of a failed trial, which begins the reason.
func (r *recorder) failedIn(reason string) {
	if at, _, ok := strings.Cut(reason, ": "); ok && slices.Contains(filewise.Stages, at) {
		r.stage(at)
	}
}

// worked records a finished trial.
func (r *recorder) worked(t filewise.Trial) {
	r.of(func(o *Outcome) {
		if o.State != StateFailed {
			o.State = StateProven
		}
		for _, s := range t.Stages {
			o.Took[s.Name] = durations[max(slices.Index(durations, o.Took[s.Name]), longer(s.Took))]
		}
	})
	for _, m := range t.Measures {
		for _, d := range m.Deltas {
			r.counted(d)
		}
	}
}

// counterName matches names of counters that a server defines. Other names may come from the server's owner.
var counterName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 _:&,()*./#-]{0,80}$`)

func (r *recorder) counted(d filewise.Delta) {
	switch {
	case filewise.OfWaits(d.Probe):
		r.claim(claimWaits, StateProven)
	case d.Probe == filewise.ProbeFiles:
		r.claim(claimFiles, StateProven)
	}
	name := d.Probe + ": " + d.Name
	r.mu.Lock()
	defer r.mu.Unlock()
	if counterName.MatchString(name) && !strings.Contains(name, "filewise_") {
		r.counters[name] = true
	}
}

// claim records the result of a claim that all trials prove together. Once it has failed, it stays failed.
func (r *recorder) claim(claim string, s State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o := r.at[claim]; o.State != StateFailed {
		o.State = s
	}
}

func provenIf(ok bool) State {
	if ok {
		return StateProven
	}
	return StateFailed
}

// see records a refused statement.
func (r *recorder) see(f filewise.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := Refused{r.now, f}
	if len(x.Statement) <= mostText && !slices.Contains(r.record.Refused, x) && len(r.record.Refused) < mostRefused {
		r.record.Refused = append(r.record.Refused, x)
	}
}

var numbersOf = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)+`)

// facts takes the server's version from its facts.
func (r *recorder) facts(all []filewise.Fact, ok bool) {
	r.claim(claimFacts, provenIf(ok))
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range all {
		if f.Name == "version" {
			r.record.Version = numbersOf.FindString(f.Value)
		}
	}
}

// closed returns a copy of the record so far.
func (r *recorder) closed() Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.record
	out.Outcomes = nil
	for _, claim := range common {
		out.Outcomes = append(out.Outcomes, *r.at[claim])
	}
	for _, o := range r.record.Outcomes {
		now := *r.at[o.Claim]
		now.Took = maps.Clone(now.Took)
		out.Outcomes = append(out.Outcomes, now)
	}
	out.Refused, out.Counters = slices.Clone(out.Refused), slices.Sorted(maps.Keys(r.counters))
	return out
}
