package study

// Key is one key of a study file: what a flag of "filewise run" says.
type Key struct {
	Name    string
	Type    Type
	Usage   string
	Default string   // what holds where it is not given; may be empty
	Choices []string // of a text: all there are; of Parts: the keys of a mapping
	Least   *float64 // of a number, and its most; nil: not bounded here
	Most    *float64
	// Whole: it is said once, for all experiments of the file.
	Once bool
	// Instead is the key that this one excludes: where an experiment says this, what
	// is shared of the other one does not hold.
	Instead string
}

// Table is what study files can say.
type Table struct {
	Keys      []Key
	Scenarios []string
	// Engines are those that custom SQL may be given for, each by its name.
	Engines []string
}

func (t Table) key(name string) *Key {
	for i := range t.Keys {
		if t.Keys[i].Name == name {
			return &t.Keys[i]
		}
	}
	return nil
}

// spec is what a key may hold.
func (k Key) spec() *spec {
	s := &spec{Type: k.Type, usage: k.Usage, choices: k.Choices, least: k.Least, most: k.Most, usual: k.Default}
	if k.Type == Texts && len(k.Choices) > 0 {
		s.choices = nil
	}
	return s
}

// The keys that are no flags.
const (
	keyName        = "name"
	keyDescription = "description"
	keyScenario    = "scenario"
	keyMatrix      = "matrix"
	keyExperiments = "experiments"
	keyPassword    = "password"
	keyCustom      = "custom"
	keyDefinitions = "definitions"
)

// keyEngine is the flag whose value says enough in the name of an experiment.
const keyEngine = "engine"

// experiment is what an experiment may say: at the top, for all.
func (t Table) experiment(top bool) *spec {
	out := &spec{Type: object, usage: "an experiment: keys as the flags of filewise run"}
	matrix := &spec{Type: object, usage: "one experiment for each combination of the values that are listed"}
	add := func(name string, s *spec) { out.fields = append(out.fields, member{name, s}) }
	add(keyName, &spec{Type: Text, usage: "what it is called in messages, and for --only"})
	add(keyDescription, &spec{Type: Text, usage: "for readers"})
	scenario := &spec{Type: Text, usage: "what is measured: see filewise scenarios", choices: t.Scenarios}
	add(keyScenario, scenario)
	matrix.fields = append(matrix.fields, member{keyScenario, &spec{Type: items, of: scenario}})
	for _, k := range t.Keys {
		if k.Once && !top {
			continue
		}
		add(k.Name, k.spec())
		if !k.Once {
			matrix.fields = append(matrix.fields, member{k.Name, &spec{Type: items, usage: k.Usage, of: k.spec()}})
		}
	}
	add(keyPassword, &spec{Type: secret, usage: "the password for target, from a variable: ${NAME}"})
	add(keyMatrix, matrix)
	add(keyCustom, customSpec(t.Engines))
	return out
}

// file is what a study file may say.
func (t Table) file() *spec {
	out := t.experiment(true)
	out.usage = "a study: one experiment, or several that share what stands at the top"
	out.fields = append(out.fields,
		member{keyExperiments, &spec{Type: items, usage: "several experiments, one after the other; each says what differs from the top", of: t.experiment(false)}},
		member{keyDefinitions, &spec{Type: anything, usage: "a place for anchors (&name) that are used elsewhere (*name); not read itself"}},
	)
	return out
}
