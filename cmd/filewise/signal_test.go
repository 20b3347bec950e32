//go:build unix

package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filewise/host/scratch"
	"filewise/internal/sqlitedriver"
	"filewise/results/store"
)

// short runs take some seconds: 3 pilots and at least 9 trials.
var shortRun = []string{"run", "--files=1,2,4", "--window=200ms", "--warm-up=50ms", "--max-blocks=5", "--budget=0",
	"--size=1MiB", "--connections=4", "--seed=3"}

// tidy checks that nothing of ours is left, and everything of the user's.
func (p *place) tidy() {
	p.t.Helper()
	now, err := treeOf(p.volume)
	if err != nil {
		p.t.Fatal(err)
	}
	if diff := cmp.Diff(p.belongings, now); diff != "" {
		p.t.Errorf("the volume is not as it was (− before, + now):\n%.3000s", diff)
	}
	registered, err := filepath.Glob(filepath.Join(p.state, "scratch", "*"))
	if err != nil || len(registered) > 0 {
		p.t.Errorf("still registered: %v %v", registered, err)
	}
	p.noServers(nil, 0)
	if p.own != nil {
		p.own.untouched(p.t)
	}
}

// finish resumes the newest run to its end and checks every trial.
func (p *place) finish() {
	p.t.Helper()
	p.run(0, "resume")
	_, state, plan, trials := p.newest()
	complete, err := inOrder(plan, trials)
	if err != nil || !complete || state != store.Done {
		p.t.Errorf("resumed: complete %v, state %s: %v", complete, state, err)
	}
	p.tidy()
}

// An interrupt ends the running trial cleanly and keeps the finished ones; the
// run goes on later in the same order.
func TestInterrupt(t *testing.T) {
	// Children inherit what is ignored: these tests may run under nohup.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			c := p.start("filewise", shortRun...)
			p.untilTrials(c, 4)
			p.interrupt(c, s)
			p.finish()
		})
	}
}

// interrupt sends a signal to a measuring filewise, which ends its trial and reports how to go on.
func (p *place) interrupt(c *child, s syscall.Signal) {
	p.t.Helper()
	_, _, _, before := p.newest()
	p.signal(c, s)
	if code := p.exit(c); code != 130 {
		p.t.Errorf("exit code %d, want 130", code)
	}
	p.tidy()
	if !strings.Contains(c.stdout.String(), "resume 1") || !strings.Contains(c.stderr.String(), "interrupted") {
		p.t.Errorf("it does not say how to go on:\n%s%s", &c.stdout, &c.stderr)
	}
	_, state, plan, after := p.newest()
	complete, err := inOrder(plan, after)
	if err != nil || complete || state != store.Interrupted {
		p.t.Errorf("complete %v, state %s: %v", complete, state, err)
	}
	if diff := cmp.Diff(before, after[:len(before)]); diff != "" {
		p.t.Errorf("stored trials were altered:\n%s", diff)
	}
}

// A signal ends what waits for the other end of a pipe, or for what comes out of it.
func TestInterruptAtAPipe(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a thread waits for")
	}
	t.Parallel()
	p := newPlace(t)
	pipe := filepath.Join(p.volume, "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	end := func(c *child) {
		t.Helper()
		p.signal(c, syscall.SIGTERM)
		if code := p.exit(c); code != 130 || !strings.Contains(c.stderr.String(), "interrupted") {
			t.Errorf("%v: exit code %d, want 130: %s", c.Args, code, &c.stderr)
		}
	}
	server := "--target=postgres://u@127.0.0.1:1/d"
	for _, args := range [][]string{{"judge", "--csv", pipe}, {"plan", pipe}, {"import", pipe}, {"export", "--schema", "-o", pipe},
		{"doctor", "--notify=file:" + pipe}, {"inspect", server, "--password-file", pipe}, {"serve", "--token-file", pipe},
		{"inspect", "--no-password", server + "?sslmode=verify-full&sslrootcert=" + pipe},
		{"inspect", "--no-password", "--target=mysql://u@127.0.0.1:1/?tls-ca=" + pipe},
		{"capture", "--no-password", server, "--log", pipe}} {
		c := p.start("filewise", args...)
		opens := fmt.Sprintf("/proc/%d/task/*/wchan", c.Process.Pid)
		if err := until(time.Minute, func() (bool, error) {
			threads, err := filepath.Glob(opens)
			for _, thread := range threads {
				if where, _ := os.ReadFile(thread); string(where) == "wait_for_partner" { // it may just have ended
					return true, nil
				}
			}
			return false, err
		}); err != nil {
			t.Fatalf("%v opens no pipe: %v\n%s", args, err, &c.stderr)
		}
		end(c)
	}
	c := p.start("filewise", "judge", "--csv", pipe)
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until it is open
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	end(c)
}

