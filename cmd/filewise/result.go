package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise/internal/pager"
	"filewise/results/archive"
	"filewise/results/report"
	"filewise/results/store"
	"filewise/watch/display"
)

// printData writes a result to stdout, as text or JSON.
func (a *app) printData(d report.Data) error {
	if a.json {
		return report.JSON(pager.JSON(a.stdout), d)
	}
	width, screen := terminal(a.stdout)
	opts := report.TerminalOptions{Color: coloured(a.stdout), Width: width, Short: screen && !a.full}
	if err := report.Terminal(beneath(a.stdout), d, opts); err != nil {
		return err
	}
	w := &lineWriter{w: a.stdout}
	gateText(w, d.Gate)
	return w.err
}

// registerFull registers the flag for the complete result: on a terminal, a result is otherwise cut to the screen.
// Elsewhere it is always complete.
func (a *app) registerFull(fs *pflag.FlagSet) {
	fs.BoolVar(&a.full, "full", false, "show all of a result, not what fits on the screen")
}

// registerResult registers the flags of commands that judge.
func (a *app) registerResult(fs *pflag.FlagSet, g *resultFlags) {
	g.register(fs)
	a.registerFull(fs)
}

// registerRun registers the further flags of commands that measure.
func (a *app) registerRun(fs *pflag.FlagSet, g *resultFlags) {
	a.registerResult(fs, g)
	g.registerNames(fs)
}

// display shows the run on stderr while it is measured, so that stdout holds only the result.
func (a *app) display(d report.Data) *display.Display {
	return display.New(beneath(a.stderr), d, display.Options{
		Live: steered(a.stderr), Color: coloured(a.stderr), Board: &a.board,
		Size: func() (int, int) { return size(a.stderr) },
	})
}

// load reads the run that the arguments name. Without an argument, it reads the newest.
func (a *app) load(ctx context.Context, args []string) (archive.Run, error) {
	ref := "last"
	if len(args) > 0 {
		ref = args[0]
	}
	return archive.Load(ctx, a.storePath, ref)
}

// completeRun completes numbers of stored runs.
func (a *app) completeRun(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if most := strings.Count(cmd.Use, " "); len(args) >= most { // more than the command takes
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	const most = 100
	runs, _, err := archive.Page(cmd.Context(), a.storePath, store.Page{Prefix: begun, Most: most})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	offer := func(word, about string) {
		if word != "" && strings.HasPrefix(word, begun) {
			out = append(out, word+"\t"+about)
		}
	}
	offer("last", "the newest run")
	for _, r := range runs {
		offer(fmt.Sprint(r.ID), r.Scenario+" on "+r.Engine)
		offer(r.Name, fmt.Sprint("run ", r.ID))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
