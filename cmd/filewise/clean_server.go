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
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"filewise"
)

// cleaned is a leftover with what became of it.
type cleaned struct {
	filewise.Leftover
	Removed bool   `json:"removed"`
	Failed  string `json:"failed,omitempty"` // why it could not be removed
}

// cleanServer removes from an external server what killed runs have left, after
// it was agreed to.
func (a *app) cleanServer(cmd *cobra.Command, f *targetFlags, dry, yes bool) (err error) {
	ctx := cmd.Context()
	r, err := a.connectTo(cmd, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	cleaner, ok := r.server.(filewise.Cleaner)
	if !ok {
		return filewise.Errorf(filewise.CodePreflight, "remove by hand what \"filewise doctor\" names", "leftovers on %s cannot be found: %w", r.engine.Name(), filewise.ErrUnsupported)
	}
	left, err := cleaner.Leftovers(ctx)
	if err != nil {
		return unreachable(ctx, r.target, err)
	}
	all := make([]cleaned, len(left))
	for i, l := range left {
		all[i] = cleaned{Leftover: l}
	}
	if !dry {
		if err := a.removeAll(ctx, cleaner, all, yes); err != nil {
			return err
		}
	}
	return a.printCleaned(all, dry)
}

// removeAll removes what is agreed to, and lists again until nothing changes: a
// tablespace can go only after the databases in it.
func (a *app) removeAll(ctx context.Context, cleaner filewise.Cleaner, all []cleaned, yes bool) error {
	for {
		waiting := 0
		for _, c := range all {
			if c.Kept == "" && !c.Removed {
				waiting++
			}
		}
		if waiting == 0 {
			return nil
		}
		if err := a.agreed(ctx, all, waiting, yes); err != nil {
			return err
		}
		changed, err := removeOnce(ctx, cleaner, all)
		if err != nil || !changed {
			return err
		}
	}
}

// removeOnce tries each that is not kept, and looks again at those that are left.
func removeOnce(ctx context.Context, cleaner filewise.Cleaner, all []cleaned) (changed bool, err error) {
	for i := range all {
		if all[i].Removed {
			continue
		}
		if err := all[i].remove(ctx, cleaner); err != nil {
			return changed, err
		}
		changed = changed || all[i].Removed
	}
	if !changed {
		return false, nil
	}
	left, err := cleaner.Leftovers(ctx)
	if err != nil {
		return changed, err
	}
	for i, c := range all {
		at := slices.IndexFunc(left, func(l filewise.Leftover) bool { return l.Kind == c.Kind && l.Name == c.Name })
		if at >= 0 && !c.Removed {
			all[i] = cleaned{Leftover: left[at]}
		}
	}
	return changed, nil
}

// remove removes one that is not kept. What cannot be removed is said of it; the
// error is that of the context.
func (c *cleaned) remove(ctx context.Context, cleaner filewise.Cleaner) error {
	if c.Kept != "" {
		return nil
	}
	err := cleaner.Remove(ctx, c.Leftover)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.Removed = err == nil
	if err != nil {
		c.Failed = err.Error()
	}
	return nil
}

// agreed shows what would be removed and asks, unless --yes has answered.
func (a *app) agreed(ctx context.Context, all []cleaned, n int, yes bool) error {
	if yes {
		return nil
	}
	w := &lineWriter{w: a.stderr}
	for _, c := range all {
		if !c.Removed {
			w.printf("%s\n", c.line(true))
		}
	}
	return a.confirm(ctx, fmt.Sprintf("Remove %s from the server?", things(n)))
}

func things(n int) string {
	if n == 1 {
		return "1 thing"
	}
	return fmt.Sprintf("%d things", n)
}

// confirm asks on the terminal and refuses what is not agreed to.
func (a *app) confirm(ctx context.Context, question string) error {
	f, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return filewise.Errorf(filewise.CodeUsage, "add --yes to agree, or --dry-run where there is that flag to look only", "%s There is no terminal to ask on", question)
	}
	fmt.Fprintf(a.stderr, "%s [y/N] ", question)
	answers := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.LimitReader(f, 1024)).ReadString('\n')
		answers <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case answer := <-answers:
		if answer == "y" || answer == "yes" {
			return nil
		}
		return filewise.Errorf(filewise.CodeUsage, "answer y, or add --yes, to go on", "not agreed to; nothing was done")
	}
}

// printCleaned tells what became of everything; what failed is the error.
func (a *app) printCleaned(all []cleaned, dry bool) error {
	if a.json {
		if all == nil {
			all = []cleaned{}
		}
		if err := a.printJSON(all); err != nil {
			return err
		}
	} else {
		w := &lineWriter{w: a.stdout}
		for _, c := range all {
			w.printf("%s\n", c.line(dry))
		}
		if len(all) == 0 {
			w.printf("Nothing was left behind on the server.\n")
		}
		if w.err != nil {
			return w.err
		}
	}
	for _, c := range all {
		if c.Failed != "" {
			return filewise.Errorf(filewise.CodePreflight, "try again; if it stays, look who uses it", "%s %s could not be removed: %s", c.Kind, c.Name, c.Failed)
		}
	}
	return nil
}

// line says what was found and what became of it, or would.
func (c cleaned) line(dry bool) string {
	what := c.Kind + " " + c.Name
	switch {
	case c.Owner != "":
		what += ", made by " + c.Owner
	case c.Unmarked:
		what += ", empty and not yet marked"
	}
	if !c.Created.IsZero() {
		what += " on " + c.Created.Local().Format(time.DateTime)
	}
	switch {
	case c.Kept != "":
		return "kept " + what + ": " + c.Kept
	case c.Removed:
		return "removed " + what
	case c.Failed != "":
		return "not removed: " + what + ": " + c.Failed
	case dry:
		return "would remove " + what
	}
	return what
}

// connectTo opens the server of --target for a command that measures nothing.
func (a *app) connectTo(cmd *cobra.Command, f *targetFlags) (*rig, error) {
	c, err := f.choose(cmd)
	if err != nil {
		return nil, err
	}
	if c.target.Mode != filewise.External {
		return nil, filewise.Errorf(filewise.CodeUsage, "give the URL of a server; what is left on this machine every command removes, \"filewise clean\" too", "--target %s is no server", f.url)
	}
	return a.openIdle(cmd.Context(), c, f)
}
