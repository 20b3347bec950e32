package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filewise"
	"filewise/host/scratch"
	"filewise/internal/filesystem"
	"filewise/internal/help"
	"filewise/internal/progress"
	"filewise/internal/userdir"
	"filewise/own/all"
	"filewise/own/inspect"
	"filewise/results/store"
	"filewise/run/plan"
	"filewise/run/preview"
	"filewise/watch/web"
)

// app holds what commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	json           bool
	full, noPager  bool // see registerFull, registerShared
	helpAll        bool // help shows every flag
	storePath      string

	args      []string          // the command line
	variables []string          // flags that were set by environment variables
	secrets   []filewise.Secret // never shown in errors
	hinted    bool              // see hintProcessList
	page      *web.Server       // the live page; nil means none
	board     progress.Board
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "filewise",
		Short:         "Find out how many files your database should be spread over",
		Version:       versionString(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          help.SubcommandsOnly,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := filled(cmd.Flags()); err != nil {
				return err
			}
			if err := a.environment(cmd); err != nil {
				return err
			}
			return a.pageable(cmd)
		},
	}
	a.registerShared(root)
	root.SetFlagErrorFunc(help.FlagError)
	root.SetUsageFunc(a.usage)
	root.SetHelpFunc(a.help)
	cobra.EnableCommandSorting = false
	group := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, c := range commands {
			c.GroupID = title
		}
		root.AddCommand(commands...)
	}
	group("Measure", a.runCommand(), endsAtOnce(a.planCommand()), a.resumeCommand(), a.stopCommand(), a.doctorCommand())
	group("Read", endsAtOnce(a.showCommand()), endsAtOnce(a.listCommand()), endsAtOnce(a.reportCommand()), endsAtOnce(a.compareCommand()),
		endsAtOnce(a.judgeCommand()), endsAtOnce(a.exportCommand()), endsAtOnce(a.importCommand()), a.serveCommand())
	group("Your database", a.inspectCommand(), a.captureCommand(), a.backupCommand(), a.applyCommand())
	group("Many hosts", a.workerCommand(), a.campaignCommand())
	group("Upkeep", a.cleanCommand(), a.initCommand(), a.scenariosCommand(), a.enginesCommand(), a.schemaCommand(), a.versionCommand(),
		a.manCommand())
	root.AddCommand(topics()...)
	root.SetCompletionCommandGroupID("Upkeep")
	root.SetHelpCommandGroupID("Upkeep")
	for _, c := range root.Commands() { // files are completed only for flags that take one
		if c.ValidArgsFunction == nil && !strings.Contains(c.Use, "FILE") && !strings.Contains(c.Use, "DIR") {
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	strictHelp(root)
	describe(root)
	help.UsageArgs(root)
	return root
}

// topics returns the commands with help on topics.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What each exit code means (a topic: filewise help exit-codes)"},
		{Use: "environment", Short: "Variables, and what RUN can be (a topic: filewise help environment)"},
	}
}

// endsAtOnce lets an interrupt end a command at once. It is for commands that only read and compute.
func endsAtOnce(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		defer progress.Begin(cmd.Context(), cmd.Name(), 0, "").End()
		_, err := filesystem.Await(func() (struct{}, error) { return struct{}{}, run(cmd, args) })
		if errors.Is(err, context.Canceled) {
			return filewise.Errorf(codeInterrupted, "give it again", "interrupted; nothing was changed")
		}
		return err
	}
	return cmd
}

// registerShared registers the flags that all commands have.
func (a *app) registerShared(root *cobra.Command) {
	root.PersistentFlags().BoolVar(&a.json, "json", false, "machine-readable output")
	root.PersistentFlags().BoolVar(&a.noPager, "no-pager", false, "no $PAGER for long output")
	root.PersistentFlags().StringVar(&a.storePath, "store", "", "`file` that holds the results (default "+store.DefaultShown()+")")
}

// strictHelp makes help and completion refuse unknown arguments, as every command does. Cobra's own print a help text
// and succeed.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = help.SubcommandsOnly
			describeCompletion(c)
			c.Example = userdir.Example(shells["bash"].install)
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			c.Short, c.Long = "Show the help of a command", "Help shows the help of a command, as --help behind it does."
			c.Example = "  filewise help run"
			c.Run = nil
			c.RunE = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err == nil && len(rest) > 0 {
					err = help.SubcommandsOnly(of, rest)
				}
				if err != nil {
					return err
				}
				of.InitDefaultHelpFlag()
				return of.Help()
			}
		}
	}
}

// unswept lists commands that need no volume, and clean, which sweeps itself.
var unswept = []string{"clean", "list", "serve", "stop", "version"}

// sweep removes what killed runs have left. It runs at every start, except for unswept commands and completion by a
// shell. Its errors are printed, and never stop the command.
func (a *app) sweep(ctx context.Context, root *cobra.Command, args []string) {
	if len(args) > 0 && strings.HasPrefix(args[0], "__complete") {
		return
	}
	if cmd, _, err := root.Find(args); err == nil && slices.Contains(unswept, cmd.Name()) {
		return
	}
	reg, err := scratch.Open()
	if err != nil {
		return // commands that need scratch directories report it themselves
	}
	left, err := reg.Sweep(ctx)
	for _, l := range left {
		fmt.Fprintln(a.stderr, "filewise: "+leftoverLine(l))
	}
	if err != nil {
		fmt.Fprintln(a.stderr, "filewise: cannot remove what a killed run left:", err)
	}
}

// engines returns the registry's engines, the default first. Tests add one.
var engines = all.Engines

// clock is the clock of all runs. Nil means the machine's. Tests set it.
var clock filewise.Clock

// registry returns the engines on which experiments can be planned.
func registry() plan.Engines { return engines() }

// newOptions returns options that can ask a server for its cores.
func newOptions() *plan.Options {
	o := registry().New()
	o.Inspect = inspect.Facts
	return o
}

// indent indents a text's lines after the first.
func indent(text string, by int) string { return preview.Indent(text, by) }
