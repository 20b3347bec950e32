//go:build linux

package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"filewise"
	"filewise/cmd/filewise/filewisetest"
	"filewise/internal/process"
	"filewise/internal/sqlitedriver"
	"filewise/results/store"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// patience limits the time of an undisturbed filewise.
const patience = 3 * time.Minute

// place belongs to one try. It has a volume with some of the user's files, a store, a state directory and a lock.
type place struct {
	*attack
	context.Context
	*rand.Rand
	dir, volume, store, state string
	env                       []string
	belongings                map[string]string
	segments                  []string // SysV segments that existed before
	started                   []process.Identity
	undo                      []func() error
	count, most               int // tries in this place, and how many there shall be
	end                       time.Time
	unread                    bool   // the store cannot be read until it is mended
	at                        string // the directory of commands
	says                      string // of the remedy that a run must name after a fault. Empty means any
}

func (a *attack) place(ctx context.Context, name string, random *rand.Rand) (*place, error) {
	dir := filepath.Join(a.dir, name)
	volume := filepath.Join(dir, "volume")
	p := &place{attack: a, Context: ctx, Rand: random, dir: dir, volume: volume, at: volume, store: filepath.Join(dir, "store.db"),
		state: filepath.Join(dir, "state")}
	p.env = append(os.Environ(), "FILEWISE_STORE="+p.store, "FILEWISE_STATE="+p.state, "FILEWISE_STORAGE_LIMIT=off",
		fmt.Sprintf("FILEWISE_LOCK=attack-%d-%s", os.Getpid(), name))
	err := os.MkdirAll(p.volume, 0o755)
	for name, content := range map[string]string{"filewise-zzzzyyyyxxxxw": "the user's", "1-file-0001.db": "the user's",
		"mine.db": "the user's"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(p.volume, name), []byte(content), 0o600))
	}
	if err == nil {
		p.belongings, err = filewisetest.Tree(p.volume)
	}
	if err == nil {
		p.segments, err = segments()
	}
	return p, err
}

// close ends what the place has started, in turn, and removes the place.
func (p *place) close() error {
	var err error
	for _, undo := range slices.Backward(p.undo) {
		err = errors.Join(err, undo())
	}
	p.undo = nil
	return errors.Join(err, os.RemoveAll(p.dir))
}

// until polls, with the patience that a busy machine needs.
func until(so func() (bool, error)) error { return filewisetest.Until(3*time.Minute, so) }

// child is a running filewise process.
type child struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer // to be read once it has ended
	ended          chan struct{}
}

// start starts filewise, or a program in wrap that starts it.
func (p *place) start(wrap []string, args ...string) (*child, error) {
	all := append(slices.Clone(wrap), append([]string{p.filewise}, args...)...)
	c := &child{Cmd: exec.CommandContext(p.Context, all[0], all[1:]...), ended: make(chan struct{})}
	c.Dir, c.Env, c.Stdout, c.Stderr = p.at, p.env, &c.stdout, &c.stderr
	if err := c.Start(); err != nil {
		return nil, err
	}
	if id, err := process.Of(c.Process.Pid); err == nil {
		p.started = append(p.started, id)
	}
	go func() { _ = c.Wait(); close(c.ended) }()
	p.undo = append(p.undo, func() error { _ = c.Process.Kill(); <-c.ended; return nil })
	return c, nil
}

// exit waits for a child's end, and returns its exit code. −1 means that a signal ended it.
func (c *child) exit() (int, error) {
	select {
	case <-c.ended:
		return c.ProcessState.ExitCode(), c.sound()
	case <-time.After(patience):
		return 0, fmt.Errorf("filewise %v does not end", c.Args[1:])
	}
}

// sound checks that the child has not panicked, and mentions none of the attack's variables.
func (c *child) sound() error {
	said := slices.Concat(c.stderr.Bytes(), c.stdout.Bytes())
	if bytes.Contains(said, []byte("unknown variable")) {
		return fmt.Errorf("the tests' own variables are warned of: %.300s", c.stderr.Bytes())
	}
	if bytes.Contains(said, []byte("panic:")) || bytes.Contains(said, []byte("fatal error:")) || bytes.Contains(said, []byte("goroutine 1 ")) {
		return fmt.Errorf("%v panics:\n%.3000s", c.Args[1:], c.stderr.Bytes())
	}
	return nil
}

// run runs filewise to its end. It must end with one of these exit codes.
func (p *place) run(codes []int, args ...string) (*child, error) {
	c, err := p.start(nil, args...)
	if err != nil {
		return nil, err
	}
	code, err := c.exit()
	if err == nil && !slices.Contains(codes, code) {
		err = fmt.Errorf("filewise %v: exit code %d, not one of %v\n%.2000s", args, code, codes, c.stderr.Bytes())
	}
	return c, err
}

var succeeds = []int{0}

