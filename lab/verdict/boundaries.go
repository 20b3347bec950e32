package verdict

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"filewise/lab/verdict/internal/boundary"
)

//go:generate go run ./internal/genboundaries -rules 1 -o boundaries_table.txt
//go:generate go run ./internal/genboundaries -rules 2 -o boundaries_table2.txt

// Limits of what is simulated while the caller waits. At these limits it takes minutes, at usual sizes a second or two.
const (
	maxBoundaryArms   = 64
	maxBoundaryBlocks = 500
	maxPlannedBlocks  = 1000 // of rules 3, whose boundaries are integrated in a second or two
	simulations       = 200_000
	simulationSeed    = 1
)

// Boundaries holds the critical values of one design, one per analysis from block 3: how many standard errors an estimate
// may be away from the truth. From rules 2 on they are normal scores; each contrast then has its own critical value of
// the same probability. They hold simultaneously over arms and analyses.
type Boundaries struct {
	TwoSided []float64 `json:"two_sided"` // c₂, against the baseline; infinite until the first claim
	OneSided []float64 `json:"one_sided"` // c₁, against the best
	// The same for pairs judged by their own spread (from rules 2 on).
	OwnTwoSided []float64 `json:"own_two_sided,omitempty"`
	OwnOneSided []float64 `json:"own_one_sided,omitempty"`
}

// at returns the critical values after block n. They are NaN before the first analysis and before the first claim.
func (b Boundaries) at(n int) (two, one float64) { return at(n, b.TwoSided, b.OneSided) }

// ownAt returns the critical values after block n for pairs judged by their own spread.
func (b Boundaries) ownAt(n int) (two, one float64) { return at(n, b.OwnTwoSided, b.OwnOneSided) }

func at(n int, twoSided, oneSided []float64) (two, one float64) {
	if n < FirstAnalysis || len(twoSided) == 0 {
		return math.NaN(), math.NaN()
	}
	i := min(n-FirstAnalysis, len(twoSided)-1)
	if two, one = twoSided[i], oneSided[i]; !finite(two) {
		two = math.NaN()
	}
	if !finite(one) {
		one = math.NaN()
	}
	return two, one
}

func (b Boundaries) clone() Boundaries {
	return Boundaries{TwoSided: slices.Clone(b.TwoSided), OneSided: slices.Clone(b.OneSided),
		OwnTwoSided: slices.Clone(b.OwnTwoSided), OwnOneSided: slices.Clone(b.OwnOneSided)}
}

// firstClaim returns the first block with intervals.
func (b Boundaries) firstClaim() int {
	for i, c := range b.TwoSided {
		if finite(c) {
			return FirstAnalysis + i
		}
	}
	return FirstAnalysis
}

// claimsAt reports whether anything is claimed after n blocks. Few blocks claim nothing.
func (b Boundaries) claimsAt(n int) bool {
	two, _ := b.at(n)
	return finite(two)
}

// BoundariesFor returns the boundaries for a number of arms, a maximum of blocks and a confidence. By rules 3 they are
// integrated, for any design of up to 1,000 blocks. By earlier rules, tables in the code hold them for 95 %, 2–12 arms
// (rules 1: 2–8) and 3–30 blocks. By rules 2 the tables also hold 13–32 arms (settings of backups) and 20 blocks.
// Otherwise they come from a simulation of 200,000 null experiments with a fixed seed, run once per process. It returns
// an error wrapping ErrConfig for designs that allow no analysis or exceed these limits.
func BoundariesFor(rules, arms, maxBlocks int, confidence float64) (Boundaries, error) {
	return Config{Rules: rules, MaxBlocks: maxBlocks, Confidence: confidence}.boundaries(arms)
}

// MostBlocks returns the largest number of blocks that an experiment may have by a version of the rules.
func MostBlocks(rules int) int {
	if rules < 3 {
		return maxBoundaryBlocks
	}
	return maxPlannedBlocks
}

// Design holds boundaries together with the inputs they follow from, to be stored.
type Design struct {
	Arms       int         `json:"arms"`
	MaxBlocks  int         `json:"max_blocks"`
	Extended   []Extension `json:"extended,omitempty"`
	Confidence float64     `json:"confidence"`
	// The boundaries start at block First. Nothing is claimed before that block.
	First int `json:"first_block"`
	Boundaries
}

