//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filewise/store"
)

// sqliteRun takes a second or two, with all that a run does.
var sqliteRun = []string{"--files=1,2", "--window=200ms", "--warm-up=20ms", "--size=1MiB", "--connections=2"}

func runArgs(more ...string) []string {
	return append([]string{"run", "--max-blocks=3", "--budget=0", "--seed=3"}, more...)
}

// killRuns kills a run and whatever goes on with it, at most eight times, and lets it
// come to its end.
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

// killOnce kills at a random moment, and tells whether that came before the end.
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
	if err == nil && p.IntN(2) == 0 { // else what ends is met by the sweep
		_, err = p.run([]int{0, 7}, "list") // 7: there is no store yet
	}
	if err == nil {
		err = p.clean()
	}
	if err == nil {
		err = p.kept(before)
	}
	return c.ProcessState != nil && c.ProcessState.ExitCode() == -1, err
}

// killCommand kills what reads or writes a store with a run, and has it done again.
func killCommand(p *place) error {
	out := filepath.Join(p.dir, "out")
	bundle := filepath.Join(p.dir, "bundle")
	commands := [][]string{{"import", bundle}, {"export", "--bundle", out}, {"export", "--format", "csv", "-o", out},
		{"export", "--format", "json", "-o", out}, {"list"}, {"judge", "last", "--margin", "5"}, {"report", "-o", out}, {"clean"}}
	args := commands[p.IntN(len(commands))]
	if err := os.WriteFile(bundle, p.fixture.bundle, 0o600); err != nil {
		return err
	}
	if args[0] != "import" {
		if err := os.WriteFile(p.store, p.fixture.store, 0o600); err != nil {
			return err
		}
	}
	if args[0] == "clean" { // which needs something to remove
		c, err := p.start(nil, runArgs(sqliteRun...)...)
		if err != nil {
			return err
		}
		if err := p.kill(c, time.Second); err != nil {
			return err
		}
	}
	before, err := p.stored()
	if err != nil {
		return err
	}
	c, err := p.start(nil, args...)
	if err != nil {
		return err
	}
	err = p.kill(c, 150*time.Millisecond)
	if err == nil {
		err = p.clean()
	}
	if err == nil {
		err = p.kept(before)
	}
	if err == nil {
		_, err = p.run(succeeds, args...)
	}
	if err == nil {
		err = p.whole(args, out)
	}
	if err != nil {
		return fmt.Errorf("%v killed: %w", args, err)
	}
	return nil
}

// whole: what a command has done that was killed and done again is what it does at once.
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

// killMigration kills the first command that meets a store of an older Filewise.
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
