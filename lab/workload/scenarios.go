package workload

import (
	"filewise"
	"filewise/internal/nearest"
)

// Scenarios returns all scenarios, in the order of the documentation.
func Scenarios() []Scenario {
	return []Scenario{insertsScenario(), ordersScenario(), dmlScenario(), scanScenario(), backupScenario(), dumpScenario(), tempScenario(),
		customScenario()}
}

// Lookup returns the scenario of that name. If there is none, the error has CodeUsage and names the most similar one.
func Lookup(name string) (Scenario, error) {
	var known []string
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, nil
		}
		known = append(known, s.Name)
	}
	return Scenario{}, filewise.Errorf(filewise.CodeUsage, nearest.Remedy(name, known), "scenario %q is unknown", name)
}
