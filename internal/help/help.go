// Package help writes how commands are used: flags in groups, in lines of a page's width, on the screen and in manual
// pages, and explains mistakes in a command line.
package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Width is the most columns of a page of help.
const Width = 100

// Group is a heading with its flags.
type Group struct {
	Title string
	Flags []string
}

// Layout groups the flags of the commands that have Mark among them; what is in no group is
// put into Rest, and other commands have one group.
type Layout struct {
	Mark, Rest string
	Groups     []Group
	// Scenarios have flags of their own, which stand under their own heading.
	Scenarios []Group
	// All shows every flag of the commands that have Mark, not the first group's alone.
	All bool
	// Defaults returns the values that a scenario has for flags, or that the usual one has if it is empty, with its name.
	Defaults func(scenario string) (name string, defaults map[string]string)
}

// OptionAll shows every flag, as --help does of commands with few.
const OptionAll = "--help-all"

// WantsAll returns a command line in which OptionAll is --help, and whether it had that.
func WantsAll(args []string) ([]string, bool) {
	i := slices.Index(args, OptionAll)
	if end := slices.Index(args, "--"); i < 0 || end >= 0 && end < i {
		return args, false
	}
	out := slices.Clone(args)
	out[i] = "--help"
	return out, true
}

// OfScenarios is the heading over the flags of some scenarios alone.
const OfScenarios = "Of some scenarios"

// Of are a command's flags under their headings: one if they are few.
func (l Layout) Of(c *cobra.Command) []Group {
	var some, listed []string
	names := Names(c.LocalFlags())
	if c.Flags().Lookup(l.Mark) == nil {
		return []Group{{"Flags", names}}
	}
	for _, sc := range l.Scenarios {
		some = append(some, sc.Flags...)
	}
	var out []Group
	for _, g := range append(slices.Clip(l.Groups), Group{OfScenarios, names}) {
		last := g.Title == OfScenarios
		g.Flags = slices.DeleteFunc(slices.Clone(g.Flags), func(name string) bool {
			return !slices.Contains(names, name) || slices.Contains(some, name) != last
		})
		listed = append(listed, g.Flags...)
		out = append(out, g)
	}
	for _, name := range names {
		if rest := slices.IndexFunc(out, func(g Group) bool { return g.Title == l.Rest }); !slices.Contains(listed, name) {
			out[rest].Flags = append(out[rest].Flags, name)
		}
	}
	return out
}

// Text returns a command's purpose, in lines of a number of columns.
func Text(long string, columns int) string {
	paragraphs := strings.Split(strings.TrimSpace(long), "\n\n")
	for i, p := range paragraphs {
		if strings.Contains(p, "\n ") { // a list
			paragraphs[i] = Fold(p, min(columns, Width))
		} else {
			paragraphs[i] = wrap(strings.ReplaceAll(p, "\n", " "), min(columns, Width))
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// wrap parts no flag from its hyphens.
func wrap(text string, columns int) string {
	return strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(text, "-", "\u2011"), columns, ""), "\u2011", "-")
}

// Fold folds the lines of a text that are longer than a number of columns: below the last
// column of a table, or with two more spaces. What is typed stays in one line.
func Fold(text string, columns int) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		bare := strings.TrimLeft(l, " ")
		if ansi.StringWidth(l) <= columns || strings.HasPrefix(bare, "$ ") {
			continue
		}
		lead := len(l) - len(bare)
		head, rest, indent := l[:lead], bare, lead+2
		if at := strings.LastIndex(l[:columns/2], "  "); at > lead {
			head, rest = l[:at+2], l[at+2:]
			indent = ansi.StringWidth(head)
		}
		lines[i] = head + strings.ReplaceAll(wrap(rest, max(columns-indent, 20)), "\n", "\n"+strings.Repeat(" ", indent))
	}
	return strings.Join(lines, "\n")
}

