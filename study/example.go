package study

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filewise/plan"
	"filewise/workload"
)

// first are the keys that an example has at its beginning.
var first = []string{"engine", "target", "files", "size", "connections", "volume", "budget", "seed"}

// Example is a commented study file of a scenario, which runs as it stands. The
// keys that it leaves at their defaults are there as comments.
func Example(f Form, sc workload.Scenario) string {
	b := &strings.Builder{}
	line := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	line("# A study file of Filewise. \"filewise plan FILE\" shows what it would do, \"filewise run")
	line("# FILE\" does it; flags that are given beside the file go before it. For completion in")
	line("# editors: filewise schema > filewise.schema.json, and leave the next line as it is.")
	line("# yaml-language-server: $schema=filewise.schema.json")
	line("")
	line("# %s: %s.", sc.Name, sc.Title)
	line("scenario: %s", sc.Name)
	line("")
	line("# On what. A server that exists is named by its URL instead:")
	line("#   target: postgres://me@db.example.org/postgres")
	line("#   password: ${DB_PASSWORD}      # from the environment: never in the file")
	line("engine: %s", f.Engines[0])
	line("")
	line("# The numbers of data files that are compared, the total size held constant.")
	line("files: [%s]", joined(sc.Files))
	if sc.Name == keyCustom {
		b.WriteString("\n" + customExample)
	}
	line("")
	line("# Several experiments share what stands above, and each says what differs:")
	line("#   experiments:")
	line("#     - {name: few, connections: 4}")
	line("#     - {name: many, connections: 32}")
	line("# A matrix makes one for each combination of its values:")
	line("#   matrix:")
	line("#     engine: [sqlite, postgres]")
	line("#     durability: [full, normal]")
	line("")
	line("# All other keys, with what holds where they are not given. They are the flags of")
	line("# \"filewise run\", by the same names; ${NAME} in a value is from the environment.")
	for _, k := range ordered(f, sc) {
		b.WriteString(commented(k, sc))
	}
	return b.String()
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

func joined(all []int) string {
	words := make([]string, len(all))
	for i, n := range all {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
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

// customExample runs on every engine that workload custom is for.
//
//go:embed example_custom.yaml
var customExample string
