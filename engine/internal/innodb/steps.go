package innodb

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/workload"
)

// fragColumns are the columns of the tables of scan.
var fragColumns = []string{"id", "name", "address", "state", "val1", "val2", "val3", "val4", "val5"}

// Steps are what a trial executes on a server besides creating, settling and
// dropping: load, sessions, phases and check. On is left to the caller.
func (s Schema) Steps() ([]filewise.Step, error) {
	if s.Program.Own != nil {
		return s.ownSteps()
	}
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
	calls := []string{SectionCall}
	if len(s.Program.Phases) > 0 {
		calls = nil
	}
	if s.Churns() {
		all, err := s.churnStatements("1", s.firstSpot())
		if err != nil {
			return nil, err
		}
		for _, text := range all {
			steps = append(steps, filewise.Step{Stage: filewise.StageMeasure, SQL: text})
		}
	}
	for _, p := range s.Program.Phases {
		phase := s.forPhase(p)
		for _, name := range sectionsOf(p) {
			text, err := phase.oneIfAny(name, s.Tables[0])
			if err != nil {
				return nil, err
			}
			text, _ = positional(text)
			step := filewise.Step{Stage: filewise.StageMeasure, SQL: text}
			if text != "" && !slices.Contains(steps, step) { // phases may differ in their connections alone
				steps = append(steps, step)
			}
		}
	}
	for _, section := range calls {
		if err := add(filewise.StageMeasure, section, s.Tables[0]); err != nil {
			return nil, err
		}
	}
	for _, section := range s.checks() {
		if err := add(filewise.StageCheck, section, s.Tables[0]); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// sectionsOf are the sections of a phase's operations.
func sectionsOf(p filewise.Phase) []string {
	switch {
	case len(p.Types) > 0:
		var all []string
		for _, section := range p.Sections {
			all = append(all, SectionStatement+section)
		}
		return all
	case p.Client:
		return []string{SectionStatement + p.Section}
	}
	return []string{SectionCall + "-" + p.Section}
}

// checks are the sections that check the data after a trial.
func (s Schema) checks() []string {
	var all []string
	for _, section := range sections[s.Program.Workload].Sections() {
		if section == SectionCheck || section == "totals" || strings.HasPrefix(section, SectionCheck+"-") {
			all = append(all, section)
		}
	}
	return all
}

// loadSteps are the statements of a batch of the first table, and what comes
// after the last batch.
func (s Schema) loadSteps() ([]filewise.Step, error) {
	columns := fragColumns
	if s.Program.Workload == ordersWorkload {
		columns = workload.OrdersColumns(0)
	}
	load := loadData(own(s.Database, s.Tables[0].Name), "rows of a batch", columns, true)
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
