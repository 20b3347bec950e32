package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"filewise"
	"filewise/internal/nearest"
	"filewise/scratch"
	"filewise/store"
	"filewise/web"
)

// app is what the commands share.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	json           bool
	storePath      string

	args      []string          // the command line
	variables []string          // the flags that variables of the environment have set
	secrets   []filewise.Secret // that no error may show
	hinted    bool              // see hintProcessList
	last      store.Run         // that has ended last; its ID is 0 before
	page      *web.Server       // the live page; nil: there is none
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:     "filewise",
		Short:   "Find out how many files your database should be spread over",
		Version: versionString(),
		Long: `Filewise finds out how many files your database should be spread over, on your
own server and storage, and says how sure it is. It builds each layout, loads it,
runs a workload in random order as often as needed and no oftener, and gives a
verdict with an interval.

` + exitCodesHelp + `

Every flag can be set in the environment too: --max-blocks as FILEWISE_MAX_BLOCKS.`,
		Example: `  filewise run                      # inserts on embedded SQLite, a verdict in about a minute
  filewise plan --files 1,4,16      # what run would do: nothing is executed
  filewise report last              # the newest run as an HTML file`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          subcommandsOnly,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return a.environment(cmd)
		},
	}
	a.registerShared(root)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		a.runCommand(), a.planCommand(), a.resumeCommand(), a.listCommand(), a.showCommand(), a.reportCommand(),
		a.exportCommand(), a.importCommand(), a.judgeCommand(), a.compareCommand(), a.stopCommand(), a.serveCommand(), a.inspectCommand(), a.doctorCommand(), a.cleanCommand(), a.scenariosCommand(), a.enginesCommand(), a.schemaCommand(), a.initCommand(), a.versionCommand(), a.manCommand(),
	)
	for _, c := range root.Commands() { // files are offered where a file is taken, no place else
		if c.ValidArgsFunction == nil && !strings.Contains(c.Use, "FILE") && !strings.Contains(c.Use, "DIR") {
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	strictHelp(root)
	usageArgs(root)
	return root
}

// registerShared registers the flags that all commands have.
func (a *app) registerShared(root *cobra.Command) {
	root.PersistentFlags().BoolVar(&a.json, "json", false, "machine-readable output")
	root.PersistentFlags().StringVar(&a.storePath, "store", "", "`file` that holds the results (default ~/.local/share/filewise/filewise.db)")
}

// strictHelp makes help and completion refuse what they do not know, as every
// command does; cobra's own print a help text and succeed.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = subcommandsOnly
			describeCompletion(c)
			c.Example = "  filewise completion bash > ~/.local/share/bash-completion/completions/filewise"
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			c.Short, c.Long = "Show the help of a command", "Help shows the help of a command, as --help behind it does."
			c.Example = "  filewise help run"
			c.Run = nil
			c.RunE = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err == nil && len(rest) > 0 {
					err = subcommandsOnly(of, rest)
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

// subcommandsOnly refuses a word that is no command, with the nearest one.
func subcommandsOnly(cmd *cobra.Command, args []string) error {
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

// flagError turns pflag's error into a usage error: a value that is not of the
// flag's type, or the nearest known flag.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		fl := invalid.GetFlag()
		return wrongType("--"+fl.Name+" "+strconv.Quote(invalid.GetValue()), fl, err)
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

// wrongType refuses what was given for a flag and cannot be read as what it holds.
func wrongType(given string, fl *pflag.Flag, cause error) error {
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

// usageArgs makes every complaint about arguments a usage error.
func usageArgs(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		usageArgs(c)
		if check := c.Args; check != nil {
			c.Args = func(cmd *cobra.Command, args []string) error {
				err := check(cmd, args)
				if err == nil || filewise.CodeOf(err) == filewise.CodeUsage {
					return err
				}
				return filewise.Errorf(filewise.CodeUsage, "see "+cmd.CommandPath()+" --help", "%w", err)
			}
		}
	}
}

// sweep removes what killed runs left behind: at every start, whatever the
// command, but clean itself, which may be a dry run, and what a shell runs on
// Tab. What goes wrong is said and never stops the command.
func (a *app) sweep(ctx context.Context, root *cobra.Command, args []string) {
	if len(args) > 0 && strings.HasPrefix(args[0], "__complete") {
		return
	}
	if cmd, _, err := root.Find(args); err == nil && cmd.Name() == "clean" {
		return
	}
	reg, err := scratch.Open()
	if err != nil {
		return // commands that need scratch say so themselves
	}
	left, err := reg.Sweep(ctx)
	for _, l := range left {
		fmt.Fprintln(a.stderr, "filewise: "+leftoverLine(l))
	}
	if err != nil {
		fmt.Fprintln(a.stderr, "filewise: cannot remove what a killed run left:", err)
	}
}

// printJSON writes v for --json.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// terminal tells whether w is one, and how wide it is.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 80, false
	}
	if width, _ = size(w); width <= 0 {
		width = 80
	}
	return width, true
}

// size is that of a terminal in columns and rows; 0: unknown.
func size(w io.Writer) (width, height int) {
	f, isFile := w.(*os.File)
	if !isFile {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// coloured tells whether to use colour on w.
func coloured(w io.Writer) bool {
	_, ok := terminal(w)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
