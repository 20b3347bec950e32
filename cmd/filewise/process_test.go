//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"filewise"
	"filewise/cmd/filewise/filewisetest"
	"filewise/lab/experiment"
	"filewise/results/store"
)

// place has filewise processes that are interrupted and killed: a volume with things of the user's, a store, a state
// directory and a lock.
type place struct {
	t                    *testing.T
	volume, store, state string
	env                  []string
	belongings           map[string]string // the volume's content, as planted
	own                  *ownServer        // the user's, which nothing may touch. Nil means there is none
}

func newPlace(t *testing.T) *place {
	dir := t.TempDir()
	p := &place{t: t, volume: filepath.Join(dir, "volume"), store: filepath.Join(dir, "store.db"), state: filepath.Join(dir, "state")}
	p.env = append(os.Environ(), "FILEWISE_STORE="+p.store, "FILEWISE_STATE="+p.state,
		fmt.Sprintf("FILEWISE_LOCK=filewise-test-%d-%s", os.Getpid(), t.Name()))
	p.plant()
	return p
}

// plant puts things of the user's on the volume that look like ours.
func (p *place) plant() {
	const id = "aaaabbbbccccd"
	for name, content := range map[string]string{
		"filewise-decoy/1-file-0001.db":      "a directory of the user's",
		"filewise-" + id + "/data.db":        "a directory with a forged mark",
		"filewise-" + id + "/.filewise-mark": `{"format":1,"id":"` + id + `","owner":{"pid":999999999}}`,
		"filewise-zzzzyyyyxxxxw":             "a file named like a scratch directory",
		"1-file-0001.db":                     "a file named like a database",
		"1-file-0001.db-wal":                 "and its log",
		"mine.db":                            "SQLite format 3\x00 or so",
		".filewise-mark":                     `{"format":1,"id":"` + id + `"}`,
	} {
		path := filepath.Join(p.volume, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			p.t.Fatal(err)
		}
	}
	var err error
	if p.belongings, err = treeOf(p.volume); err != nil {
		p.t.Fatal(err)
	}
}

// child is a running filewise.
type child struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer // to be read when ended
	ended          chan struct{}
}

// start starts a program, filewise or one that becomes it. It is killed when the
// test ends.
func (p *place) start(program string, args ...string) *child {
	p.t.Helper()
	c := &child{Cmd: exec.Command(program, args...), ended: make(chan struct{})}
	c.Stdout, c.Stderr = &c.stdout, &c.stderr
	p.launch(c, c.Start)
	return c
}

// launch starts a child by start and waits for its end in the background.
func (p *place) launch(c *child, start func() error) {
	p.t.Helper()
	c.Dir, c.Env = p.volume, append(p.env, c.Env...)
	if err := start(); err != nil {
		p.t.Fatal(err)
	}
	go func() { _ = c.Wait(); close(c.ended) }()
	p.t.Cleanup(func() { _ = c.Process.Kill(); <-c.ended })
}

// signal sends a signal to a child that runs.
func (p *place) signal(c *child, s syscall.Signal) {
	p.t.Helper()
	if err := c.Process.Signal(s); err != nil {
		p.t.Fatalf("%v: %v\n%s", s, err, &c.stderr)
	}
}

// exit waits for a child's end and returns its exit code. −1 means a signal.
func (p *place) exit(c *child) int {
	p.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(3 * time.Minute): // a busy machine takes its time; a hang does not end at all
		p.t.Fatal("filewise does not end")
	}
	return c.ProcessState.ExitCode()
}

// run runs filewise to its end, which has to have this exit code.
func (p *place) run(code int, args ...string) *child {
	p.t.Helper()
	c := p.start("filewise", args...)
	if got := p.exit(c); got != code {
		p.t.Fatalf("filewise %v: exit code %d, want %d\n%s", args, got, code, &c.stderr)
	}
	return c
}

// newest reads the newest run; the id is 0 when there is none.
func (p *place) newest() (id int64, state store.State, plan experiment.Plan, trials []filewise.Trial) {
	p.t.Helper()
	r, trials, err := filewisetest.Newest(p.store)
	if err != nil {
		p.t.Fatal(err)
	}
	return r.ID, r.State, r.Plan, trials
}

// untilTrials waits until so many trials of the newest run are stored.
func (p *place) untilTrials(c *child, n int) {
	p.t.Helper()
	err := until(time.Minute, func() (bool, error) {
		select {
		case <-c.ended:
			return false, fmt.Errorf("filewise ended:\n%s", &c.stderr)
		default:
		}
		_, _, _, trials := p.newest()
		return len(trials) >= n, nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}
