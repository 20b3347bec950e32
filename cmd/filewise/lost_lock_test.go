//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// asLock reports on a server who has the measuring lock, and ends that session. For a while it lets another session
// take the lock as soon as it is free.
type asLock struct{ holder, end, steal string }

var lockOfInnoDB = asLock{"SELECT IFNULL(IS_USED_LOCK('filewise measures'), '')", "KILL CONNECTION %s",
	"SELECT GET_LOCK('filewise measures', 60), SLEEP(60)"}

var lockOf = map[string]asLock{
	"mariadb": lockOfInnoDB, "mysql": lockOfInnoDB,
	"postgres": {"SELECT pid FROM pg_stat_activity WHERE application_name ~ '^filewise [0-9a-f]{8} measuring ' ORDER BY backend_start LIMIT 1",
		"SELECT pg_terminate_backend(%s)", "SET application_name = 'filewise 00000000 measuring 1 a thief'; SELECT pg_sleep(60)"},
}

// A lock that is lost in the middle of a run is taken again, and what was measured without it is measured again. When
// another has it, the run stops and can be resumed.
func TestLostLock(t *testing.T) {
	t.Parallel()
	for name, start := range byURL() {
		t.Run(name, func(t *testing.T) {
			f, l := start(t), lockOf[name]
			p := newPlace(t)
			p.env = append(p.env, "FILEWISE_PASSWORD="+accountPassword)
			holder := func(not string) (id string) {
				t.Helper()
				if err := until(time.Minute, func() (bool, error) {
					out, err := f.sql(l.holder)
					id = strings.TrimSpace(out)
					return id != "" && id != not, err
				}); err != nil {
					t.Fatalf("nobody (or still %s) has the lock: %v", not, err)
				}
				return id
			}
			end := func(id string) { f.prepare(t, fmt.Sprintf(l.end, id)) }
			c := p.start("filewise", f.args("run", externalRun("1500ms")...)...)
			if err := until(time.Minute, func() (bool, error) {
				out, err := f.sql(listDatabases)
				return strings.Contains(out, "filewise_"), err
			}); err != nil {
				t.Fatalf("no database is built: %v\n%s", err, &c.stderr)
			}
			first := holder("")
			end(first)
			again := holder(first)
			thief := make(chan error, 1)
			go func() {
				_, err := f.sql(l.steal)
				thief <- err
			}()
			if err := until(time.Minute, func() (bool, error) {
				out, err := f.sql(waitsFor[name])
				return strings.TrimSpace(out) == "1", err
			}); err != nil {
				t.Fatal("the thief does not come: ", err)
			}
			end(again)
			if code := p.exit(c); code != 4 || !strings.Contains(c.stderr.String(), "another has it") {
				t.Errorf("another has the lock: exit code %d\n%s", code, &c.stderr)
			}
			end(holder(again))
			if err := <-thief; err == nil {
				t.Error("the thief was not ended")
			}
			if _, state, plan, trials := p.newest(); state != "interrupted" {
				t.Errorf("the run is %s, with %d trials of %s", state, len(trials), plan.Target.Engine)
			}
			p.run(0, "resume")
			_, _, plan, trials := p.newest()
			if complete, err := inOrder(plan, trials); err != nil || !complete {
				t.Errorf("complete %v: %v", complete, err)
			}
			p.tidy()
		})
	}
}

// waitsFor counts the thieves.
var waitsFor = map[string]string{
	"mariadb":  thieves,
	"mysql":    thieves,
	"postgres": "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'filewise 00000000 measuring %'",
}

const thieves = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT GET_LOCK%SLEEP%'"
