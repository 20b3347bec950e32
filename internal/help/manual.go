package help

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Switch stands for the value of flags that have none in manual pages, until it is taken out.
const Switch = "SWITCH"

// InManual has the manual pages of a command and of those below it show flags as
// help does, with what they take: the generator's own way is their default, as if a
// flag without a value had it. No command can be run afterwards.
func InManual(cmd *cobra.Command) {
	show := func(f *pflag.Flag) {
		takes, usage := pflag.UnquoteUsage(f)
		if d := Default(f); d != "" {
			usage += " (default " + d + ")"
		}
		if takes == "" {
			takes = Switch
		}
		f.Usage, f.DefValue, f.Value = usage, takes, shown{f.Value}
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	cmd.LocalNonPersistentFlags().VisitAll(show)
	cmd.PersistentFlags().VisitAll(show)
	for _, c := range cmd.Commands() {
		InManual(c)
	}
}

// Default is a flag's default where it says something.
func Default(f *pflag.Flag) string {
	if slices.Contains([]string{"0", "[]", "false", "0s"}, f.DefValue) {
		return ""
	}
	out := f.DefValue
	for _, zero := range []string{"0s", "0m"} { // 1h0m0s
		if rest, ok := strings.CutSuffix(out, zero); ok && f.Value.Type() == "duration" && strings.ContainsAny(rest[len(rest)-1:], "hm") {
			out = rest
		}
	}
	return out
}

// shown is a flag's value that is not put in quotes.
type shown struct{ pflag.Value }

func (shown) Type() string { return "text" }
