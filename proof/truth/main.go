// Command truth runs thousands of whole experiments through the real program — plan, runner, life cycle of every trial,
// verdict — on the fake engine in virtual time. In these worlds the truth is known. It prints how often the program is
// right, next to the articles' ways in the same worlds. It exits with 1 if a target is missed. proof/README.md lists
// the measurements and their methods.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"filewise/lab/verdict"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "truth:", err)
		os.Exit(1)
	}
}

// lazyGC makes garbage collection rare: an experiment leaves little behind, and frequent collection doubles its time.
const lazyGC = 800

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("truth", flag.ContinueOnError)
	flags.SetOutput(stderr)
	n := flags.Int("n", 2000, "`experiments` in each world")
	seed := flags.Uint64("seed", 1, "from which all randomness follows")
	names := flags.String("worlds", "",
		"`names` of worlds, separated by semicolons; a name ending in * stands for all that begin so (default all)")
	nulls := flags.Int("nulls", 1000, "`experiments` of each kind of noise and number of layouts, nothing differing (0 runs none)")
	kindsOf := flags.String("kinds", "", "`part` of the names of kinds of noise (default all)")
	held := flags.Int("heldout", 1000, "`experiments` of each kind of noise that the rules were not chosen by (0 runs none)")
	planted := flags.Int("planted", 400, "`experiments` of each effect, machine and number of layouts (0 runs none)")
	races := flags.Int("races", 200, "`races` of backups in each kind of noise (0 runs none)")
	list := flags.Bool("list", false, "list the worlds and end")
	table := flags.Bool("table", false, "print the table of all worlds, layouts and blocks, or finish an interrupted one")
	s := flags.Int("S", 2000, "`experiments` in each cell of the table")
	only := flags.String("only", "", "`part` of the names of the table's worlds (default all)")
	rules := flags.Int("rules", verdict.NewestRules, "`rules` that the table judges by")
	state := flags.String("state", "truth/cells.jsonl", "`file` of the table's cells that are done")
	stored := flags.Bool("stored", false, "print the table's cells that are done, and measure none")
	page := flags.String("page", "", "write the table's summary to this `file`, between its marks (truth/README.md)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *table && *s > 0 {
		debug.SetGCPercent(lazyGC)
		m, err := runTable(ctx, tableOptions{s: *s, rules: *rules, seed: *seed, only: *only, state: *state, page: *page, date: time.Now(),
			stored: *stored},
			stdout, stderr)
		return errors.Join(err, targets(m))
	}
	if flags.NArg() > 0 || *n < 1 {
		return fmt.Errorf("-n %d and arguments %q: give at least one experiment, and no arguments", *n, flags.Args())
	}
	chosen, err := choose(*names)
	if err != nil {
		return err
	}
	if *list {
		for _, w := range chosen {
			fmt.Fprintf(stdout, "%s\t%s\n", w.name, w.about)
		}
		return nil
	}
	debug.SetGCPercent(lazyGC)
	rows, err := runWorlds(ctx, chosen, *n, *seed, stdout, stderr)
	if err != nil {
		return err
	}
	m := missed(rows)
	more, err := runOthers(ctx, others{nulls: *nulls, heldOut: *held, planted: *planted, races: *races, kinds: *kindsOf, seed: *seed}, stdout)
	if err != nil {
		return err
	}
	if err := targets(append(m, more...)); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "All targets are met.")
	return nil
}

// runWorlds prints each world's rows to stderr once the world ends, and all rows to stdout.
func runWorlds(ctx context.Context, chosen []world, n int, seed uint64, stdout, stderr io.Writer) ([]row, error) {
	start := time.Now()
	var rows []row
	for _, w := range chosen {
		more, err := runWorld(ctx, w, n, seed)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
		fmt.Fprintf(stderr, "after %v:\n", time.Since(start).Round(time.Second))
		if err := printRows(stderr, more); err != nil { // keeps the results of a long run that is ended early
			return nil, err
		}
	}
	if err := printRows(stdout, rows); err != nil {
		return nil, err
	}
	fmt.Fprintf(stdout, "\n%d experiments in each of %d worlds, seed %d, %v. ± is one standard error of the simulation.\n", n, len(chosen),
		seed, time.Since(start).Round(time.Second))
	return rows, nil
}

// targets returns an error that lists the missed targets.
func targets(missed []string) error {
	if len(missed) == 0 {
		return nil
	}
	return fmt.Errorf("targets missed:\n  %s", strings.Join(missed, "\n  "))
}

// choose returns the worlds with these names.
func choose(names string) ([]world, error) {
	all := worlds()
	if names == "" {
		return all, nil
	}
	var out []world
	for name := range strings.SplitSeq(names, ";") {
		name = strings.TrimSpace(name)
		prefix, open := strings.CutSuffix(name, "*")
		before := len(out)
		for _, w := range all {
			fits := w.name == name || open && strings.HasPrefix(w.name, prefix)
			if fits && !slices.ContainsFunc(out, func(o world) bool { return o.name == w.name }) {
				out = append(out, w)
			}
		}
		if len(out) == before {
			return nil, fmt.Errorf("no world %q: -list names them", name)
		}
	}
	return out, nil
}
