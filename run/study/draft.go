package study

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"filewise/run/plan"
)

// over returns an experiment that takes missing keys from the shared part.
func (l *loader) over(shared, special draft) draft {
	out := special
	out.values = maps.Clone(special.values)
	shown := map[string]bool{}
	for name := range special.values {
		shown[name] = true
	}
	for _, m := range special.matrix {
		shown[m.key] = true
	}
	hidden := func(name string) bool {
		o := plan.Find(l.table, name)
		return shown[name] || o != nil && shown[o.Instead]
	}
	for name, v := range shared.values {
		if !hidden(name) {
			out.values[name] = v
		}
	}
	out.matrix = nil
	for _, m := range shared.matrix {
		if !hidden(m.key) {
			out.matrix = append(out.matrix, m)
		}
	}
	out.matrix = append(out.matrix, special.matrix...)
	if out.Custom == nil {
		out.Custom = shared.Custom
	}
	if out.Password == "" && !shown["target"] {
		out.Password = shared.Password
	}
	if out.Base == "" {
		out.Base = shared.Base
	}
	return out
}

// combine returns an experiment for each combination of the matrix. The last key changes fastest.
func (l *loader) combine(d draft) ([]Experiment, error) {
	total := 1
	for _, m := range d.matrix {
		if total *= len(m.values); total > maxExperiments {
			return nil, l.wrong(m.place, "make the matrix smaller, or several files", "the matrix comes to more than %d experiments", maxExperiments)
		}
	}
	var all []Experiment
	for n := range total {
		e := d.Experiment
		e.values = maps.Clone(d.values)
		var chosen []choice
		rest, size := n, total
		for _, m := range d.matrix {
			size /= len(m.values)
			v := m.values[rest/size]
			rest %= size
			e.values[m.key] = v
			chosen = append(chosen, choice{m.key, l.words(m.key, v)})
		}
		e.Scenario = ""
		if v := e.values[keyScenario]; v != nil {
			e.Scenario = v.text
		}
		if e.Scenario == "" && e.Custom != nil {
			e.Scenario = keyCustom
		}
		if e.Scenario != keyCustom {
			e.Custom = nil
		}
		e.Base, e.Name = titles(e, chosen)
		all = append(all, e)
	}
	return all, nil
}

// choice is a chosen value of a matrix, in words.
type choice struct{ key, words string }

// words returns a value in the form that the flag takes.
func (l *loader) words(key string, n *node) string {
	o := plan.Find(l.form.options(), key)
	if o == nil || put(*o, n) != nil {
		return n.text
	}
	return strings.Join(o.To.Texts(), "; ")
}

// titles returns an experiment's name without and with its choices from the matrix: "orders on sqlite, connections 4".
// If the experiment has no name, its scenario's name is used.
func titles(e Experiment, chosen []choice) (base, name string) {
	base = cmp.Or(e.Base, e.Scenario)
	var scenario, engine, rest string
	for _, v := range chosen {
		switch {
		case v.key == keyScenario && e.Base != "":
			scenario = ", " + v.words
		case v.key == keyScenario: // the name contains it already
		case v.key == keyEngine:
			engine = " on " + v.words
		default:
			rest += ", " + v.key + " " + v.words
		}
	}
	if scenario+engine+rest == "" {
		return base, base
	}
	return base, cmp.Or(base, Unnamed) + scenario + engine + rest
}

// tellApart makes the experiments' names distinct.
func tellApart(all []Experiment) {
	count := map[string]int{}
	for i := range all {
		e := &all[i]
		if e.Name == "" {
			e.Name = Unnamed
		}
		name := e.Name
		if count[name]++; count[name] > 1 {
			e.Name = fmt.Sprintf("%s #%d", name, count[name])
		}
	}
}
