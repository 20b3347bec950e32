package main

import (
	"os"

	"filewise"
	"filewise/display"
	"filewise/experiment"
	"filewise/report"
	"filewise/store"
	"filewise/workload"
)

// data is a run as the report package wants it.
func data(run store.Run, trials []filewise.Trial, j experiment.Judgement) (report.Data, error) {
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

// printRun writes the result to stdout, as text or JSON.
func (a *app) printRun(run store.Run, trials []filewise.Trial, j experiment.Judgement) error {
	d, err := data(run, trials, j)
	if err != nil {
		return err
	}
	return a.printData(d)
}

func (a *app) printData(d report.Data) error {
	if a.json {
		return report.JSON(a.stdout, d)
	}
	width, _ := terminal(a.stdout)
	return report.Terminal(a.stdout, d, report.TerminalOptions{Color: coloured(a.stdout), Width: width})
}

// display shows the run on stderr while it is measured, so that stdout holds
// the result alone.
func (a *app) display(run store.Run, done []filewise.Trial) (*display.Display, error) {
	d, err := data(run, done, experiment.Judgement{})
	if err != nil {
		return nil, err
	}
	_, live := terminal(a.stderr)
	return display.New(a.stderr, d, display.Options{Live: live && os.Getenv("TERM") != "dumb", Color: coloured(a.stderr),
		Size: func() (int, int) { return size(a.stderr) }}), nil
}