// Design returns the config's boundaries for that many arms. Storing them is worthwhile for an experiment of hundreds
// of blocks by rules 3, for which computing takes a second. Errors wrap ErrConfig.
func (c Config) Design(arms int) (Design, error) {
	b, err := c.boundaries(arms)
	if err != nil {
		return Design{}, err
	}
	d := Design{Arms: arms, MaxBlocks: c.MaxBlocks, Extended: c.Extended, Confidence: c.Confidence, First: b.firstClaim()}
	for to, from := range map[*[]float64][]float64{&d.TwoSided: b.TwoSided, &d.OneSided: b.OneSided, &d.OwnTwoSided: b.OwnTwoSided,
		&d.OwnOneSided: b.OwnOneSided} {
		*to = from[min(d.First-FirstAnalysis, len(from)):]
	}
	return d, nil
}

// Knows reports whether Known holds the config's boundaries for that many arms.
func (c Config) Knows(arms int) bool {
	_, ok := c.known(arms)
	return ok
}

// known returns the config's boundaries if Known holds them.
func (c Config) known(arms int) (Boundaries, bool) {
	for _, d := range c.Known {
		same := d.Arms == arms && d.MaxBlocks == c.MaxBlocks && d.Confidence == c.Confidence && slices.Equal(d.Extended, c.Extended)
		if c.Rules < 3 || !same || len(d.TwoSided) != c.MaxBlocks-d.First+1 {
			continue
		}
		var b Boundaries
		for to, from := range map[*[]float64][]float64{&b.TwoSided: d.TwoSided, &b.OneSided: d.OneSided, &b.OwnTwoSided: d.OwnTwoSided,
			&b.OwnOneSided: d.OwnOneSided} {
			if len(from) > 0 {
				*to = append(slices.Repeat([]float64{math.Inf(1)}, d.First-FirstAnalysis), from...)
			}
		}
		return b, true
	}
	return Boundaries{}, false
}

func (c Config) boundaries(arms int) (Boundaries, error) {
	if b, ok := c.known(arms); ok {
		return b, nil
	}
	rules, maxBlocks, confidence, most := c.Rules, c.MaxBlocks, c.Confidence, MostBlocks(c.Rules)
	switch {
	case maxBlocks < FirstAnalysis:
		return Boundaries{}, fmt.Errorf("%w: at most %d blocks: the first interim analysis is possible after block %d",
			ErrConfig, maxBlocks, FirstAnalysis)
	case arms < 2 || arms > maxBoundaryArms || maxBlocks > most:
		return Boundaries{}, fmt.Errorf("%w: boundaries exist for 2–%d arms and up to %d blocks, not for %d and %d",
			ErrConfig, maxBoundaryArms, most, arms, maxBlocks)
	case !(confidence > 0 && confidence < 1):
		return Boundaries{}, fmt.Errorf("%w: confidence %v: must be between 0 and 1", ErrConfig, confidence)
	}
	if rules > 2 {
		return c.integrated(arms), nil
	}
	if math.Abs(confidence-0.95) < 1e-12 {
		if b, ok := printed(rules, arms, maxBlocks); ok {
			return b.clone(), nil
		}
	}
	return simulated(simulatedKey{rules, arms, maxBlocks, confidence}).clone(), nil
}

type simulatedKey struct {
	rules, arms, maxBlocks int
	confidence             float64
}

// memo caches computed boundaries, because a live display judges after each block.
var memo sync.Map // simulatedKey or integratedKey → func() Boundaries

func rulesOf(rules int) boundary.Rules {
	switch {
	case rules == 1:
		return boundary.Rules1
	case rules < 3:
		return boundary.Rules2
	}
	return boundary.Rules3
}

type integratedKey struct {
	arms       int
	stages     string
	confidence float64
}

// integrated returns the boundaries of rules 3.
func (c Config) integrated(arms int) Boundaries {
	stages := c.stages()
	key := integratedKey{arms, fmt.Sprint(stages), c.Confidence}
	compute := sync.OnceValue(func() Boundaries {
		return Boundaries(rulesOf(c.Rules).Integrate(arms, stages, 1-c.Confidence))
	})
	once, _ := memo.LoadOrStore(key, compute)
	return once.(func() Boundaries)().clone()
}

// stages returns the successive plans of the experiment: one before each extension, and the present one.
func (c Config) stages() []boundary.Stage {
	var out []boundary.Stage
	after := 0
	for _, e := range c.Extended {
		out = append(out, boundary.Stage{After: after, MaxBlocks: e.MaxBlocks})
		after = e.After
	}
	return append(out, boundary.Stage{After: after, MaxBlocks: c.MaxBlocks})
}

func simulated(key simulatedKey) Boundaries {
	compute := sync.OnceValue(func() Boundaries {
		t := rulesOf(key.rules).Simulate(key.arms, []int{key.maxBlocks}, 1-key.confidence, simulations, simulationSeed)[0]
		return Boundaries(t)
	})
	once, _ := memo.LoadOrStore(key, compute)
	return once.(func() Boundaries)()
}
