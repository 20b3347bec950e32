package study

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/nearest"
	"filewise/workload"
)

// maxExperiments bounds what a matrix comes to.
const maxExperiments = 500

// Study is what a file says.
type Study struct {
	File        string // as it was named
	Once        []Value
	Experiments []Experiment
	// Secrets are all texts of the file and of its variables that nothing may show;
	// they are there also when Load returns an error.
	Secrets []filewise.Secret

	source source
}

// Experiment is one of a study, the shared keys and the matrix in it.
type Experiment struct {
	// Name tells it from the others of the file; Base is that without what the
	// matrix says of it.
	Name, Base string
	Scenario   string // may be empty: the usual one
	Place      Place
	Values     []Value          // in the order of the table
	Custom     *workload.Custom // nil: none is given
	Password   filewise.Secret  // of the target; may be empty
}

// Value is what a key was given.
type Value struct {
	Key   string
	Texts []string // that the flag is set to, one after the other
	Place Place
}

// Value is that of a key.
func (e Experiment) Value(key string) (Value, bool) {
	i := slices.IndexFunc(e.Values, func(v Value) bool { return v.Key == key })
	if i < 0 {
		return Value{}, false
	}
	return e.Values[i], true
}

// At says of an error of another layer where in the file its cause stands.
func (s Study) At(p Place, err error) error { return s.source.at(p, err) }

// Unnamed is the name of an experiment that has none.
const Unnamed = "experiment"

