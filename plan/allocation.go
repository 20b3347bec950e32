package plan

import (
	"errors"
	"slices"

	"filewise"
)

// settleAllocation decides how files are allocated where the user does not say:
// preallocated where the engine can do that with the kind, else growing. It is
// the one place that decides. Only scripts are rendered.
func (m *maker) settleAllocation(arms []arm) error {
	program, err := m.program()
	if err != nil {
		return err
	}
	try := func(l filewise.Layout) (filewise.Script, error) {
		return m.Engine.Script(InScratch(m.plan.Target), l, program)
	}
	decided := map[filewise.Kind]filewise.Allocation{}
	for i := range arms {
		a := &arms[i]
		if !a.allocationGiven {
			if _, ok := decided[a.Kind]; !ok {
				decided[a.Kind] = allocationOf(a.Layout, try)
			}
			a.Data.Allocation = decided[a.Kind]
		}
		if a.Data.Allocation != filewise.Growing {
			if a.growthGiven {
				return badUse("growth", m.o.Growth.Value, "preallocated files do not grow: add --allocation growing, or leave it out")
			}
			a.Data.Growth = 0
			continue
		}
		if a.Data.Growth == 0 {
			if a.Data.Growth, err = bytesOf("growth", m.o.Growth.Value); err != nil {
				return err
			}
		}
		switch itself := growsByItself(a.Layout, try); {
		case itself && m.o.Growth.Given():
			return badUse("growth", m.o.Growth.Value, "leave it out: "+m.Engine.Name()+" itself decides by how much such files grow")
		case itself && !a.growthGiven:
			a.Data.Growth = 0
		}
	}
	return nil
}

// allocationOf is what the engine can do for a layout. Where it can do neither,
// the refusal that is left is not about allocation.
func allocationOf(l filewise.Layout, try func(filewise.Layout) (filewise.Script, error)) filewise.Allocation {
	l.Data.Allocation, l.Data.Growth = filewise.Preallocated, 0
	_, err := try(l)
	if err == nil || !errors.Is(err, filewise.ErrUnsupported) {
		return filewise.Preallocated
	}
	l.Data.Allocation = filewise.Growing
	if _, other := try(l); other != nil && other.Error() == err.Error() {
		return filewise.Preallocated
	}
	return filewise.Growing
}

// growsByItself tells whether the engine itself decides by how much files grow.
func growsByItself(l filewise.Layout, try func(filewise.Layout) (filewise.Script, error)) bool {
	s, err := try(l)
	if errors.Is(err, filewise.ErrUnsupported) { // perhaps because of the step
		l.Data.Growth = 0
		_, err = try(l)
		return err == nil
	}
	return slices.ContainsFunc(s.Warnings, func(w filewise.Warning) bool { return w.Code == "growth-not-used" })
}
