package innodb

import (
	"fmt"

	"filewise"
)

// fragColumns are the columns of the tables of scan.
var fragColumns = []string{"id", "name", "address", "state", "val1", "val2", "val3", "val4", "val5"}

// Steps are what a trial executes on a server besides creating, settling and
// dropping: load, sessions, phases and check. On is left to the caller.
func (s Schema) Steps() ([]filewise.Step, error) {
	var steps []filewise.Step
	add := func(stage, section string, t Table) error {
		all, err := s.ifAny(section, t)
		for _, text := range all {
			text, _ = positional(text)
			steps = append(steps, filewise.Step{Stage: stage, SQL: ShortenPool(text)})
		}
		return err
	}
	if s.Loads() {
		load, err := s.loadSteps()
		if err != nil {
			return nil, err
		}
		steps = append(steps, load...)
	}
	if err := add(filewise.StageWarmUp, SectionConnection, s.Tables[0]); err != nil {
		return nil, err
	}
	sections := []string{SectionCall}
	if len(s.Program.Phases) > 0 {
		sections = nil
	}
	for _, p := range s.Program.Phases {
		phase := s.forPhase(p)
		name := SectionCall + "-" + p.Section
		if p.Client {
			name = SectionStatement + p.Section
		}
		text, err := phase.oneIfAny(name, s.Tables[0])
		if err != nil {
			return nil, err
		}
		if text != "" {
			text, _ = positional(text)
			steps = append(steps, filewise.Step{Stage: filewise.StageMeasure, SQL: text})
		}
	}
	for _, section := range sections {
		if err := add(filewise.StageMeasure, section, s.Tables[0]); err != nil {
			return nil, err
		}
	}
	err := add(filewise.StageCheck, SectionCheck, s.Tables[0])
	return steps, err
}

// loadSteps are the statements of a batch of the first table, and what comes
// after the last batch.
func (s Schema) loadSteps() ([]filewise.Step, error) {
	load := loadData(own(s.Database, s.Tables[0].Name), "rows of a batch", fragColumns)
	steps := []filewise.Step{
		{Stage: filewise.StageLoad, SQL: "START TRANSACTION"},
		{Stage: filewise.StageLoad, SQL: fmt.Sprintf("INSERT INTO %s (table_name, batch) VALUES (?, ?)", own(s.Database, LoadedTable))},
		{Stage: filewise.StageLoad, SQL: load},
		{Stage: filewise.StageLoad, SQL: "COMMIT"},
	}
	for _, t := range s.Tables {
		all, err := s.ifAny(SectionIndexes, t)
		if err != nil {
			return nil, err
		}
		for _, text := range append(all, s.analyze(t)) {
			steps = append(steps, filewise.Step{Stage: filewise.StageLoad, SQL: text})
		}
	}
	return steps, nil
}
