package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise/internal/nearest"
)

// prefix is that of Filewise's variables.
const prefix = "FILEWISE_"

// ownVariables have no flag.
var ownVariables = []string{"FILEWISE_STATE", "FILEWISE_LOCK", "FILEWISE_PASSWORD"}

// variable is the name of a flag's variable.
func variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// instead are flags that exclude each other: what the command line gives goes
// before the other's variable.
var instead = map[string]string{"engine": "target", "target": "engine", "files": "layout", "layout": "files", "window": "work", "work": "window"}

// unset annotates a flag that a variable has set with its values before that.
const unset = "filewise-unset"

// fromEnvironment sets every flag that the command line leaves open from
// FILEWISE_NAME, where there is one; an empty one is none.
func fromEnvironment(fs *pflag.FlagSet) error {
	given := map[string]bool{}
	fs.Visit(func(fl *pflag.Flag) { given[fl.Name] = true })
	var err error
	fs.VisitAll(func(fl *pflag.Flag) {
		name := variable(fl.Name)
		value := os.Getenv(name)
		if value == "" || fl.Changed || err != nil || fl.Name == "help" || given[instead[fl.Name]] {
			return
		}
		before := valuesOf(fl)
		if serr := fs.Set(fl.Name, value); serr != nil {
			err = wrongType(fmt.Sprintf("%s=%q in the environment", name, value), fl, serr)
			return
		}
		err = fs.SetAnnotation(fl.Name, unset, before)
	})
	return err
}

// valuesOf are a flag's values as it takes them.
func valuesOf(fl *pflag.Flag) []string {
	if v, ok := fl.Value.(pflag.SliceValue); ok {
		return v.GetSlice()
	}
	return []string{fl.Value.String()}
}

// byVariable says whether a variable has set the flag.
func byVariable(fl *pflag.Flag) bool { return fl != nil && fl.Changed && fl.Annotations[unset] != nil }

// forget makes a flag that a variable has set what it was before; false: none has.
func forget(fs *pflag.FlagSet, name string) bool {
	fl := fs.Lookup(name)
	if !byVariable(fl) {
		return false
	}
	before := fl.Annotations[unset]
	if v, ok := fl.Value.(pflag.SliceValue); ok {
		_ = v.Replace(before) // what it was
	} else {
		_ = fl.Value.Set(before[0])
	}
	fl.Changed = false
	delete(fl.Annotations, unset)
	return true
}

// applicable plans until no variable stands in the way that is for other runs.
func applicable[T any](fs *pflag.FlagSet, plan func() (T, error)) (T, error) {
	for {
		p, err := plan()
		var idle notFor
		if !errors.As(err, &idle) || !forget(fs, idle.flag) && !forget(fs, idle.or) {
			return p, err
		}
	}
}

// named says variables in place of the flags that they have set: nobody typed
// those.
func (a *app) named(message, remedy string) (string, string) {
	for _, flag := range a.variables {
		name := variable(flag)
		flagged := regexp.MustCompile(`--` + flag + `( "?` + regexp.QuoteMeta(os.Getenv(name)) + `)?([^-\w]|$)`)
		message = flagged.ReplaceAllStringFunc(message, func(found string) string {
			m := flagged.FindStringSubmatch(found)
			return name + strings.Replace(m[1], " ", "=", 1) + m[2]
		})
		remedy = strings.ReplaceAll(remedy, "leave --"+flag+" out", "unset "+name)
	}
	return message, remedy
}

// environment takes what the variables say for a command.
func (a *app) environment(cmd *cobra.Command) error {
	a.unknownVariables(cmd.Root())
	err := fromEnvironment(cmd.Flags())
	cmd.Flags().VisitAll(func(fl *pflag.Flag) {
		if byVariable(fl) {
			a.variables = append(a.variables, fl.Name)
		}
	})
	return err
}

// unknownVariables warns of variables that look as if they were Filewise's.
func (a *app) unknownVariables(root *cobra.Command) {
	known := slices.Clone(ownVariables)
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
		if !strings.HasPrefix(name, prefix) || value == "" || slices.Contains(known, name) || strings.Contains(strings.Join(a.args, " "), "env:"+name) {
			continue
		}
		message := "Filewise knows no variable " + name
		if near := nearest.Name(name[len(prefix):], withoutPrefix(known)); near != "" {
			message += "; did you mean " + prefix + near + "?"
		}
		if a.json || slices.Contains(a.args, "--json") {
			_ = json.NewEncoder(a.stderr).Encode(map[string]any{"warning": map[string]any{"message": message}})
			continue
		}
		fmt.Fprintf(a.stderr, "filewise: warning: %s\n", message)
	}
}

func withoutPrefix(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strings.TrimPrefix(n, prefix)
	}
	return out
}
