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

// bareVariables have no flag.
var bareVariables = []string{"FILEWISE_STATE", "FILEWISE_LOCK", "FILEWISE_PASSWORD", fleet.KeyVariable, fleet.KeyFileVariable}

// variable is the name of a flag's variable.
func variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets every flag that the command line leaves open from FILEWISE_NAME, if there is one; an empty one
// is none. A flag that excludes another one goes before the other's variable. It returns the flags that it sets.
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

// named puts variables in place of the flags that they have set: the user did not type those.
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

// environment takes the variables' values for a command.
func (a *app) environment(cmd *cobra.Command) error {
	a.unknownVariables(cmd.Root())
	var err error
	a.variables, err = fromEnvironment(cmd.Flags())
	return err
}

// unknownVariables warns of variables that look as if they were Filewise's.
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
