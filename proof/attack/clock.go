//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"filewise/cmd/filewise/filewisetest"
	"filewise/results/store"
)

// clockFile is the environment variable that names the file with the seconds by which a process's wall clock is off.
const clockFile = "ATTACK_CLOCK"

// offset is added to Go's package time. A goroutine reads the file every 20 ms, because Now also runs in the runtime's
// timers, which can read nothing.
const offset = `
var attackOff atomic.Int64

func init() {
	name, _ := syscall.Getenv("` + clockFile + `")
	if name == "" {
		return
	}
	attackRead(name)
	go func() {
		for {
			Sleep(20 * Millisecond)
			attackRead(name)
		}
	}()
}

func attackRead(name string) {
	fd, err := open(name)
	if err != nil {
		return
	}
	var b [32]byte
	n, _ := read(fd, b[:])
	closefd(fd)
	off, sign := int64(0), int64(1)
	for _, c := range b[:max(n, 0)] {
		if c == '-' {
			sign = -1
		}
		if c >= '0' && c <= '9' {
			off = 10*off + int64(c-'0')
		}
	}
	attackOff.Store(sign * off)
}
`

// buildClock builds the program with a wall clock that can be set, as the system sets it: the monotonic clock goes on.
func buildClock(ctx context.Context, dir, to string) error {
	root, err := goTool(ctx, "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	path := filepath.Join(string(bytes.TrimSpace(root)), "src", "time", "time.go")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin := []byte("func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n")
	if !bytes.Contains(text, begin) {
		return errors.New("this Go has another time.Now")
	}
	text = bytes.Replace(text, begin, append(begin, "\tsec += attackOff.Load()\n"...), 1)
	text = bytes.Replace(text, []byte("import (\n"), []byte("import (\n\t\"sync/atomic\"\n\t\"syscall\"\n"), 1)
	changed, list := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err := errors.Join(err, os.WriteFile(changed, append(text, offset...), 0o600), os.WriteFile(list, overlay, 0o600)); err != nil {
		return err
	}
	if out, err := goTool(ctx, "build", "-overlay", list, "-o", to, "./cmd/filewise").CombinedOutput(); err != nil {
		return fmt.Errorf("building with another clock: %w\n%s", err, out)
	}
	return nil
}

// clockSet sets the wall clock back or forth by a day in a run, kills the run, sets the clock again in its resumption,
// and reads the run.
func clockSet(p *place) error {
	own := *p.attack
	own.filewise = filepath.Join(p.attack.dir, "filewise-clock")
	if _, err := os.Stat(own.filewise); err != nil {
		if err := buildClock(p, p.attack.dir, own.filewise); err != nil {
			return err
		}
	}
	p.attack = &own
	file := filepath.Join(p.dir, "clock")
	p.env = append(p.env, clockFile+"="+file)
	set := func() error { // writes of a few bytes are read whole
		return os.WriteFile(file, []byte(strconv.Itoa((p.IntN(3)-1)*86400)), 0o600)
	}
	args := runArgs(sqliteRun...)
	for kill := range 2 {
		if err := set(); err != nil {
			return err
		}
		c, err := p.start(nil, args...)
		if err != nil {
			return err
		}
		for range 3 {
			p.wait(700 * time.Millisecond)
			if err := set(); err != nil {
				return err
			}
		}
		before, err := p.stored()
		if err != nil {
			return err
		}
		if kill == 0 {
			if err := p.kill(c, time.Second); err != nil {
				return err
			}
		} else if code, err := c.exit(); err != nil || code != 0 {
			return errors.Join(err, fmt.Errorf("%v: exit code %d\n%.2000s", args, code, c.stderr.Bytes()))
		}
		if _, err := p.run(succeeds, "clean"); err != nil {
			return err
		}
		s, err := p.stored()
		if err == nil && s.run.ID != 0 {
			err = p.kept(before)
		}
		if err != nil {
			return err
		}
		if s.run.ID != 0 && s.run.State != store.Done {
			args = []string{"resume"}
		}
	}
	return clockRead(p, set)
}

// clockRead has all commands read the run of clockSet, which must be complete, and another store import it.
func clockRead(p *place, set func() error) error {
	s, err := p.stored()
	if err != nil {
		return err
	}
	complete, err := filewisetest.AsPlanned(s.run.Plan, s.trials)
	if err != nil || !complete || s.run.State != store.Done {
		return fmt.Errorf("complete %v, state %s, %s: %w", complete, s.run.State, s.run.Verdict, err)
	}
	bundle, report, other := filepath.Join(p.dir, "bundle"), filepath.Join(p.dir, "r.html"), filepath.Join(p.dir, "other.db")
	for _, args := range [][]string{{"list"}, {"show"}, {"judge"}, {"report", "-o", report}, {"export", "--bundle", bundle}, {"clean"},
		{"stop"}, {"import", "--store", other, bundle}, {"list", "--store", other}} {
		if err := set(); err != nil {
			return err
		}
		if _, err := p.run([]int{0, 7}, args...); err != nil {
			return err
		}
	}
	return p.tidy()
}
