package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"filewise"
	"filewise/host/scratch"
	"filewise/internal/filesystem"
	"filewise/run"
	"filewise/run/plan"
)

func (a *app) cleanCommand() *cobra.Command {
	var dry, yes bool
	var login plan.TargetOptions
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed runs left behind, nothing else",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if login.Target.Value != "" {
				return a.cleanServer(cmd, &login, dry, yes)
			}
			reg, err := scratch.Open()
			if err != nil {
				return err
			}
			find := reg.Sweep
			if dry {
				find = reg.Leftovers
			}
			left, err := find(cmd.Context())
			if err != nil {
				return err
			}
			return a.printLeftovers(left)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be removed")
	cmd.Flags().BoolVar(&yes, "yes", false, "remove from --target without asking")
	registerOptions(cmd.Flags(), login.ServerTable()...)
	return cmd
}

func (a *app) printLeftovers(left []scratch.Leftover) error {
	if left == nil {
		left = []scratch.Leftover{}
	}
	return a.print(left, func(w *lineWriter) {
		for _, l := range left {
			w.printf("%s\n", leftoverLine(l))
		}
		if len(left) == 0 {
			w.printf("Nothing was left behind.\n")
		}
	})
}

// leftoverLine describes a leftover, and what became of it.
func leftoverLine(l scratch.Leftover) string {
	what := l.Path
	if what == "" {
		what = "registration " + l.ID
	}
	switch {
	case l.Kept != "":
		return fmt.Sprintf("kept %s: %s", what, l.Kept)
	case l.Removed:
		return fmt.Sprintf("removed %s, left by process %d, which has ended%s", what, l.Owner, processes(", with its server %v", l))
	}
	return fmt.Sprintf("would remove %s, left by process %d, which has ended%s", what, l.Owner, processes(", and end its server %v", l))
}

func processes(format string, l scratch.Leftover) string {
	if len(l.Processes) == 0 {
		return ""
	}
	return fmt.Sprintf(format, l.Processes)
}

// cleanServer removes from an external server what killed runs have left, once the user has agreed.
func (a *app) cleanServer(cmd *cobra.Command, f *plan.TargetOptions, dry, yes bool) (err error) {
	ctx := cmd.Context()
	env, err := a.connectTo(cmd, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	all, err := env.Leftovers(ctx)
	if err != nil {
		return err
	}
	if !dry {
		if err := env.RemoveLeftovers(ctx, all, func(n int) error { return a.agreed(all, n, yes) }); err != nil {
			return err
		}
	}
	return a.printCleaned(all, dry)
}

// agreed shows what would be removed and asks the user, unless --yes is given.
func (a *app) agreed(all []run.Leftover, n int, yes bool) error {
	if yes {
		return nil
	}
	w := &lineWriter{w: a.stderr}
	for _, c := range all {
		if !c.Removed {
			w.printf("%s\n", c.Words(true))
		}
	}
	return a.confirm(fmt.Sprintf("Remove %s from the server?", filewise.Counted(n, "thing")))
}

// confirm asks on the terminal. It returns an error if the user does not agree.
func (a *app) confirm(question string) error {
	f, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return filewise.Errorf(filewise.CodeUsage, "add --yes to agree, or --dry-run, if the command has it, to look only",
			"%s There is no terminal to ask on", question)
	}
	fmt.Fprintf(a.stderr, "%s [y/N] ", question)
	line, err := bufio.NewReader(io.LimitReader(filesystem.Reader(f), 1024)).ReadString('\n')
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line))):
		return nil
	}
	return filewise.Errorf(filewise.CodeUsage, "answer y, or add --yes, to go on", "not agreed to; nothing was done")
}

// printCleaned reports what became of each leftover. It returns an error if some could not be removed.
func (a *app) printCleaned(all []run.Leftover, dry bool) error {
	err := a.print(all, func(w *lineWriter) {
		for _, c := range all {
			w.printf("%s\n", c.Words(dry))
		}
		if len(all) == 0 {
			w.printf("Nothing was left behind on the server.\n")
		}
	})
	if err != nil {
		return err
	}
	for _, c := range all {
		if c.Failed != "" {
			return filewise.Errorf(filewise.CodePreflight, "try again; if it stays, check who uses it", "%s %s could not be removed: %s", c.Kind,
				c.Name, c.Failed)
		}
	}
	return nil
}

// connectTo opens the server of --target, for a command that does not measure.
func (a *app) connectTo(cmd *cobra.Command, f *plan.TargetOptions) (*run.Environment, error) {
	c, err := registry().Choose(f)
	if err != nil {
		return nil, err
	}
	if c.Target.Mode != filewise.External {
		return nil, filewise.Errorf(filewise.CodeUsage, "give the URL of a server; what is left on this machine every command removes, "+
			"\"filewise clean\" too", "--target %s is no server", f.Target.Value)
	}
	return a.openIdle(cmd.Context(), c, f)
}
