package main

import (
	"cmp"
	"embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"filewise/internal/help"
	"filewise/internal/userdir"
	"filewise/lab/workload"
)

// helpLayout returns the layout of help, with the flags of run and plan in groups.
func helpLayout() help.Layout {
	l := help.Layout{Mark: "placement", Rest: "Measuring", Groups: []help.Group{
		{Title: "Basics", Flags: []string{"engine", "target", "password-file", "no-password", "volume", "files", "size", "connections",
			"durability", "budget"}},
		{Title: "Layout", Flags: []string{"layout", "kind", "allocation", "growth", "added-later", "placement", "log-volume", "index-volume",
			"indexes", "baseline"}},
		{Title: "Measuring", Flags: []string{"max-blocks", "margin", "confidence", "goal", "rules", "seed", "interleave", "rounds", "aa",
			"calibrate", "storage-limit", "server-bin", "set", "drivers", "temporal", "only", "power", "noise", "noise-from"}},
		{Title: "Safety", Flags: []string{"memory", "allow", "abort-if", "maintenance-window"}},
		{Title: "Output", Flags: []string{"name", "tag", "full", "sql", "fail-if", "junit", "serve", "open", "token-file",
			"notify", "notify-on", "help"}},
	}}
	for _, sc := range workload.Scenarios() {
		l.Scenarios = append(l.Scenarios, help.Group{Title: sc.Name, Flags: sc.Flags})
	}
	return l
}

// help writes a command's purpose and usage.
func (a *app) help(c *cobra.Command, _ []string) {
	columns, _ := terminal(a.stdout)
	fmt.Fprintf(c.OutOrStdout(), "%s\n\n", help.Text(cmp.Or(c.Long, c.Short), columns))
	if !c.IsAdditionalHelpTopicCommand() {
		_ = c.Usage()
	}
}

// usage writes a command's usage, which follows its purpose.
func (a *app) usage(c *cobra.Command) error {
	columns, _ := terminal(a.stdout)
	l := helpLayout()
	l.All, l.Defaults = a.helpAll, registry().Defaults
	return l.Write(c.OutOrStderr(), c, columns)
}

//go:embed help/*.txt
var texts embed.FS

// describe sets the purpose and examples of a command and its subcommands, from a file if there is one.
func describe(c *cobra.Command) {
	if text, err := texts.ReadFile("help/" + strings.ReplaceAll(c.CommandPath(), " ", "-") + ".txt"); err == nil {
		c.Long, c.Example, _ = strings.Cut(strings.TrimSuffix(string(text), "\n"), "\n\nExamples:\n")
		c.Example = userdir.Example(c.Example)
	}
	for _, sub := range c.Commands() {
		describe(sub)
	}
}
