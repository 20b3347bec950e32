package workload

import (
	"filewise"
	"filewise/internal/nearest"
)

// Scenarios are all scenarios, in the order of the project's documentation.
func Scenarios() []Scenario {
	return []Scenario{insertsScenario(), ordersScenario(), dmlScenario(), scanScenario(), backupScenario(), dumpScenario(), tempScenario(),
		customScenario()}
}

// Lookup finds a scenario by name. The error has CodeUsage and names the
// nearest known one.
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
