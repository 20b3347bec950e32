package study

import (
	"strings"

	"filewise/plan"
)

// Form is what study files can say besides what all plan.Options say.
type Form struct {
	Scenarios []string
	Engines   []string
	// Once are options that are said once, for all experiments of a file.
	Once []plan.Option
}

// options are the keys of experiments.
func (f Form) options() []plan.Option { return plan.New().Table() }

// spec is what an option's key may hold.
func (f Form) spec(o plan.Option) *spec {
	s := specOf(o)
	s.usage, s.usual = strings.ReplaceAll(o.Usage, "`", ""), o.Default
	if o.Name == keyEngine {
		s.choices, s.usual = f.Engines, f.Engines[0]
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
func (f Form) experiment(top bool) *spec {
	out := &spec{Type: object, usage: "an experiment: keys as the flags of filewise run"}
	matrix := &spec{Type: object, usage: "one experiment for each combination of the values that are listed"}
	add := func(name string, s *spec) { out.fields = append(out.fields, member{name, s}) }
	add(keyName, &spec{Type: typeText, usage: "what it is called in messages, and for --only"})
	add(keyDescription, &spec{Type: typeText, usage: "for readers"})
	scenario := &spec{Type: typeText, usage: "what is measured: see filewise scenarios", choices: f.Scenarios}
	add(keyScenario, scenario)
	matrix.fields = append(matrix.fields, member{keyScenario, &spec{Type: items, of: scenario}})
	for _, o := range f.options() {
		of := f.spec(o)
		add(o.Name, of)
		matrix.fields = append(matrix.fields, member{o.Name, &spec{Type: items, usage: of.usage, of: of}})
	}
	if top {
		for _, o := range f.Once {
			add(o.Name, f.spec(o))
		}
	}
	add(keyPassword, &spec{Type: secret, usage: "the password for target, from a variable: ${NAME}"})
	add(keyMatrix, matrix)
	add(keyCustom, customSpec(f.Engines))
	return out
}

// file is what a study file may say.
func (f Form) file() *spec {
	out := f.experiment(true)
	out.usage = "a study: one experiment, or several that share what stands at the top"
	several := &spec{Type: items, usage: "several experiments, one after the other; each says what differs from the top"}
	several.of = f.experiment(false)
	definitions := &spec{Type: anything, usage: "a place for anchors (&name) that are used elsewhere (*name); not read itself"}
	out.fields = append(out.fields, member{keyExperiments, several}, member{keyDefinitions, definitions})
	return out
}
