package experiment

import (
	"fmt"
	"slices"

	"filewise"
)

// again is what a layout's twin is called after its name.
const again = " again"

// WithAA is the plan with the baseline twice, the second time under another name:
// what differs between the two is what this machine makes of nothing. An error
// wraps nothing but says which layout is in the way.
func (p Plan) WithAA() (Plan, error) {
	base, err := p.layout(p.Baseline)
	if err != nil {
		return p, err
	}
	twin := base
	twin.Name += again
	if _, err := p.layout(twin.Name); err == nil {
		return p, fmt.Errorf("there is a layout %q already", twin.Name)
	}
	p.Layouts = append(slices.Clone(p.Layouts), twin)
	p.AA = twin.Name
	return p, nil
}

// twinOf is the layout that l is built like.
func (p Plan) twinOf(l filewise.Layout) string {
	for _, other := range p.Layouts {
		if other.Name != l.Name && other.Name+again == l.Name {
			return other.Name
		}
	}
	return ""
}