// kill kills a child at a random moment within a time, unless it ends before. If it has then failed by itself, kill
// returns an error.
func (p *place) kill(c *child, within time.Duration) error {
	select {
	case <-time.After(time.Duration(p.Int64N(int64(within)))):
	case <-c.ended:
	}
	_ = c.Process.Kill() // it may have ended in the meantime
	<-c.ended
	if code := c.ProcessState.ExitCode(); code > 0 {
		return fmt.Errorf("filewise %v ended by itself with exit code %d\n%.2000s", c.Args[1:], code, c.stderr.Bytes())
	}
	return c.sound()
}

// stored holds a store's newest run.
type stored struct {
	run    store.Run
	trials []filewise.Trial
}

func (p *place) stored() (s stored, err error) {
	s.run, s.trials, err = filewisetest.Newest(p.store)
	return s, err
}

// kept checks that nothing stored is lost or altered, and that every trial was the plan's next.
func (p *place) kept(before stored) error {
	after, err := p.stored()
	if err != nil {
		return err
	}
	if after.run.State == store.Running {
		return errors.New("the run is still listed as running")
	}
	if before.run.ID == after.run.ID && (len(after.trials) < len(before.trials) ||
		len(before.trials) > 0 && !cmp.Equal(before.trials, after.trials[:len(before.trials)], cmpopts.EquateNaNs())) {
		return fmt.Errorf("%d trials were stored, %d are, or they differ", len(before.trials), len(after.trials))
	}
	if after.run.ID == 0 {
		return nil
	}
	if _, err := filewisetest.AsPlanned(after.run.Plan, after.trials); err != nil {
		return err
	}
	return integrity(p, p.store)
}

// clean checks that after the next command that sweeps, everything of the user's is left, and nothing of Filewise's.
func (p *place) clean() error {
	if _, err := p.run(succeeds, "engines"); err != nil {
		return err
	}
	return p.tidy()
}

// tidy checks that everything of the user's is left, and nothing of Filewise's.
func (p *place) tidy() error {
	if err := until(func() (bool, error) {
		for _, id := range p.started {
			if id.Status() != process.Dead {
				return false, nil
			}
		}
		return len(filewisetest.ServersBelow(p.volume)) == 0, nil
	}); err != nil {
		return fmt.Errorf("processes are left: %+v: %w", filewisetest.ServersBelow(p.volume), err)
	}
	now, err := filewisetest.Tree(p.volume)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(p.belongings, now) {
		return fmt.Errorf("the volume is not as it was: %.2000v, was %.2000v", now, p.belongings)
	}
	registered, err := filepath.Glob(filepath.Join(p.state, "scratch", "*"))
	if err == nil && len(registered) > 0 {
		err = fmt.Errorf("still registered: %v", registered)
	}
	return err
}

// segmentsGone checks that no new shared memory segment is left.
func (p *place) segmentsGone() error {
	var left []string
	err := until(func() (bool, error) {
		now, err := segments()
		left = slices.DeleteFunc(now, func(s string) bool { return slices.Contains(p.segments, s) })
		return len(left) == 0, err
	})
	if err != nil {
		return fmt.Errorf("SysV segments are left: %v: %w", left, err)
	}
	return nil
}

// segments returns the SysV segments without an attached process, with the processes that made them.
func segments() (ids []string, err error) {
	text, err := os.ReadFile("/proc/sysvipc/shm")
	if errors.Is(err, fs.ErrNotExist) { // the kernel has no such segments
		return nil, nil
	}
	for i, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); i > 0 && len(f) > 6 && f[6] == "0" {
			ids = append(ids, "shmid "+f[1]+" of process "+f[4])
		}
	}
	return ids, err
}

// finish resumes the newest run to its end.
func (p *place) finish() error {
	before, err := p.stored()
	if err != nil || before.run.ID == 0 {
		return err
	}
	if _, err := p.run(succeeds, "resume"); err != nil {
		return err
	}
	after, err := p.stored()
	if err != nil {
		return err
	}
	if complete, err := filewisetest.AsPlanned(after.run.Plan, after.trials); err != nil || !complete || after.run.State != store.Done {
		return fmt.Errorf("resumed: complete %v, state %s: %w", complete, after.run.State, err)
	}
	return errors.Join(p.kept(before), p.tidy())
}

// integrity runs SQLite's own check.
func integrity(ctx context.Context, path string) (err error) {
	db, err := sql.Open(sqlitedriver.Name, "file:"+path+"?mode=ro")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var text string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&text); err != nil || text != "ok" {
		return fmt.Errorf("integrity of the store: %q %w", text, err)
	}
	return nil
}

// signalServers sends a signal to the place's managed servers, and returns their number.
func (p *place) signalServers(s syscall.Signal) (n int, err error) {
	for _, server := range filewisetest.ServersBelow(p.volume) {
		if e := syscall.Kill(server.ID.PID, s); e == nil {
			n++
		} else if !errors.Is(e, syscall.ESRCH) {
			err = errors.Join(err, e)
		}
	}
	return n, err
}
