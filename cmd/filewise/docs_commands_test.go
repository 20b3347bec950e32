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

// docs/commands.md is what the code says of every command. After a change of a
// command or a flag: go test ./cmd/filewise -run TestCommandsPage -update-docs
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
		"This page is written by `go test ./cmd/filewise -run TestCommandsPage -update-docs` from what\n" +
		"`filewise COMMAND --help` says; a test fails where it is stale. [Exit codes, the environment and\n" +
		"what RUN may be](environment.md) are on a page of their own.\n\n| command | for |\n|---|---|\n")
	commands := documented(root)
	for _, c := range commands {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), cell(c.Short))
	}
	b.WriteString("\n## Flags of every command\n\n")
	flagTable(&b, root.PersistentFlags())
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
		groups := helpLayout().Of(c)
		for _, g := range groups {
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			for _, name := range g.Flags {
				fs.AddFlag(c.Flag(name))
			}
			if !c.LocalFlags().HasAvailableFlags() {
				continue
			}
			if b.WriteString("\n"); len(groups) > 1 {
				fmt.Fprintf(&b, "%s:\n\n", g.Title)
			}
			flagTable(&b, fs)
		}
	}
	return b.String()
}

// documented are all commands but those of a shell's completion, which cobra
// itself describes.
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

func flagTable(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| flag | |\n|---|---|\n")
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
		fmt.Fprintf(b, "| `%s` | %s |\n", cell(name), cell(usage))
	})
}

// cell is text in a table of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(text)
}

func unindent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}
