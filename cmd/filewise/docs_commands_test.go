package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise/internal/help"
)

var updateDocs = flag.Bool("update-docs", false, "write docs/commands.md anew")

// docs/commands.md is generated from every command in the code. After a change of a command or a flag: go test
// ./cmd/filewise -run TestCommandsPage -update-docs
func TestCommandsPage(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "commands.md")
	want := commandsPage(new(app).command())
	if *updateDocs {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/commands.md is stale: go test ./cmd/filewise -run TestCommandsPage -update-docs (− has, + should have):\n%s", diff)
	}
}

// commandsPage describes the commands in Markdown: one page, in the order of help.
func commandsPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Every command\n\n" +
		"Generated from the program's help. [Exit codes](#exit-codes) and the [environment](#environment) are at the end.\n\n")
	commands := documented(root)
	for _, c := range commands {
		fmt.Fprintf(&b, "- [`%s`](#%s): %s\n", c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), c.Short)
	}
	b.WriteString("\n## Flags of every command\n\n" + strings.Join(rows(root.PersistentFlags()), ""))
	takers := map[string]int{} // of each row, the commands that have it
	var several []string
	for _, c := range commands {
		for _, g := range groupsOf(c) {
			for _, row := range g.rows {
				if takers[row]++; takers[row] == 2 {
					several = append(several, row)
				}
			}
		}
	}
	slices.Sort(several)
	b.WriteString("\n## Flags of several commands\n\nCommands below name their flags of this table.\n\n" + strings.Join(several, ""))
	had := map[string]string{} // of flags that commands share, the first that names them
	for _, c := range commands {
		fmt.Fprintf(&b, "\n## %s\n\n", c.CommandPath())
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		fmt.Fprintf(&b, "```text\n%s\n\nUsage: %s\n```\n", strings.TrimSpace(text), c.UseLine())
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```sh parse\n%s\n```\n", unindent(c.Example))
		}
		for _, g := range groupsOf(c) {
			var own, shared []string
			for _, row := range g.rows {
				if takers[row] == 1 {
					own = append(own, row)
					continue
				}
				name, _, _ := strings.Cut(row[strings.Index(row, "--"):], "`")
				name, _, _ = strings.Cut(name, " ")
				shared = append(shared, "`"+name+"`")
			}
			b.WriteString("\n")
			if names := strings.Join(shared, ", "); len(shared) > 9 && had[names] != "" {
				fmt.Fprintf(&b, "%s: as for `%s`.\n", g.title, had[names])
			} else if had[names] = c.CommandPath(); len(shared) > 0 {
				fmt.Fprintf(&b, "%s: %s.\n", g.title, names)
			}
			if len(own) > 0 && len(shared) > 0 {
				b.WriteString("\n")
			}
			if len(own) > 0 {
				b.WriteString(strings.Join(own, ""))
			}
		}
	}
	for _, c := range root.Commands() {
		if !c.IsAdditionalHelpTopicCommand() {
			continue
		}
		title := strings.ToUpper(c.Use[:1]) + strings.ReplaceAll(c.Use[1:], "-", " ")
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n```\n", title, strings.TrimSpace(c.Long))
	}
	return b.String()
}

type flagGroup struct {
	title string
	rows  []string
}

// groupsOf are the groups of a command's help, with the rows of its flags.
func groupsOf(c *cobra.Command) (all []flagGroup) {
	if !c.LocalFlags().HasAvailableFlags() {
		return nil
	}
	for _, g := range helpLayout().Of(c) {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		for _, name := range g.Flags {
			fs.AddFlag(c.Flag(name))
		}
		all = append(all, flagGroup{g.Title, rows(fs)})
	}
	return all
}

// documented are all commands except the ones for a shell's completion, which cobra itself describes.
func documented(root *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		all = append(all, c)
		if c.Name() != "completion" {
			all = append(all, documented(c)...)
		}
	}
	return all
}

// rows are the lines of a list of flags, in the order of their names.
func rows(flags *pflag.FlagSet) (all []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		takes, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if takes != "" {
			name += " " + takes
		}
		if d := help.Default(f); d != "" {
			usage += fmt.Sprintf(" (default `%s`)", d)
		}
		all = append(all, fmt.Sprintf("- `%s`: %s\n", name, strings.ReplaceAll(usage, "\n", " ")))
	})
	return all
}

func unindent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}
