package store

import (
	"slices"

	"filewise"
	"filewise/experiment"
)

// JudgedBy is how the verdict uses a trial, and the rules by which its family is judged; the
// rules are the same in all rows of a family. What could not be judged has none.
type JudgedBy struct {
	Judged       *bool    `parquet:"judged,optional"`        // the verdict uses it
	Order        *int32   `parquet:"order,optional"`         // in which trials ran, where they ran one by one
	LayoutNumber *int32   `parquet:"layout_number,optional"` // place in the plan, from 1
	Rank         *int32   `parquet:"rank,optional"`          // orders "fewest files"
	Twin         *string  `parquet:"twin,dict,optional"`     // the layout that an A/A check measures again
	Baseline     *string  `parquet:"baseline,dict,optional"`
	MaxBlocks    *int32   `parquet:"max_blocks,optional"`
	Margin       *float64 `parquet:"margin_percent,optional"`
	Confidence   *float64 `parquet:"confidence,optional"`
	Goal         *string  `parquet:"goal,dict,optional"`
	Rules        *int32   `parquet:"rules,optional"`
}

// samplesOf are the tables that the run is judged by; none where it cannot be.
func samplesOf(run Run, trials []filewise.Trial) []experiment.FamilySample {
	if len(run.Plan.Layouts) < 2 {
		return nil
	}
	samples, err := run.Plan.Samples(trials)
	if err != nil {
		return nil // what is exported does not depend on it
	}
	return samples
}

// judgedBy is of a trial's measure. A trial without measures, and one of no family of the
// verdict's, such as the probe before a trial, goes by the first family.
func judgedBy(samples []experiment.FamilySample, margin float64, t filewise.Trial, family string) (by JudgedBy) {
	if len(samples) == 0 {
		return by
	}
	s := samples[0]
	if i := slices.IndexFunc(samples, func(x experiment.FamilySample) bool { return x.Family == family }); i >= 0 {
		s = samples[i]
	}
	for i, arm := range s.Arms {
		if arm.Name != t.Cell.Layout {
			continue
		}
		by.LayoutNumber, by.Rank, by.Twin = int32Of(i+1), int32Of(arm.Rank), some(arm.Twin)
		used := false
		if b := t.Cell.Block - 1; !t.Cell.Pilot && b >= 0 && b < len(s.Table) && t.State == filewise.Done {
			used = s.Table[b][i].OK
			if n := s.Table[b][i].Order; n > 0 {
				by.Order = int32Of(n)
			}
		}
		by.Judged = &used
	}
	confidence := s.Config.Confidence
	by.Baseline, by.MaxBlocks, by.Rules = some(s.Arms[s.Config.Baseline].Name), int32Of(s.Config.MaxBlocks), int32Of(s.Config.Rules)
	by.Margin, by.Confidence, by.Goal = &margin, &confidence, some(string(s.Config.Goal))
	return by
}

func int32Of(n int) *int32 {
	x := int32(n)
	return &x
}
