//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ownStudy is a study as capture might have written it of the database of theirs.
const ownStudy = `files: [1, 4]
custom:
  tables:
    orders: id
  parameters:
    id: {int: {from: 1, to: 600}}
  transactions:
    look: {sql: "SELECT net FROM orders WHERE id = :id"}
`

// makeSales makes the user's database, and the one that the URL names.
func (o *owned) makeSales(t *testing.T) {
	t.Helper()
	o.prepare(t, "CREATE DATABASE sales")
	o.prepare(t, "CREATE DATABASE copied")
	o.feed(t, "sales", strings.Join(o.schema, ";\n")+";\n")
}

// SIGKILL at random moments of work on a database of the user's. The next start and clean leave nothing on the
// server, on disk and of processes. The database is the same, what was written is whole, and the command comes to its
// end. proof/attack kills 8 of each command, as root also in containers; without it there is one kill of two.
func TestKillOwn(t *testing.T) {
	t.Parallel()
	servers := map[string]func(*testing.T) *owned{"postgres": ownPostgres}
	if attacked() {
		servers["mariadb"], servers["mysql"] = ownMariaDB, ownMySQL
	}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := start(t)
			o.makeSales(t)
			p := newPlace(t)
			p.env = append(p.env, "FILEWISE_PASSWORD="+accountPassword)
			dir, backups := t.TempDir(), t.TempDir()
			study, out := filepath.Join(dir, "own.yaml"), filepath.Join(dir, "out")
			if err := os.WriteFile(study, []byte("engine: "+name+"\n"+ownStudy), 0o600); err != nil {
				t.Fatal(err)
			}
			own := []string{"--target", o.target, "--database=sales", "--output", out}
			o.killed(t, p, out, 3*time.Second, append([]string{"capture", "--log", o.log(t), "--for=1s"}, own...)...)
			if attacked() {
				o.killed(t, p, "", time.Second, "inspect", "--target", o.target)
				o.killed(t, p, "", time.Second, "plan", "--sql", "--target", o.target)
				o.killed(t, p, "", 9*time.Second, "doctor", "--self-check", "--yes", "--target", o.target)
				o.killed(t, p, "", 9*time.Second, "run", study, "--from", o.url("sales"), "--kind=partitions", "--size=12MiB", "--builds=1",
					"--window=200ms", "--warm-up=0s", "--max-blocks=3", "--budget=0", "--volume", "here="+p.volume)
				o.killed(t, p, out, time.Second, append([]string{"apply", "--table=orders", "--layout=4 files", "--untested"}, own...)...)
			}
			o.killed(t, p, out, 9*time.Second, append([]string{"backup", "--files=1,2", "--max-blocks=3", "--budget=0",
				"--volume=here=" + backups, "--backup-option=" + o.options}, own...)...)
			if left, err := os.ReadDir(backups); err != nil || len(left) > 0 {
				t.Errorf("backups are left: %v, %v", left, err)
			}
			p.noPassword()
		})
	}
}

// log is one of a server, with a transaction.
func (o *owned) log(t *testing.T) string {
	path, text := filepath.Join(t.TempDir(), "log"), ""
	for n := range 2000 {
		if strings.HasPrefix(o.target, "postgres") {
			text += fmt.Sprintf(`{"dbname":"sales","session_id":"1","message":"statement: SELECT net FROM orders WHERE id = %d"}`+"\n", n)
		} else {
			text += fmt.Sprintf("\t\t    12 Query\tSELECT net FROM sales.orders WHERE id = %d\n", n)
		}
	}
	if !strings.HasPrefix(o.target, "postgres") {
		text = "\t\t    12 Connect\ta@localhost on sales using Socket\n" + text
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// killed kills a command again and again, and has it come to its end.
func (o *owned) killed(t *testing.T, p *place, out string, within time.Duration, args ...string) {
	all := p.t
	defer func() { p.t = all }()
	t.Run(args[0], func(t *testing.T) {
		p.t = t
		kills := 1
		if attacked() {
			kills = 8
		}
		moments := rand.New(rand.NewPCG(killSeed(t), uint64(within)))
		before := o.dump(t, "sales")
		for n := range kills {
			apart := strings.Fields("unshare --pid --mount-proc --time --boottime 86400 --fork --kill-child filewise")
			if !attacked() || moments.IntN(2) == 0 { // else the killed process is all of a container
				apart = apart[len(apart)-1:]
			}
			c := p.start(apart[0], append(apart[1:], args...)...)
			select {
			case <-time.After(time.Duration(moments.Int64N(int64(within)))):
			case <-c.ended:
			}
			if attacked() {
				other := p.start("unshare", "--pid", "--mount-proc", "--fork", "filewise", "clean")
				if code := p.exit(other); code != 0 || strings.Contains(other.stdout.String()+other.stderr.String(), "removed ") {
					t.Errorf("clean of another container, beside it: exit code %d\n%s%s", code, &other.stdout, &other.stderr)
				}
			}
			_ = c.Process.Kill() // it may just have ended
			<-c.ended
			if code := c.ProcessState.ExitCode(); code > 0 {
				t.Fatalf("kill %d: it ended by itself with exit code %d: %s", n, code, &c.stderr)
			}
			p.show(c)
			o.nothingLeft(t, p, before)
			o.whole(t, out, "")
		}
		if !attacked() {
			return
		}
		c := p.run(0, args...)
		p.show(c)
		o.nothingLeft(t, p, before)
		o.whole(t, out, c.stderr.String())
	})
}

// nothingLeft: the next start and clean remove all leftovers, and the database is as before.
func (o *owned) nothingLeft(t *testing.T, p *place, before string) {
	t.Helper()
	p.show(p.run(0, "engines"))
	if err := until(time.Minute, func() (bool, error) { // the server may still list the dead sessions
		c := p.run(0, o.args("clean", "--yes")...)
		return strings.Contains(c.stdout.String(), "Nothing was left behind"), nil
	}); err != nil {
		t.Errorf("clean: %v", err)
	}
	if out, err := o.sql(listDatabases); err != nil || strings.Contains(out, "filewise_") {
		t.Errorf("a database is left: %q, %v", out, err)
	}
	if after := o.dump(t, "sales"); after != before {
		t.Errorf("the original has changed: before\n%.2000s\nafter\n%.2000s", before, after)
	}
	p.tidy()
}

// whole: a file that was written is there as a whole, and goes; once a command has reported that it wrote it, it has
// to be there, and nothing next to it.
func (o *owned) whole(t *testing.T, out, said string) {
	t.Helper()
	if out == "" {
		return
	}
	text, err := os.ReadFile(out)
	if (err == nil || strings.Contains(said, "wrote ")) && !strings.HasSuffix(string(text), "\n") {
		t.Errorf("half of it was written: %v\n%s", err, text)
	}
	all, err := filepath.Glob(out + "*")
	if err != nil || said != "" && len(all) > 2 { // apply's other script
		t.Errorf("left beside it: %v, %v", all, err)
	}
	for _, path := range all {
		if said != "" || !strings.HasSuffix(path, ".part") {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		}
	}
}