// Load reads a study file. Errors have CodeUsage, and name file, line and column.
// getenv looks a variable up, as os.LookupEnv does.
func Load(path string, t Table, getenv func(string) (string, bool)) (Study, error) {
	f, err := os.Open(path)
	if err != nil {
		return Study{File: path}, filewise.Errorf(filewise.CodeUsage, `give the path of a study file; "filewise init" writes one`, "study file %s: %w", path, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return Study{File: path}, filewise.Errorf(filewise.CodeUsage, "give the path of a readable file", "study file %s: %w", path, err)
	}
	return Parse(path, text, t, getenv)
}

// Parse reads the text of a study file.
func Parse(path string, text []byte, t Table, getenv func(string) (string, bool)) (Study, error) {
	l := &loader{source: newSource(path, text), table: t, getenv: getenv, dir: filepath.Dir(path)}
	out := Study{File: path, source: l.source}
	root, err := read(l.source, text)
	if err == nil {
		out.Once, out.Experiments, err = l.load(root)
	}
	out.Secrets = l.secrets
	return out, err
}

// loader makes experiments of nodes.
type loader struct {
	source
	table   Table
	getenv  func(string) (string, bool)
	dir     string
	secrets []filewise.Secret
}

func (l *loader) load(root *node) ([]Value, []Experiment, error) {
	spec := l.table.file()
	if err := l.expand(root, spec); err != nil {
		return nil, nil, err
	}
	if err := l.check("the study", root, spec); err != nil {
		return nil, nil, err
	}
	var once []Value
	for _, k := range l.table.Keys {
		if n := root.field(k.Name); n != nil && k.Once {
			once = append(once, l.value(k, n))
		}
	}
	shared, err := l.draft(root)
	if err != nil {
		return nil, nil, err
	}
	drafts := []draft{shared}
	if list := root.field(keyExperiments); list != nil {
		drafts = nil
		for _, n := range list.items {
			own, err := l.draft(n)
			if err != nil {
				return nil, nil, err
			}
			drafts = append(drafts, l.over(shared, own))
		}
	}
	var all []Experiment
	for _, d := range drafts {
		some, err := l.combine(d)
		if err != nil {
			return nil, nil, err
		}
		if all = append(all, some...); len(all) > maxExperiments {
			return nil, nil, l.wrong(d.Place, "make a matrix smaller, or several files", "the file comes to more than %d experiments", maxExperiments)
		}
	}
	tellApart(all)
	return once, all, nil
}

// draft is an experiment before its matrix is multiplied out.
type draft struct {
	Experiment
	values map[string]Value
	matrix []dimension
}

// dimension is a key of a matrix with its values.
type dimension struct {
	key    string
	place  Place
	values []*node
}

func (l *loader) value(k Key, n *node) Value {
	return Value{Key: k.Name, Texts: k.spec().values(n), Place: n.place}
}

// draft reads what stands in one place.
func (l *loader) draft(n *node) (draft, error) {
	d := draft{values: map[string]Value{}}
	d.Place = n.place
	if x := n.field(keyName); x != nil {
		d.Base = strings.TrimSpace(x.text)
		if d.Base == "" || len(d.Base) > 80 || strings.ContainsAny(d.Base, "\n\t") {
			return d, l.wrong(x.place, "give a name of 1 to 80 bytes in one line", "name %q is not possible", x.text)
		}
	}
	if x := n.field(keyScenario); x != nil {
		d.Scenario, d.values[keyScenario] = x.text, Value{Key: keyScenario, Texts: []string{x.text}, Place: x.place}
	}
	if x := n.field(keyPassword); x != nil {
		d.Password = filewise.Secret(x.text)
	}
	for _, k := range l.table.Keys {
		if x := n.field(k.Name); x != nil && !k.Once {
			d.values[k.Name] = l.value(k, x)
		}
	}
	if x := n.field(keyMatrix); x != nil {
		for _, f := range x.fields {
			if _, twice := d.values[f.name]; twice {
				return d, l.wrong(f.place, "give it in one of the two places", "%s stands beside the matrix and in it", f.name)
			}
			d.matrix = append(d.matrix, dimension{f.name, f.place, f.value.items})
		}
	}
	if x := n.field(keyCustom); x != nil {
		custom, err := l.custom(x)
		if err != nil {
			return d, err
		}
		d.Custom = custom
	}
	return d, nil
}

// over is an experiment with what it does not say itself from what is shared.
func (l *loader) over(shared, own draft) draft {
	out := own
	out.values = map[string]Value{}
	said := map[string]bool{}
	for name := range own.values {
		said[name] = true
	}
	for _, m := range own.matrix {
		said[m.key] = true
	}
	hidden := func(name string) bool {
		k := l.table.key(name)
		return said[name] || k != nil && k.Instead != "" && said[k.Instead]
	}
	for name, v := range shared.values {
		if !hidden(name) {
			out.values[name] = v
		}
	}
	for name, v := range own.values {
		out.values[name] = v
	}
	out.matrix = nil
	for _, m := range shared.matrix {
		if !hidden(m.key) {
			out.matrix = append(out.matrix, m)
		}
	}
	out.matrix = append(out.matrix, own.matrix...)
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
		values := map[string]Value{}
		for name, v := range d.values {
			values[name] = v
		}
		var chosen []Value
		rest, size := n, total
		for _, m := range d.matrix {
			size /= len(m.values)
			v := m.values[rest/size]
			rest %= size
			key := Key{Name: m.key, Type: Text}
			if k := l.table.key(m.key); k != nil {
				key = *k
			}
			values[m.key] = l.value(key, v)
			chosen = append(chosen, values[m.key])
		}
		e.Scenario = ""
		if v, ok := values[keyScenario]; ok {
			e.Scenario = v.Texts[0]
		}
		if e.Scenario == "" && e.Custom != nil {
			e.Scenario = keyCustom
		}
		if e.Scenario != keyCustom {
			e.Custom = nil
		}
		e.Base, e.Name = titles(e, chosen)
		for _, k := range l.table.Keys {
			if v, ok := values[k.Name]; ok {
				e.Values = append(e.Values, v)
			}
		}
		all = append(all, e)
	}
	return all, nil
}

// titles are the names of an experiment without and with what its matrix chose:
// "orders on sqlite, connections 4". Without a name of its own it has its scenario's.
func titles(e Experiment, chosen []Value) (base, name string) {
	base = cmp.Or(e.Base, e.Scenario)
	var scenario, engine, rest string
	for _, v := range chosen {
		switch text := strings.Join(v.Texts, "; "); {
		case v.Key == keyScenario && e.Base != "":
			scenario = ", " + text
		case v.Key == keyScenario: // is in the name
		case v.Key == keyEngine:
			engine = " on " + text
		default:
			rest += ", " + v.Key + " " + text
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

// Only are the experiments of these names, whole or without what the matrix says.
// The error names the nearest known one.
func (s Study) Only(names []string) ([]Experiment, error) {
	if len(names) == 0 {
		return s.Experiments, nil
	}
	var known []string
	for _, e := range s.Experiments {
		for _, name := range []string{e.Base, e.Name} {
			if name != "" && !slices.Contains(known, name) {
				known = append(known, name)
			}
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, nearest.Unknown("--only", name, known)
		}
	}
	var out []Experiment
	for _, e := range s.Experiments {
		if slices.Contains(names, e.Name) || slices.Contains(names, e.Base) {
			out = append(out, e)
		}
	}
	return out, nil
}
