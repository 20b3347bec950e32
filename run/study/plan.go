package study

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/lab/workload"
	"filewise/run/plan"
)

// Planned is an experiment of a study that is ready to run.
type Planned struct {
	Experiment
	plan.Made
}

// Plan plans the named experiments, or all if none is named. Given options take precedence over the experiments' own.
// All experiments are checked first, so that no mistake shows only after hours. An error names the place of its cause
// in the file.
func (s Study) Plan(engines plan.Engines, given *plan.Options, only []string, check func(plan.Made) error) ([]Planned, error) {
	chosen, err := s.Only(only)
	if err != nil {
		return nil, err
	}
	var all []Planned
	for _, e := range chosen {
		p, err := s.planned(engines, given, e, check)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func (s Study) planned(engines plan.Engines, given *plan.Options, e Experiment, check func(plan.Made) error) (out Planned, err error) {
	out.Experiment = e
	o := given.Clone()
	o.Custom, o.Scenario = e.Custom, e.Scenario
	if err := s.Fill(o.Table(), e); err != nil {
		return out, err
	}
	if out.Made, err = engines.Make(o); err != nil {
		return out, s.inFile(e, err)
	}
	if out.Secret.Password == "" {
		out.Secret.Password = e.Password
	}
	if e.Custom != nil {
		out.Command = customCommand(out.Command, s.File, e)
	}
	if err := check(out.Made); err != nil {
		return out, s.inFile(e, err)
	}
	return out, nil
}

// inFile adds to an error the place of its cause in the file. An error in the user's SQL has the place already.
func (s Study) inFile(e Experiment, err error) error {
	if strings.Contains(err.Error(), s.File+":") {
		return e.named(err)
	}
	return s.At(e.placeOf(err), e.named(e.keyed(err)))
}

// keyed replaces flags in an error by the file's keys for them.
func (e Experiment) keyed(err error) error {
	message := flagNamed.ReplaceAllStringFunc(err.Error(), func(flag string) string {
		if _, ok := e.Key(flag[2:]); ok {
			return flag[2:]
		}
		return flag
	})
	if message == err.Error() {
		return err
	}
	return filewise.Errorf(filewise.CodeOf(err), filewise.RemedyOf(err), "%s%w", message, silent{err})
}

// silent is an error whose text was printed already.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// named adds the experiment's name to an error, if the experiment has its own name.
func (e Experiment) named(err error) error {
	if e.Name == e.Scenario || e.Name == Unnamed {
		return err
	}
	return filewise.Errorf(filewise.CodeOf(err), filewise.RemedyOf(err), "experiment %q: %w", e.Name, err)
}

// flagNamed matches the flag that an error is about.
var flagNamed = regexp.MustCompile(`--([a-z][a-z0-9-]*)`)

// placeOf returns the place of the key that an error, or else its remedy, names. If neither names a key, it returns the
// place of the experiment.
func (e Experiment) placeOf(err error) Place {
	for _, m := range flagNamed.FindAllStringSubmatch(err.Error()+" "+filewise.RemedyOf(err), -1) {
		if place, ok := e.Key(m[1]); ok {
			return place
		}
	}
	return e.Place
}

// customCommand returns the command line that repeats an experiment with custom SQL, for which there are no flags.
func customCommand(command []string, file string, e Experiment) []string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	at := slices.Index(command, workload.OperationCustom)
	return slices.Concat(command[:at], []string{file, "--only", e.Name}, command[at+1:])
}
