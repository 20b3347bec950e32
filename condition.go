package filewise

// ConditionName names a condition of meaning.
type ConditionName string

// The conditions of meaning, in the order in which they are reported.
const (
	CondReach      ConditionName = "reach"      // every file of every layout takes part in the work
	CondWrites     ConditionName = "writes"     // data pages are written within the observation
	CondReads      ConditionName = "reads"      // data do not come from memory
	CondDuration   ConditionName = "duration"   // what is timed lasts long enough to be about files
	CondGrowth     ConditionName = "growth"     // growing files grow often in a trial
	CondContention ConditionName = "contention" // more connections than cores ask for space
	CondHeadroom   ConditionName = "headroom"   // neither the processors nor the log limit the work
)

// Condition is one of the conditions under which a run answers a question about files.
type Condition struct {
	Name ConditionName `json:"name"`
	// Measured holds what was found, in words; empty if Unknown.
	Measured string `json:"measured,omitempty"`
	// Threshold is from when the condition holds, in words.
	Threshold string `json:"threshold"`
	OK        bool   `json:"ok"`
	// Unknown conditions were not measured, or not yet; OK is false then.
	Unknown bool `json:"unknown,omitempty"`
	// Mend holds the options that would have a broken condition hold; empty if none would.
	Mend string `json:"mend,omitempty"`
}

// Broken reports whether the condition was measured and does not hold.
func (c Condition) Broken() bool { return !c.OK && !c.Unknown }

// Sign is ✔, ✘, or ? if the condition is unknown.
func (c Condition) Sign() string {
	switch {
	case c.OK:
		return "✔"
	case c.Unknown:
		return "?"
	}
	return "✘"
}
