package help

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/internal/nearest"
)

// SubcommandsOnly refuses a word that is no subcommand, and suggests the nearest one.
func SubcommandsOnly(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return nearest.Unknown("command", args[0], names)
}

// FlagError turns pflag's error into a usage error. It explains a value of the wrong type, or suggests the nearest
// known flag.
func FlagError(cmd *cobra.Command, err error) error {
	if filewise.CodeOf(err) == filewise.CodeUsage { // its error already names the fault in the value
		var said *filewise.Error
		errors.As(err, &said)
		return said
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		fl := invalid.GetFlag()
		return WrongType("--"+fl.Name+" "+strconv.Quote(invalid.GetValue()), fl, err)
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return filewise.Errorf(filewise.CodeUsage, "see "+cmd.CommandPath()+" --help", "%w", err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	slices.Sort(names)
	remedy := "see " + cmd.CommandPath() + " --help"
	if n := nearest.Name(unknown.GetSpecifiedName(), names); n != "" {
		remedy = fmt.Sprintf("did you mean --%s? %s", n, remedy)
	}
	return filewise.Errorf(filewise.CodeUsage, remedy, "%w", err)
}

// WrongType returns the error for a flag's value that is not of the flag's type.
func WrongType(given string, fl *pflag.Flag, cause error) error {
	want, remedy := "a value for --"+fl.Name, "see --help"
	switch fl.Value.Type() {
	case "int":
		want, remedy = "a whole number", "give one such as 8"
	case "intSlice":
		want, remedy = "a list of whole numbers", "give one such as 1,4,8"
	case "float64":
		want, remedy = "a number", "give one such as 2 or 0.5"
	case "duration":
		want, remedy = "a time", "give one such as 500ms, 2s or 10m"
	case "bool":
		want, remedy = "true or false", "give one of these, or the flag alone"
	}
	if errors.Is(cause, strconv.ErrRange) {
		want += " that is possible: it is too large"
	}
	return filewise.Errorf(filewise.CodeUsage, remedy, "%s is not %s", given, want)
}

// UsageArgs makes a usage error of every complaint about a command's arguments.
func UsageArgs(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		UsageArgs(c)
		if check := c.Args; check != nil {
			c.Args = func(cmd *cobra.Command, args []string) error {
				err := check(cmd, args)
				if err == nil || filewise.CodeOf(err) == filewise.CodeUsage {
					return err
				}
				return filewise.Errorf(filewise.CodeUsage, "it is "+cmd.UseLine()+"; see "+cmd.CommandPath()+" --help", "%s",
					strings.ReplaceAll(err.Error(), "arg(s)", "arguments"))
			}
		}
	}
}
