package study

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/plan"
	"filewise/workload"
)

// over is an experiment with what it does not say itself from what is shared.
func (l *loader) over(shared, special draft) draft {
	out := special
	out.values = maps.Clone(special.values)
	said := map[string]bool{}
	for name := range special.values {
		said[name] = true
	}
	for _, m := range special.matrix {
		said[m.key] = true
	}
	hidden := func(name string) bool {
		o := plan.Find(l.table, name)
		return said[name] || o != nil && said[o.Instead]
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
	if out.Password == "" && !said["target"] {
		out.Password = shared.Password
	}
	if out.Base == "" {
		out.Base = shared.Base
	}
	return out
}

// combine makes an experiment of each combination of the matrix, the last key
// turning fastest.
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

// choice is a value of a matrix, in words.
type choice struct{ key, words string }

// words are a value as the flag has it.
func (l *loader) words(key string, n *node) string {
	o := plan.Find(l.form.options(), key)
	if o == nil || put(*o, n) != nil {
		return n.text
	}
	return strings.Join(o.To.Texts(), "; ")
}

// titles are the names of an experiment without and with what its matrix chose:
// "orders on sqlite, connections 4". Without a name of its own it has its scenario's.
func titles(e Experiment, chosen []choice) (base, name string) {
	base = cmp.Or(e.Base, e.Scenario)
	var scenario, engine, rest string
	for _, v := range chosen {
		switch {
		case v.key == keyScenario && e.Base != "":
			scenario = ", " + v.words
		case v.key == keyScenario: // is in the name
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

// tellApart gives every experiment a name of its own.
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

// first are the keys that an example has at its beginning.
var first = []string{"engine", "target", "files", "size", "connections", "volume", "budget", "seed"}

// Example is a commented study file of a scenario, which runs as it stands. The
// keys that it leaves at their defaults are there as comments.
func Example(f Form, sc workload.Scenario) string {
	custom := ""
	if sc.Name == keyCustom {
		custom = "\n" + customExample
	}
	text := strings.NewReplacer("# NAME: TITLE", "# "+sc.Name+": "+sc.Title, "scenario: NAME", "scenario: "+sc.Name, "ENGINE", f.Engines[0],
		"FILES", strings.Join(filewise.Each(sc.Files, strconv.Itoa), ", "), "CUSTOM\n", custom+"\n").Replace(example)
	for _, k := range ordered(f, sc) {
		text += commented(k, sc)
	}
	return text
}

// ordered are the keys that the scenario understands and the example does not set.
func ordered(f Form, sc workload.Scenario) []plan.Option {
	others := map[string]bool{}
	for _, o := range workload.Scenarios() {
		for _, name := range o.Flags {
			others[name] = !slices.Contains(sc.Flags, name)
		}
	}
	table := f.options()
	var begin, rest []plan.Option
	for _, name := range first {
		if name != keyEngine && name != "files" && name != "target" {
			begin = append(begin, *plan.Find(table, name))
		}
	}
	for _, o := range table {
		if !others[o.Name] && !slices.Contains(first, o.Name) {
			rest = append(rest, o)
		}
	}
	slices.SortFunc(rest, func(a, b plan.Option) int { return strings.Compare(a.Name, b.Name) })
	return slices.Concat(begin, rest, f.Once)
}

// commented is a key as a comment: what it says, then how it is written.
func commented(o plan.Option, sc workload.Scenario) string {
	var b strings.Builder
	b.WriteString("\n")
	for _, l := range wrapped(strings.ReplaceAll(o.Usage, "`", ""), 84) {
		b.WriteString("# " + l + "\n")
	}
	b.WriteString("#" + o.Name + ":" + sample(o, sc) + "\n")
	return b.String()
}

// sample is a value of the key, its default where there is one.
func sample(o plan.Option, sc workload.Scenario) string {
	switch o.Name {
	case "connections":
		return " " + strconv.Itoa(sc.Params.Connections)
	case "size":
		return fmt.Sprintf(" %dMiB", sc.Bytes>>20)
	}
	switch o.To.Pointer().(type) {
	case *[]plan.Pair:
		return " {name: value}"
	case *[]plan.LayoutSpec:
		return "\n#  - {files: 1}\n#  - {files: 8, name: mine}"
	case *[]int:
		return " [1, 4, 8]"
	case *[]string:
		return "\n#  - …"
	}
	switch {
	case o.Default != "":
		return " " + o.Default
	case len(o.Choices) > 0:
		return " " + o.Choices[0]
	}
	return " …"
}

// wrapped divides a text into lines of at most so many letters.
func wrapped(text string, most int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > most {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// example is what all have in common; customExample runs on every engine that workload custom
// is for.
var (
	//go:embed example.txt
	example string
	//go:embed example_custom.yaml
	customExample string
)
