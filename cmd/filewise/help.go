package main

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise/workload"
)

// helpWidth is how wide help is at most.
const helpWidth = 100

// flagGroup is what help shows under one heading.
type flagGroup struct {
	title string
	flags []string
}

// groupedFlags has those of run and plan; the flags of some scenarios are a group of their own,
// and what is in none measures.
var groupedFlags = []flagGroup{
	{"Basics", []string{"engine", "target", "password-file", "no-password", "volume", "files", "size", "connections", "durability", "budget"}},
	{"Layout", []string{"layout", "kind", "allocation", "growth", "added-later", "placement", "log-volume", "index-volume", "indexes",
		"baseline"}},
	{"Measuring", []string{"max-blocks", "margin", "confidence", "goal", "rules", "seed", "sessions", "cells", "aa", "calibrate",
		"storage-limit", "server-bin", "set", "only", "power", "noise", "noise-from"}},
	{"Safety", []string{"memory", "allow", "abort-if", "maintenance-window"}},
	{"Output", []string{"name", "tag", "full", "sql", "fail-if", "junit", "serve", "open", "token-file", "notify", "notify-on", "help"}},
}

// ofScenarios is the heading over the flags of some scenarios alone.
const ofScenarios = "Of some scenarios"

// groupsOf are a command's flags under their headings: one where they are few.
func groupsOf(c *cobra.Command) []flagGroup {
	var some, listed []string
	names := flagNames(c.LocalFlags())
	if c.Flags().Lookup("engine") == nil || c.Flags().Lookup("layout") == nil {
		return []flagGroup{{"Flags", names}}
	}
	for _, sc := range workload.Scenarios() {
		some = append(some, sc.Flags...)
	}
	var out []flagGroup
	for _, g := range append(slices.Clip(groupedFlags), flagGroup{ofScenarios, names}) {
		last := g.title == ofScenarios
		g.flags = slices.DeleteFunc(slices.Clone(g.flags), func(name string) bool {
			return !slices.Contains(names, name) || slices.Contains(some, name) != last
		})
		listed = append(listed, g.flags...)
		out = append(out, g)
	}
	for _, name := range names {
		if !slices.Contains(listed, name) {
			out[2].flags = append(out[2].flags, name)
		}
	}
	return out
}

// usage writes how a command is used, below what it is for.
func (a *app) usage(c *cobra.Command) error {
	w := &lineWriter{w: c.OutOrStderr()}
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
		w.printf("\nAvailable Commands:\n")
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				w.printf("  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	a.flagUsages(w, c)
	if c.HasAvailableSubCommands() {
		w.printf("\nUse \"%s [command] --help\" for more information about a command.\n", c.CommandPath())
	}
	return w.err
}

// flagUsages writes a command's flags: of the scenarios those of the one that is named, or
// which each has.
func (a *app) flagUsages(w *lineWriter, c *cobra.Command) {
	columns, _ := terminal(a.stdout)
	columns = min(columns, helpWidth)
	section := func(title string, flags []string) {
		for i, name := range flags {
			if i == 0 {
				w.printf("\n%s:\n", title)
			}
			writeFlag(w, c.Flag(name), columns)
		}
	}
	for _, g := range groupsOf(c) {
		if g.title != ofScenarios {
			section(g.title, g.flags)
			continue
		}
		sc, err := workload.Lookup(strings.Join(c.Flags().Args(), " "))
		if err == nil {
			section("Scenario "+sc.Name, sc.Flags)
		} else {
			scenarioFlags(w, c, columns)
		}
	}
	section("Global Flags", flagNames(c.InheritedFlags()))
}

// scenarioFlags names the flags of every scenario.
func scenarioFlags(w *lineWriter, c *cobra.Command, columns int) {
	w.printf("\n%s (%s SCENARIO --help has more):\n", ofScenarios, c.CommandPath())
	for _, sc := range workload.Scenarios() {
		w.printf("  %-8s  %s\n", sc.Name, wrapped("--"+strings.Join(sc.Flags, " --"), columns, 12))
	}
}

// flagColumn is where the text of a flag begins.
const flagColumn = 28

// writeFlag writes a flag, what it takes and what it is for.
func writeFlag(w *lineWriter, f *pflag.Flag, columns int) {
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
	if d := shownDefault(f); d != "" {
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

func flagNames(fs *pflag.FlagSet) []string {
	var out []string
	fs.VisitAll(func(f *pflag.Flag) { out = append(out, f.Name) })
	return out
}
