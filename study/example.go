package study

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise"
	"filewise/plan"
	"filewise/workload"
)

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
