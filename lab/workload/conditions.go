package workload

import (
	"slices"

	"filewise"
)

// meaning lists the conditions that a run of each scenario must meet to be about files. Headroom is needed by all
// scenarios and not listed.
var meaning = map[string][]filewise.ConditionName{
	OperationInserts: {filewise.CondReach, filewise.CondWrites, filewise.CondGrowth, filewise.CondContention},
	OperationOrders:  {filewise.CondReach, filewise.CondWrites, filewise.CondReads},
	"dml":            {filewise.CondReach, filewise.CondWrites, filewise.CondGrowth},
	"scan":           {filewise.CondReach, filewise.CondReads, filewise.CondDuration},
	"backup":         {filewise.CondReads, filewise.CondDuration},
	"dump":           {filewise.CondReads, filewise.CondDuration},
	"temp":           {filewise.CondReach, filewise.CondWrites, filewise.CondContention},
	OperationCustom:  {filewise.CondReach},
}

// Conditions returns the scenario's conditions of meaning, in the order of reports.
func (s Scenario) Conditions() []filewise.ConditionName {
	return append(meaning[s.Name], filewise.CondHeadroom)
}

// LeastOf returns how long one operation must take, in seconds, so that an operation with this unit is about files. It
// applies to a whole backup, dump or restore, and to a query. It is 0 for other units, which may take any time.
func LeastOf(unit string) (seconds float64) {
	switch unit {
	case "backups", "restores", "dumps":
		return 2
	case "queries":
		return 0.02
	}
	return 0
}

// Lengthens reports whether an operation of an operation takes longer with more data. A query that finds its rows by an
// index does not.
func Lengthens(operation string) bool {
	return !slices.ContainsFunc(indexed, func(k int) bool { return queryOperation(k) == operation })
}
