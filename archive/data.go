package archive

import (
	"filewise"
	"filewise/experiment"
	"filewise/report"
	"filewise/store"
	"filewise/workload"
)

// Data is a run with what its trials were judged to be, as reports want it.
func Data(run store.Run, trials []filewise.Trial, j experiment.Judgement) (report.Data, error) {
	sc, err := workload.Lookup(run.Plan.Scenario)
	if err != nil {
		return report.Data{}, err
	}
	d := report.Data{
		RunID: run.ID, Version: run.Version, Started: run.Started, State: string(run.State), Plan: run.Plan,
		Scenario: sc, Trials: trials, Judgement: j, Machine: run.Machine, Server: run.Server,
	}
	if j.Decision.Ending == experiment.GoesOn && run.Ending == experiment.Broken {
		d.Judgement.Decision = experiment.Decision{Ending: run.Ending, Why: run.Why} // what the trials do not show
	}
	d.Judgement.Warnings = append(append([]filewise.Warning(nil), run.Warnings...), j.Warnings...)
	if run.Origin != nil {
		d.Machine = append([]filewise.Fact{{Name: "imported", Value: run.Origin.String()}}, d.Machine...)
	}
	if run.Ended != nil {
		d.Ended = *run.Ended
	}
	return d, nil
}
