package experiment

import (
	"fmt"

	"filewise"
	"filewise/verdict"
)

// FamilySample is what the complete blocks of a plan gave in one family of
// operations, for a comparison with another experiment's.
type FamilySample struct {
	Family string
	Config verdict.Config // by which they are judged
	verdict.Sample
	// P99 is the same table with the inverse of each trial's p99 in place of throughput;
	// trials with too few operations have none.
	P99     verdict.Table
	Latency []LayoutLatency
}

// Samples are the complete blocks of the plan's trials, family by family.
func (p Plan) Samples(done []filewise.Trial) ([]FamilySample, error) {
	s := p.standing(done)
	if s.err != nil {
		return nil, fmt.Errorf("judge the trials: %w", s.err)
	}
	var out []FamilySample
	for f, family := range p.families() {
		sample := verdict.Sample{Arms: s.results[f].Arms}
		for b := range s.results[f].Blocks {
			sample.Table = append(sample.Table, s.row(b+1, family))
		}
		p99, _, err := s.history.p99s(s.results[f].Blocks, family)
		if err != nil {
			return nil, err
		}
		latency, err := s.layoutLatencies(s.results[f], family)
		if err != nil {
			return nil, err
		}
		out = append(out, FamilySample{family, s.results[f].Config, sample, p99, latency})
	}
	return out, nil
}
