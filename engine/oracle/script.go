package oracle

import (
	"slices"

	"filewise"
	"filewise/internal/mark"
)

// Script describes what a build would create and execute. It connects to nothing, so it
// has blocks of the usual size, and a name that stands for the build's.
func (Engine) Script(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	if t.Database != "" {
		return rmanScript(t, l, p)
	}
	p.Phases = slices.Clone(p.Phases)
	p.Phases[0].Args = nil // the long text that payloads are cut from, of random letters
	d, err := newDesign(t, l, p, planNames(l.Indexes == filewise.IndexesApart), usualBlock)
	if err != nil {
		return filewise.Script{}, err
	}
	s := filewise.Script{Space: d.space(), Warnings: d.warnings}
	for _, f := range append(d.files[:len(d.files):len(d.files)], d.index...) {
		s.Files = append(s.Files, f.asked())
	}
	steps, err := d.steps(func(string) (string, error) { return planMark, nil })
	s.Steps = steps.Plan(nil)
	return s, err
}

// planMark stands in plans for the mark.
const planMark = "(Filewise's mark of " + mark.PlanName + ")"
