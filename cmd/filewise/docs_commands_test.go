package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
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

// commandsPage describes the commands in Markdown: one page, in the order of help. A flag of several commands is
// described at the first.
func commandsPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Every command\n\n" +
		"Generated from the program's help. A flag of several commands is described at the first of them.\n\n")
	commands := documented(root)
	for _, group := range root.Groups() {
		var links []string
		for _, c := range commands {
			if c.GroupID == group.ID {
				links = append(links, fmt.Sprintf("[%s](#filewise-%[1]s)", c.Name()))
			}
		}
		fmt.Fprintf(&b, "- %s: %s\n", group.Title, strings.Join(links, ", "))
	}
	b.WriteString("- Topics: [exit codes](#exit-codes), [environment](#environment)\n" +
		"\n## Flags of every command\n\n" + strings.Join(rows(root.PersistentFlags()), ""))
	described := map[string]bool{}
	had := map[string]string{} // of names of flags that commands share, the first command with them
	for _, c := range commands {
		if c.Parent() != root { // an example of its parent
			continue
		}
		text, use := purpose(c), c.UseLine()
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n", c.CommandPath(), strings.TrimSpace(text))
		if use = strings.TrimSuffix(use, " [flags]"); use != c.CommandPath() {
			fmt.Fprintf(&b, "\nUsage: %s\n", use)
		}
		b.WriteString("```\n")
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```sh parse\n%s\n", unindent(c.Example))
			for _, sub := range commands {
				if sub.Parent() == c {
					fmt.Fprintf(&b, "%s # %s\n", unindent(sub.Example), strings.ReplaceAll(purpose(sub), "\n", " "))
				}
			}
			b.WriteString("```\n")
		}
		var same []string // groups that are as in a command before
		before := ""
		for _, g := range groupsOf(c) {
			var own, shared, all []string
			for _, row := range g.rows {
				name, _, _ := strings.Cut(row[strings.Index(row, "--"):], "`")
				name, _, _ = strings.Cut(name, " ")
				all = append(all, "`"+name+"`")
				// A flag with another default, or with none, is the same.
				if text, _, _ := strings.Cut(strings.TrimSpace(row), " (default `"); described[text] {
					shared = append(shared, "`"+name+"`")
				} else {
					described[text] = true
					own = append(own, row)
				}
			}
			names := strings.Join(shared, ", ")
			if first := had[g.title+names]; len(shared) > 3 && first != "" {
				names, before = "as for `"+first+"`", first
				if len(own) == 0 {
					same = append(same, g.title)
					continue
				}
			}
			if title := g.title + strings.Join(all, ", "); had[title] == "" {
				had[title] = c.CommandPath()
			}
			switch {
			case len(shared) == 0:
				fmt.Fprintf(&b, "\n%s:\n\n", g.title)
			case len(own) == 0:
				fmt.Fprintf(&b, "\n%s: %s.\n", g.title, names)
			default:
				fmt.Fprintf(&b, "\n%s: %s, and:\n\n", g.title, names)
			}
			b.WriteString(strings.Join(own, ""))
		}
		if len(same) > 0 {
			fmt.Fprintf(&b, "\n%s: as for `%s`.\n", strings.Join(same, ", "), before)
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

// purpose returns the text of a command's help, or its line in lists.
func purpose(c *cobra.Command) string {
	if c.Long != "" {
		return c.Long
	}
	return c.Short + "."
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
		if strings.Contains(f.Usage, "`"+takes+"`") {
			usage = f.Usage // it marks the value
		} else if takes != "" {
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
