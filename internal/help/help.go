// Package help writes how commands are used, on the screen and in manual pages: their flags in groups, in lines of a
// page's width. It also explains mistakes in a command line.
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

// Width is the most columns that a page of help has.
const Width = 100

// Group is a group of flags with its heading.
type Group struct {
	Title string
	Flags []string
}

// Layout groups the flags of the commands that have flag Mark. Flags in no group go into Rest. Other commands have a
// single group.
type Layout struct {
	Mark, Rest string
	Groups     []Group
	// Scenarios holds the groups of scenarios' own flags, each under a heading.
	Scenarios []Group
	// All shows every flag of the commands that have Mark. Otherwise only the first group is shown.
	All bool
	// Defaults returns a scenario's name and its values for flags. If scenario is empty, they are the usual scenario's.
	Defaults func(scenario string) (name string, defaults map[string]string)
}

// OptionAll names the flag that shows every flag, as --help does for commands with few.
const OptionAll = "--help-all"

// WantsAll returns the command line with --help in place of OptionAll, and reports whether it had OptionAll.
func WantsAll(args []string) ([]string, bool) {
	i := slices.Index(args, OptionAll)
	if end := slices.Index(args, "--"); i < 0 || end >= 0 && end < i {
		return args, false
	}
	out := slices.Clone(args)
	out[i] = "--help"
	return out, true
}

// OfScenarios is the heading for the flags that only some scenarios have.
const OfScenarios = "Of some scenarios"

// Of returns a command's flags under their headings. If they are few, there is one group.
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

// Text returns a command's purpose, wrapped to a number of columns.
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

// wrap wraps a text, and never breaks a flag after its hyphens.
func wrap(text string, columns int) string {
	return strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(text, "-", "\u2011"), columns, ""), "\u2011", "-")
}

// Fold folds the lines of a text that exceed a number of columns. It continues them below a table's last column, or
// indented by two more spaces. Text that users type stays on one line.
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

// Write writes a command's usage, which follows its purpose, wrapped to a number of columns.
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
		rest := "Commands"
		if len(c.Groups()) > 0 {
			rest = "Topics"
		}
		for _, g := range append(c.Groups(), &cobra.Group{Title: rest}) {
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

// listCommands lists a group's commands in the order in which they were added. For a group without an ID, it lists the
// commands without a group.
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

// flags writes a command's flags: all of them, the flags of the named scenario, or the flags that every scenario has.
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

// scenarios writes every scenario's own flags by name.
func (l Layout) scenarios(w *printer, c *cobra.Command, columns int) {
	w.printf("\n%s (%s SCENARIO --help has more):\n", OfScenarios, c.CommandPath())
	for _, sc := range l.Scenarios {
		w.printf("  %-8s  %s\n", sc.Title, wrapped("--"+strings.Join(sc.Flags, " --"), columns, 12))
	}
}

// flagColumn is the column at which flags' texts begin.
const flagColumn = 28

// writeFlag writes a flag, its type of value, and its purpose.
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

// wrapped returns a text in lines that begin at a column, broken at no hyphen.
func wrapped(text string, columns, indent int) string {
	text = ansi.Wrap(strings.ReplaceAll(text, "-", "\u2011"), columns-indent, ",")
	return strings.NewReplacer("\n", "\n"+strings.Repeat(" ", indent), "\u2011", "-").Replace(text)
}

func Names(fs *pflag.FlagSet) []string {
	var out []string
	fs.VisitAll(func(f *pflag.Flag) { out = append(out, f.Name) })
	return out
}

// Switch is a placeholder in manual pages for the value of flags without one. It is removed from the pages.
const Switch = "SWITCH"

// InManual makes the manual pages of a command and its subcommands show flags as help does, with their type of value.
// The generator itself would show defaults, as if a flag without a value had one. No command can be executed
// afterwards.
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

// Default returns a flag's default if it is informative, otherwise an empty text.
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

// shown is a flag's value that is shown without quotes.
type shown struct{ pflag.Value }

func (shown) Type() string { return "text" }
