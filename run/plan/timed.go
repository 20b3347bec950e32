package plan

import (
	"slices"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
)

// Timed refuses a condition on latencies if the plan's trials have no single operations with latencies.
func Timed(p *experiment.Plan, condition string) error {
	sc, err := workload.Lookup(p.Scenario)
	if err != nil {
		return err
	}
	w, err := sc.New(p.Params, p.Seed)
	if err != nil {
		return err
	}
	works := func(x filewise.Phase) bool { return x.Act == filewise.ActWork }
	if p.Measure != experiment.MeasureLifecycle && slices.ContainsFunc(p.Program(w).Phases, works) {
		return nil
	}
	return filewise.Errorf(filewise.CodeUsage, "give a condition on loss or gain: --fail-if 'loss > 5 %'",
		"--fail-if %q: what scenario %s measures has no latencies", condition, p.Scenario)
}
