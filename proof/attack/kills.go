//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filewise/results/store"
)

// sqliteRun holds the flags of a run that does all that runs do, in a second or two.
var sqliteRun = []string{"--files=1,2", "--window=200ms", "--warm-up=20ms", "--size=1MiB", "--connections=2"}

func runArgs(more ...string) []string {
	return append([]string{"run", "--max-blocks=3", "--budget=0", "--seed=3"}, more...)
}

// killRuns kills a run and its resumptions, at most eight times, and lets it finish.
func killRuns(within time.Duration, flags ...string) func(*place) error {
	return func(p *place) error {
		for p.count = 0; p.count < min(8, p.most) && (p.count == 0 || time.Now().Before(p.end)); {
			before, err := p.stored()
			if err != nil {
				return err
			}
			args := []string{"resume"}
			if before.run.ID == 0 || before.run.State == store.Done {
				args = runArgs(flags...)
			}
			killed, err := p.killOnce(within, args)
			if killed {
				p.count++
			}
			if err != nil {
				return fmt.Errorf("kill %d of %v: %w", p.count, args, err)
			}
		}
		return p.finish()
	}
}

// killOnce kills a command at a random moment, and reports whether it was killed before its end.
func (p *place) killOnce(within time.Duration, args []string) (killed bool, err error) {
	c, err := p.start(nil, args...)
	if err != nil {
		return false, err
	}
	select {
	case <-time.After(time.Duration(p.Int64N(int64(within)))):
	case <-c.ended:
	}
	before, err := p.stored()
	if err == nil {
		err = p.kill(c, time.Millisecond)
	}
	if err == nil && p.IntN(2) == 0 { // otherwise the sweep meets ending processes
		_, err = p.run(succeeds, "engines") // a command that sweeps
	}
	if err == nil {
		err = p.clean()
	}
	if err == nil {
		err = p.kept(before)
	}
	return c.ProcessState != nil && c.ProcessState.ExitCode() == -1, err
}

// deeds lists commands to kill within a time and repeat. They need no server of the user's: commands with such a server
// are in TestKillOwn.
var deeds = []struct {
	args    string // OUT, BUNDLE, CSV, STORE and VOLUME are the place's files
	within  time.Duration
	endless bool
}{
	{args: "import BUNDLE"}, {args: "export --bundle OUT"}, {args: "export --format csv -o OUT"}, {args: "export --format json -o OUT"},
	{args: "export --format parquet -o OUT"}, {args: "list"}, {args: "show"}, {args: "judge last --margin 5"}, {args: "compare 1 2"},
	{args: "judge --csv CSV"},
	{args: "report -o OUT"}, {args: "clean"}, {args: "plan --sql"}, {args: "doctor", within: time.Second},
	{args: "doctor --storage --volume here=VOLUME", within: 10 * time.Second, endless: true}, {args: "inspect --target sqlite:STORE"},
	{args: "doctor --resolve", within: 4 * time.Second, endless: true}, {args: "serve 127.0.0.1:0", within: time.Second, endless: true},
}

// killCommand kills a command, and repeats it.
func killCommand(p *place) error {
	deed := deeds[p.IntN(len(deeds))]
	out, bundle, csv := filepath.Join(p.dir, "out"), filepath.Join(p.dir, "bundle"), filepath.Join(p.dir, "csv")
	named := strings.NewReplacer("OUT", out, "BUNDLE", bundle, "CSV", csv, "VOLUME", p.volume, "STORE", p.store)
	args := strings.Fields(named.Replace(deed.args))
	err := errors.Join(os.WriteFile(bundle, p.fixture.bundle, 0o600), os.WriteFile(csv, p.fixture.csv, 0o600))
	if args[0] != "import" {
		err = errors.Join(err, os.WriteFile(p.store, p.fixture.store, 0o600))
	}
	if err != nil {
		return err
	}
	switch args[0] {
	case "clean": // it needs something to remove
		c, err := p.start(nil, runArgs(sqliteRun...)...)
		if err != nil {
			return err
		}
		if err := p.kill(c, time.Second); err != nil {
			return err
		}
	case "compare": // it needs a second run
		if _, err := p.run(succeeds, runArgs(sqliteRun...)...); err != nil {
			return err
		}
	}
	before, err := p.stored()
	if err != nil {
		return err
	}
	c, err := p.start(nil, args...)
	if err == nil {
		err = p.kill(c, max(deed.within, 150*time.Millisecond))
	}
	if err == nil {
		err = p.clean()
	}
	if err == nil {
		err = p.kept(before)
	}
	if err == nil && !deed.endless {
		if _, err = p.run(succeeds, args...); err == nil {
			err = errors.Join(p.whole(args, out), p.tidy())
		}
	}
	if err != nil {
		return fmt.Errorf("%v killed: %w", args, err)
	}
	return nil
}

// whole checks that a command that was killed and repeated has the same result as an undisturbed one.
func (p *place) whole(args []string, out string) error {
	if args[0] == "import" {
		after, err := p.stored()
		if err != nil || after.run.ID != 1 || len(after.trials) != p.fixture.trials {
			return fmt.Errorf("run %d has %d of %d trials: %w", after.run.ID, len(after.trials), p.fixture.trials, err)
		}
	}
	if !slices.Contains(args, out) {
		return nil
	}
	text, err := os.ReadFile(out)
	if err != nil || len(text) < 1000 {
		return fmt.Errorf("the file has %d bytes: %w", len(text), err)
	}
	return nil
}

// killMigration kills the first command that opens an older Filewise's store.
func killMigration(p *place) error {
	if err := os.WriteFile(p.store, p.fixture.old, 0o600); err != nil {
		return err
	}
	c, err := p.start(nil, "list", "--json")
	if err != nil {
		return err
	}
	if err := p.kill(c, 100*time.Millisecond); err != nil {
		return err
	}
	again, err := p.run(succeeds, "list", "--json")
	if err != nil {
		return err
	}
	if !bytes.Equal(again.stdout.Bytes(), p.fixture.listed) {
		return fmt.Errorf("the migrated store lists\n%.500s\nwhere it is\n%.500s", again.stdout.Bytes(), p.fixture.listed)
	}
	return errors.Join(integrity(p, p.store), p.tidy())
}
