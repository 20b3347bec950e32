package oracle

import (
	"slices"

	"filewise"
	"filewise/internal/marker"
)

// Statements describes what a build would create and execute. It does not connect, so it assumes the usual block size, and
// shows a stand-in for the build's name.
func (Engine) Statements(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Statements, error) {
	p.Phases = slices.Clone(p.Phases)
	p.Phases[0].Args = nil // the long random text from which payloads are cut is not needed
	d, err := newDesign(t, l, p, planNames(l.Indexes == filewise.IndexesApart), usualBlock)
	if err != nil {
		return filewise.Statements{}, err
	}
	s := filewise.Statements{Space: d.space(), Warnings: d.warnings}
	for _, f := range append(d.files[:len(d.files):len(d.files)], d.index...) {
		s.Files = append(s.Files, f.asked())
	}
	steps, err := d.steps(func(string) (string, error) { return planMarker, nil })
	s.Steps = steps.Plan(nil)
	return s, err
}

// planMarker is shown in plans for the marker.
const planMarker = "(Filewise's marker of " + marker.PlanName + ")"
