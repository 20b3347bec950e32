package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/fleet"
	"filewise/internal/help"
	"filewise/internal/nearest"
	"filewise/run/plan"
)

// prefix is the prefix of Filewise's variables.
const prefix = "FILEWISE_"

// bareVariables lists Filewise's variables that stand for no flag.
var bareVariables = []string{"FILEWISE_STATE", "FILEWISE_LOCK", "FILEWISE_PASSWORD", fleet.KeyVariable, fleet.KeyFileVariable}

// variable returns the name of a flag's variable.
func variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets every flag that the command line leaves open from FILEWISE_NAME. An empty variable counts as
// none. A flag on the command line overrides the variable of a flag that excludes it. fromEnvironment returns the flags
// that it sets.
func fromEnvironment(fs *pflag.FlagSet) (set []string, err error) {
	given := map[string]bool{}
	fs.Visit(func(fl *pflag.Flag) { given[fl.Name] = true })
	fs.VisitAll(func(fl *pflag.Flag) {
		name, row := variable(fl.Name), rowOf(fl)
		value := os.Getenv(name)
		if value == "" || fl.Changed || err != nil || fl.Name == "help" || row != nil && given[row.Instead] {
			return
		}
		set = append(set, fl.Name)
		if serr := fs.Set(fl.Name, value); serr != nil {
			err = help.WrongType(fmt.Sprintf("%s=%q in the environment", name, value), fl, serr)
		} else if row != nil {
			row.To.SetSource(plan.Variable)
		}
	})
	return set, err
}

// named replaces flags by the variables that have set them, since the user did not type these flags.
func (a *app) named(message, remedy string) (string, string) {
	for _, flag := range a.variables {
		name := variable(flag)
		flagged := regexp.MustCompile(`--` + flag + `( "?` + regexp.QuoteMeta(string([]rune(os.Getenv(name)))) + `)?([^-\w]|$)`)
		message = flagged.ReplaceAllStringFunc(message, func(found string) string {
			m := flagged.FindStringSubmatch(found)
			return name + strings.Replace(m[1], " ", "=", 1) + m[2]
		})
		remedy = strings.ReplaceAll(remedy, "leave --"+flag+" out", "unset "+name)
	}
	return message, remedy
}

// environment sets a command's flags from the variables.
func (a *app) environment(cmd *cobra.Command) error {
	a.unknownVariables(cmd.Root())
	var err error
	a.variables, err = fromEnvironment(cmd.Flags())
	return err
}

// unknownVariables warns of variables that look like Filewise's, but are not.
func (a *app) unknownVariables(root *cobra.Command) {
	known := slices.Clone(bareVariables)
	var add func(*cobra.Command)
	add = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(fl *pflag.Flag) { known = append(known, variable(fl.Name)) })
		for _, sub := range c.Commands() {
			add(sub)
		}
	}
	add(root)
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, prefix) || value == "" || slices.Contains(known, name) ||
			strings.Contains(strings.Join(a.args, " "), "env:"+name) {
			continue
		}
		message := "unknown variable " + name
		if near := nearest.Name(name[len(prefix):], withoutPrefix(known)); near != "" {
			message += "; did you mean " + prefix + near + "?"
		}
		if a.json || slices.Contains(a.args, "--json") {
			_ = json.NewEncoder(a.stderr).Encode(warned{warning{message}})
			continue
		}
		fmt.Fprintf(a.stderr, "filewise: warning: %s\n", message)
	}
}

func withoutPrefix(names []string) []string {
	return filewise.Each(names, func(n string) string { return strings.TrimPrefix(n, prefix) })
}
