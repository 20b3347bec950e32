package study

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/lab/experiment"
	"filewise/lab/workload"
	"filewise/run/plan"
)

// first lists the keys at the beginning of an example.
var first = []string{"engine", "target", "files", "size", "connections", "volume", "budget", "seed"}

// sketch holds the parts of an example. The scenario is as planned by default.
type sketch struct {
	form    Form
	engines plan.Engines
	sc      workload.Scenario
	engine  string
	files   string            // 1, 2, 4
	custom  string            // the example's part about custom SQL
	held    map[string]string // the plan's values, as flags
}

// Example returns a commented study file of a scenario, which can be run unchanged. Keys that keep their defaults are
// in comments.
func Example(f Form, engines plan.Engines, sc workload.Scenario) (string, error) {
	s := sketch{form: f, engines: engines, sc: sc}
	if sc.Name == keyCustom {
		s.custom = "\n" + customExample
	}
	if err := s.choose(); err != nil {
		return "", err
	}
	text := strings.NewReplacer("# NAME: TITLE", "# "+sc.Name+": "+sc.Title, "scenario: NAME", "scenario: "+sc.Name, "ENGINE", s.engine,
		"FILES", s.files, "CUSTOM\n", s.custom+"\n").Replace(example)
	for _, k := range ordered(f, sc) {
		text += s.commented(k)
	}
	return text, nil
}

// choose takes the first engine that can do the scenario, and its numbers of files. Engines that are installed here
// come first.
func (s *sketch) choose() (err error) {
	missing := func(e filewise.Engine) int { return min(len(e.Describe().Missing), 1) }
	inOrder := slices.SortedStableFunc(slices.Values(s.engines), func(a, b filewise.Engine) int { return missing(a) - missing(b) })
	for _, e := range inOrder {
		s.engine = e.Name()
		p, failed := s.planned()
		if err = failed; err == nil {
			s.files = strings.Join(filewise.Each(s.sc.NumbersOf(p.Layouts), strconv.Itoa), ", ")
			s.held = plan.Values(p)
			s.held["size"] = plan.SizeText(s.sc.Bytes)
			break
		}
	}
	return err
}

// planned returns the plan of the example.
func (s *sketch) planned() (experiment.Plan, error) {
	text := fmt.Sprintf("scenario: %s\nengine: %s\n%s", s.sc.Name, s.engine, s.custom)
	study, err := Parse("example.yaml", []byte(text), s.form, os.LookupEnv)
	if err != nil {
		return experiment.Plan{}, err
	}
	all, err := study.Plan(s.engines, plan.New(), nil, func(plan.Made) error { return nil })
	if err != nil {
		return experiment.Plan{}, err
	}
	return all[0].Made.Plan, nil
}

// ordered returns the keys that the scenario understands and the example does not set.
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

// commented returns a key as a comment: its purpose, then its form.
func (s *sketch) commented(o plan.Option) string {
	var b strings.Builder
	b.WriteString("\n")
	for _, l := range wrapped(strings.ReplaceAll(o.Usage, "`", ""), 84) {
		b.WriteString("# " + l + "\n")
	}
	b.WriteString("#" + o.Name + ":" + s.sample(o) + "\n")
	return b.String()
}

// depend lists the keys whose default is not one value. It follows from other options, or from pilots.
var depend = []string{"window", "growth", "builds", "allocation", "index", "no-password", "notify-on"}

// sample returns the text after a key in the example: its default, or "…" in the form of its values.
func (s *sketch) sample(o plan.Option) string {
	switch o.To.Pointer().(type) {
	case *[]plan.Pair:
		return " {…: …}"
	case *[]plan.LayoutSpec:
		return "\n#  - {files: …, name: …}"
	case *[]int:
		return " […, …]"
	case *[]string:
		return "\n#  - …"
	}
	value := cmp.Or(s.held[o.Name], o.Default)
	if slices.Contains([]string{"", "0", "0s"}, value) || slices.Contains(depend, o.Name) {
		return " …"
	}
	return " " + value
}

// wrapped splits a text into lines of at most the given number of characters.
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

// example is the part that all examples share. customExample works on every engine that supports workload custom.
var (
	//go:embed example.txt
	example string
	//go:embed example_custom.yaml
	customExample string
)
