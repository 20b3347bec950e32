package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/internal/nearest"
)

// layoutKeys are the keys of --layout.
var layoutKeys = []string{"files", "kind", "placement", "allocation", "growth", "log", "indexes", "index-volume", "name"}

// LayoutSpec is a layout in full, by keys: what it leaves open is as the other
// options say.
type LayoutSpec []Pair

func (s LayoutSpec) String() string { return strings.Join(filewise.Each(s, Pair.String), ",") }

// ParseLayout reads files=8,kind=partitions,… A part without a key belongs to the
// value before it: names may hold commas.
func ParseLayout(text string) (LayoutSpec, error) {
	var spec LayoutSpec
	for part := range strings.SplitSeq(text, ",") {
		p := ParsePair(part)
		p.Name = strings.TrimSpace(p.Name)
		switch {
		case !p.Bare && slices.Contains(layoutKeys, p.Name):
			if slices.ContainsFunc(spec, func(o Pair) bool { return o.Name == p.Name }) {
				return nil, badLayout(text, "give each key once", "%s is given twice", p.Name)
			}
			spec = append(spec, Pair{Name: p.Name, Value: strings.TrimSpace(p.Value)})
		case !p.Bare:
			return nil, badLayout(text, nearest.Remedy(p.Name, layoutKeys), "key %q is unknown", p.Name)
		case len(spec) > 0 && spec[len(spec)-1].Name == "name":
			spec[len(spec)-1].Value += "," + part
		default:
			return nil, badLayout(text, "give it as files=8,kind=partitions", "%q is no KEY=VALUE", part)
		}
	}
	return spec, nil
}

func badLayout(text, remedy, format string, args ...any) error {
	return filewise.Errorf(filewise.CodeUsage, remedy, "--layout %q: %s", text, fmt.Sprintf(format, args...))
}

// inFull makes the layouts that are given one by one.
func (m *maker) inFull(base filewise.Layout) ([]arm, error) {
	arms := make([]arm, len(m.o.Layouts.Value))
	for i, spec := range m.o.Layouts.Value {
		arms[i] = arm{base, m.o.Allocation.Given(), m.o.Growth.Given()}
		if err := m.follow(spec, &arms[i]); err != nil {
			return nil, err
		}
		if err := checkApart(arms[i].Layout, m.plan.Target.Volumes, "log", "index-volume"); err != nil {
			return nil, err
		}
	}
	nameArms(arms)
	rankArms(arms)
	return arms, nil
}

// follow makes the arm as the keys say.
func (m *maker) follow(spec LayoutSpec, a *arm) error {
	a.Name = ""
	for _, p := range spec {
		if err := m.setKey(a, p.Name, p.Value); err != nil {
			return err
		}
	}
	if a.Data.Files == 0 {
		return badLayout(spec.String(), "add files=N", "it does not say how many files it has")
	}
	if a.growthGiven && a.allocationGiven && a.Data.Allocation == filewise.Preallocated {
		return badLayout(spec.String(), "add allocation=growing, or leave growth out", "preallocated files do not grow")
	}
	return nil
}

func (m *maker) setKey(a *arm, key, value string) (err error) {
	switch key {
	case "files":
		if a.Data.Files, err = strconv.Atoi(value); err != nil || a.Data.Files < 1 {
			return BadValue("layout files="+value, "", "give a whole number from 1")
		}
	case "kind":
		a.Kind, err = Choice("layout kind=", value, m.Kinds()...)
	case "placement":
		a.Data.Placement, err = Choice("layout placement=", value, filewise.PlaceOne, filewise.PlaceRoundRobin)
	case "allocation":
		a.allocationGiven = true
		a.Data.Allocation, err = Choice("layout allocation=", value, filewise.Preallocated, filewise.Growing)
	case "growth":
		a.growthGiven = true
		a.Data.Growth, err = bytesOf("layout growth=", value)
	case "log":
		a.LogVolume = value
	case "indexes":
		a.Indexes, err = Choice("layout indexes=", value, filewise.IndexesTogether, filewise.IndexesApart)
	case "index-volume":
		a.IndexVolume = value
	case "name":
		control := func(r rune) bool { return r < ' ' || r == 0x7f }
		if value == "" || len(value) > 60 || strings.ContainsFunc(value, control) {
			return BadValue("layout name="+strconv.Quote(value), "", "give a name of 1 to 60 bytes in one line")
		}
		a.Name = value
	}
	return err
}
