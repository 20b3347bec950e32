//go:build unix

package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// daemon is a server of the user's that can be killed and started again.
type daemon struct{ *exec.Cmd }

func (d *daemon) kill() {
	_ = d.Process.Kill()
	_ = d.Wait()
}

func (d *daemon) again() error {
	d.Cmd = exec.Command(d.Path, d.Args[1:]...)
	return d.Start()
}

// A server that is killed under a run, and does not come back, ends it with exit code 8 and
// what to do; once it is back, resume goes on and clean leaves nothing.
func TestServerGone(t *testing.T) {
	t.Parallel()
	for name, start := range byURL() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t)
			p := newPlace(t)
			p.env = append(p.env, "FILEWISE_PASSWORD="+accountPassword)
			c := p.start("filewise", f.args("run", externalRun("500ms")...)...)
			if err := until(time.Minute, func() (bool, error) {
				out, err := f.sql(f.working)
				return strings.TrimSpace(out) == "2", err
			}); err != nil {
				t.Fatalf("no trial: %v\n%s", err, &c.stderr)
			}
			f.daemon.kill()
			if code := p.exit(c); code != 8 || !strings.Contains(c.stderr.String(), "lost the connection to the server") {
				t.Errorf("the server is gone: exit code %d\n%s", code, &c.stderr)
			}
			if _, state, _, _ := p.newest(); state != "interrupted" {
				t.Errorf("the run is %s", state)
			}
			if err := until(3*time.Minute, func() (bool, error) { // what is left of the killed one may still hold its files
				if err := f.daemon.again(); err != nil {
					return false, err
				}
				for range 300 { // it may have to recover
					if _, err := f.sql("SELECT 1"); err == nil {
						return true, nil
					}
					time.Sleep(100 * time.Millisecond)
				}
				f.daemon.kill()
				return false, nil
			}); err != nil {
				t.Fatal("the server does not start again: ", err)
			}
			p.run(0, "resume")
			_, _, plan, trials := p.newest()
			if complete, err := inOrder(plan, trials); err != nil || !complete {
				t.Errorf("complete %v: %v", complete, err)
			}
			p.run(0, f.args("clean", "--yes")...)
			if c := p.run(0, f.args("clean", "--yes")...); !strings.Contains(c.stdout.String(), "Nothing was left behind") {
				t.Errorf("clean: %s%s", &c.stdout, &c.stderr)
			}
			p.tidy()
		})
	}
}
