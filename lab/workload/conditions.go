package workload

import "filewise"

// meaning lists the conditions that a run of each scenario has to meet to be about files, in addition to headroom,
// which all of them need.
var meaning = map[string][]filewise.ConditionName{
	FamilyInserts: {filewise.CondReach, filewise.CondWrites, filewise.CondGrowth, filewise.CondContention},
	FamilyOrders:  {filewise.CondReach, filewise.CondWrites, filewise.CondReads},
	"dml":         {filewise.CondReach, filewise.CondWrites, filewise.CondGrowth},
	"scan":        {filewise.CondReach, filewise.CondReads, filewise.CondDuration},
	"backup":      {filewise.CondReads, filewise.CondDuration},
	"dump":        {filewise.CondReads, filewise.CondDuration},
	"temp":        {filewise.CondReach, filewise.CondWrites, filewise.CondContention},
	FamilyCustom:  {filewise.CondReach},
}

// Conditions are the scenario's conditions of meaning, in the order in which they are reported.
func (s Scenario) Conditions() []filewise.ConditionName {
	return append(meaning[s.Name], filewise.CondHeadroom)
}

// LeastOf is the measured time of one operation from which on a family with this unit is about
// files: of a whole backup, dump or restore, and of a query; 0 if any time does.
func LeastOf(unit string) (seconds float64) {
	switch unit {
	case "backups", "restores", "dumps":
		return 2
	case "queries":
		return 0.02
	}
	return 0
}
