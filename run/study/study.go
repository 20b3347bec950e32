package study

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/internal/nearest"
	"filewise/lab/workload"
	"filewise/run/plan"
)

// maxExperiments is the most experiments that a matrix may produce.
const maxExperiments = 500

// Study holds the contents of a study file.
type Study struct {
	File        string // as the user named it
	Experiments []Experiment
	// Secrets holds all texts of the file and its variables that must never be shown. It is set even if Load returns an
	// error.
	Secrets []filewise.Secret
	// Scripts holds the texts of the SQL files that the study names, for Form.Scripts on another host.
	Scripts map[string]string

	once   values
	source source
}

// Experiment is one experiment of a study, with the shared keys and its choices from the matrix.
type Experiment struct {
	// Name identifies the experiment within the file. Base is the name without the matrix's part.
	Name, Base string
	Scenario   string // empty means the default
	Place      Place
	Custom     *workload.Custom // nil means none
	Password   filewise.Secret  // of the target; may be empty

	values values
}

// values maps keys to their nodes.
type values map[string]*node

// Key returns the place of a key of the experiment. It returns false if the key is not given.
func (e Experiment) Key(key string) (Place, bool) {
	n := e.values[key]
	if n == nil {
		return Place{}, false
	}
	return n.place, true
}

// Fill sets options from the experiment. It skips options that are given, or that exclude a given one.
func (s Study) Fill(table []plan.Option, e Experiment) error { return s.fill(table, e.values) }

// FillOnce sets options from the settings that the file gives for all of its experiments.
func (s Study) FillOnce(table []plan.Option) error { return s.fill(table, s.once) }

func (s Study) fill(table []plan.Option, from values) error {
	given := map[string]bool{}
	for _, o := range table {
		given[o.Name] = o.To.Given()
	}
	for _, o := range table {
		n := from[o.Name]
		if n == nil || given[o.Name] || given[o.Instead] {
			continue
		}
		if err := put(o, n); err != nil {
			return s.At(n.place, err)
		}
	}
	return nil
}

// At adds to an error of another package the place of its cause in the file.
func (s Study) At(p Place, err error) error { return s.source.at(p, err) }

// Unnamed is the name of an experiment without one.
const Unnamed = "experiment"

// Load reads a study file. Errors have CodeUsage, and name file, line and column. getenv looks up a variable, like
// os.LookupEnv.
func Load(path string, f Form, getenv func(string) (string, bool)) (Study, error) {
	file, err := filesystem.Open(path)
	if err != nil {
		return Study{File: path}, filewise.Errorf(filewise.CodeUsage, `give the path of a study file; "filewise init" writes one`,
			"study file %s: %w", path, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err != nil {
		return Study{File: path}, filewise.Errorf(filewise.CodeUsage, "give the path of a readable file", "study file %s: %w", path, err)
	}
	return Parse(path, text, f, getenv)
}

// Parse reads the text of a study file.
func Parse(path string, text []byte, f Form, getenv func(string) (string, bool)) (Study, error) {
	l := &loader{source: newSource(path, text), form: f, table: f.options(), getenv: getenv, dir: filepath.Dir(path),
		scripts: map[string]string{}}
	out := Study{File: path, source: l.source}
	root, err := read(l.source, text)
	if err == nil {
		out.once, out.Experiments, err = l.load(root)
	}
	out.Secrets, out.Scripts = l.secrets, l.scripts
	return out, err
}

// loader turns nodes into experiments.
type loader struct {
	source
	form    Form
	table   []plan.Option
	getenv  func(string) (string, bool)
	dir     string
	secrets []filewise.Secret
	scripts map[string]string
}

func (l *loader) load(root *node) (values, []Experiment, error) {
	spec := l.form.file()
	if err := l.expand(root, spec); err != nil {
		return nil, nil, err
	}
	if err := l.check("the study", root, spec); err != nil {
		return nil, nil, err
	}
	once := values{}
	for _, o := range l.form.Once {
		once.add(o.Name, root)
	}
	shared, err := l.draft(root)
	if err != nil {
		return nil, nil, err
	}
	drafts := []draft{shared}
	if list := root.field(keyExperiments); list != nil {
		drafts = nil
		for _, n := range list.items {
			said, err := l.draft(n)
			if err != nil {
				return nil, nil, err
			}
			drafts = append(drafts, l.over(shared, said))
		}
	}
	var all []Experiment
	for _, d := range drafts {
		some, err := l.combine(d)
		if err != nil {
			return nil, nil, err
		}
		if all = append(all, some...); len(all) > maxExperiments {
			return nil, nil, l.wrong(d.Place, "make a matrix smaller, or several files", "the file comes to more than %d experiments",
				maxExperiments)
		}
	}
	tellApart(all)
	return once, all, nil
}

// draft is an experiment before its matrix is combined.
type draft struct {
	Experiment
	matrix []dimension
}

// dimension is a key of a matrix with its values.
type dimension struct {
	key    string
	place  Place
	values []*node
}

// add adds a key if it is given.
func (v values) add(key string, from *node) {
	if n := from.field(key); n != nil {
		v[key] = n
	}
}

// draft reads an experiment from one place of the file.
func (l *loader) draft(n *node) (draft, error) {
	d := draft{Experiment: Experiment{Place: n.place, values: values{}}}
	if x := n.field(keyName); x != nil {
		d.Base = strings.TrimSpace(x.text)
		if d.Base == "" || len(d.Base) > 80 || strings.ContainsAny(d.Base, "\n\t") {
			return d, l.wrong(x.place, "give a name of 1 to 80 bytes in one line", "name %q is invalid", x.text)
		}
	}
	d.values.add(keyScenario, n)
	if x := n.field(keyPassword); x != nil {
		d.Password = filewise.Secret(x.text)
	}
	for _, o := range l.table {
		d.values.add(o.Name, n)
	}
	if x := n.field(keyMatrix); x != nil {
		for _, f := range x.fields {
			if _, twice := d.values[f.name]; twice {
				return d, l.wrong(f.place, "give it in one of the two places", "%s is both in the matrix and outside of it", f.name)
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

// Only returns the experiments with these names, given with or without the matrix's part. Its error names the nearest
// known name.
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