// Write writes how a command is used, below what it is for, in lines of a number of columns.
func (l Layout) Write(to io.Writer, c *cobra.Command, columns int) error {
	w := &printer{}
	w.printf("Usage:\n")
	if c.Runnable() {
		w.printf("  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		w.printf("  %s [command]\n", c.CommandPath())
	}
	if c.HasExample() {
		w.printf("\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		for _, g := range append(c.Groups(), &cobra.Group{Title: "Commands"}) {
			listCommands(w, c, g, min(columns, Width))
		}
	}
	l.flags(w, c, min(columns, Width))
	if c.HasAvailableSubCommands() {
		w.printf("\nUse \"%s [command] --help\" for more information about a command.\n", c.CommandPath())
	}
	_, err := io.WriteString(to, w.String())
	return err
}

// listCommands lists the commands of a group, in the order in which they were added. Of a group without an ID come the
// commands that belong to none.
func listCommands(w *printer, c *cobra.Command, g *cobra.Group, columns int) {
	title := "\n" + g.Title + ":\n"
	for _, sub := range c.Commands() {
		if sub.GroupID == g.ID && (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) {
			w.printf("%s  %-*s %s\n", title, sub.NamePadding(), sub.Name(), wrapped(sub.Short, columns, sub.NamePadding()+3))
			title = ""
		}
	}
}

// printer collects the output.
type printer struct{ strings.Builder }

func (p *printer) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// flags writes a command's flags: of the scenarios' flags the named scenario's, or the ones that each has.
func (l Layout) flags(w *printer, c *cobra.Command, columns int) {
	named := strings.Join(c.Flags().Args(), " ")
	long := c.Flags().Lookup(l.Mark) != nil
	scenario, defaults := named, map[string]string{}
	if long && l.Defaults != nil {
		scenario, defaults = l.Defaults(named)
	}
	section := func(title string, flags []string) {
		for i, name := range flags {
			if i == 0 {
				w.printf("\n%s:\n", title)
			}
			f := *c.Flag(name)
			if is := defaults[name]; is != "" {
				f.Usage = strings.Replace(f.Usage, "default the scenario's", scenario+": "+is, 1)
			}
			writeFlag(w, &f, columns)
		}
	}
	for i, g := range l.Of(c) {
		if long && !l.All && i > 0 && g.Title != OfScenarios {
			continue
		}
		if g.Title != OfScenarios {
			section(g.Title, g.Flags)
			continue
		}
		if i := slices.IndexFunc(l.Scenarios, func(sc Group) bool { return sc.Title == named }); i >= 0 {
			section("Scenario "+named, l.Scenarios[i].Flags)
		} else {
			l.scenarios(w, c, columns)
		}
	}
	if long && !l.All {
		defer w.printf("\nAll %d flags: %s %s\n", len(Names(c.Flags())), c.CommandPath(), OptionAll)
	}
	section("Global Flags", Names(c.InheritedFlags()))
}

// scenarios names the flags of every scenario.
func (l Layout) scenarios(w *printer, c *cobra.Command, columns int) {
	w.printf("\n%s (%s SCENARIO --help has more):\n", OfScenarios, c.CommandPath())
	for _, sc := range l.Scenarios {
		w.printf("  %-8s  %s\n", sc.Title, wrapped("--"+strings.Join(sc.Flags, " --"), columns, 12))
	}
}

// flagColumn is the column of flags' texts.
const flagColumn = 28

// writeFlag writes a flag, what it takes and what it is for.
func writeFlag(w *printer, f *pflag.Flag, columns int) {
	if f.Hidden {
		return
	}
	takes, text := pflag.UnquoteUsage(f)
	name := "    --" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", --" + f.Name
	}
	switch {
	case takes != "" && f.NoOptDefVal != "":
		name += "[=" + takes + "]"
	case takes != "":
		name += " " + takes
	}
	if d := Default(f); d != "" {
		text += " (default " + d + ")"
	}
	if len(name) > flagColumn-4 {
		name += "\n" + strings.Repeat(" ", flagColumn)
	}
	w.printf("  %-*s%s\n", flagColumn-2, name, wrapped(text, columns, flagColumn))
}

// wrapped is a text in lines that begin at a column and break at no hyphen.
func wrapped(text string, columns, indent int) string {
	text = ansi.Wrap(strings.ReplaceAll(text, "-", "\u2011"), columns-indent, ",")
	return strings.NewReplacer("\n", "\n"+strings.Repeat(" ", indent), "\u2011", "-").Replace(text)
}

func Names(fs *pflag.FlagSet) []string {
	var out []string
	fs.VisitAll(func(f *pflag.Flag) { out = append(out, f.Name) })
	return out
}

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

// Default is a flag's default if it is informative.
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