// A signal ends what only computes, in the middle.
func TestInterruptWhileComputing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const layouts, blocks = 50, 200 // more than a second of a processor
	random := rand.New(rand.NewPCG(1, 2))
	var csv strings.Builder
	csv.WriteString("block,layout,instance,throughput\n")
	for row := range layouts * blocks {
		block, layout := row/layouts, row%layouts
		fmt.Fprintf(&csv, "%d,l%d,%d-%d,%d\n", block+1, layout, layout, block%4, 1000+random.IntN(40))
	}
	table := filepath.Join(p.volume, "trials.csv")
	if err := os.WriteFile(table, []byte(csv.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := p.start("filewise", "judge", "--csv", table)
	if err := until(time.Minute, func() (bool, error) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
		fields := strings.Fields(string(stat))
		return len(fields) > 13 && len(fields[13]) > 1, err // ten hundredths of a second
	}); err != nil {
		t.Fatalf("%v: %s", err, &c.stderr)
	}
	p.signal(c, syscall.SIGINT)
	if code := p.exit(c); code != 130 || !strings.Contains(c.stderr.String(), "nothing was changed") {
		t.Errorf("exit code %d, want 130: %s", code, &c.stderr)
	}
}

// Two signals end it at once; the next start removes what is left.
func TestInterruptTwice(t *testing.T) {
	p := newPlace(t)
	c := p.start("filewise", shortRun...)
	p.untilTrials(c, 2)
	p.stopBetweenWrites(c) // both are there when it goes on
	p.signal(c, syscall.SIGINT)
	p.signal(c, syscall.SIGTERM)
	_, _, _, before := p.newest()
	start := time.Now()
	p.signal(c, syscall.SIGCONT)
	code := p.exit(c)
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v to stop", took)
	}
	if code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if c.stdout.Len() > 0 {
		t.Errorf("it did not stop at once: %s", &c.stdout)
	}
	// A dry run lists what there is, wherever its flags stand, and removes nothing.
	for _, args := range [][]string{{"--json", "clean", "--dry-run"}, {"clean", "--dry-run", "--json"}} {
		var left []scratch.Leftover
		out := p.run(0, args...).stdout.Bytes()
		if err := json.Unmarshal(out, &left); err != nil || len(left) != 1 || left[0].Removed || left[0].Kept != "" ||
			left[0].Owner != c.Process.Pid {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	v := p.run(0, "engines")
	if got := v.stderr.String(); strings.Count(got, "removed "+p.volume) != 1 {
		t.Errorf("version does not say that it removed the scratch directory: %q", got)
	}
	p.tidy()
	_, state, _, after := p.newest()
	if state != store.Interrupted || cmp.Diff(before, after) != "" {
		t.Errorf("state %s, %d trials, want interrupted and %d", state, len(after), len(before))
	}
	p.finish()
}

// stopBetweenWrites stops a filewise that holds no lock on its store.
func (p *place) stopBetweenWrites(c *child) {
	p.t.Helper()
	db, err := sql.Open(sqlitedriver.Name, p.store)
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close() // ends the transaction as well
	db.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA busy_timeout = 10000", "BEGIN IMMEDIATE"} {
		if _, err := db.ExecContext(p.t.Context(), s); err != nil {
			p.t.Fatal(err)
		}
	}
	p.signal(c, syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		p.t.Fatalf("it is not stopped: %v, %v", status, err)
	}
}

// What nohup makes it ignore is ignored.
func TestIgnoredSignal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.start("sh", append([]string{"-c", `trap "" HUP; exec filewise "$@"`, "sh"}, shortRun...)...)
	p.untilTrials(c, 1)
	p.signal(c, syscall.SIGHUP)
	p.untilTrials(c, 3)
	p.signal(c, syscall.SIGINT)
	if code := p.exit(c); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	p.tidy()
}

// A reader of its lines that goes away does not end a measurement.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := &child{Cmd: exec.Command("filewise", shortRun...), ended: make(chan struct{})}
	c.Stdout = &c.stdout
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.launch(c, c.Start)
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil || !regexp.MustCompile("^Run 1: ").MatchString(line) {
		t.Fatalf("the first line is %q: %v", line, err)
	}
	if err := stderr.Close(); err != nil {
		t.Fatal(err)
	}
	if code := p.exit(c); code != 0 {
		t.Errorf("exit code %d, want 0: %v", code, c.ProcessState)
	}
	if _, state, _, _ := p.newest(); state != store.Done {
		t.Errorf("state %s, want done", state)
	}
	p.tidy()
}
