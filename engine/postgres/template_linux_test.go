package postgres

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"
)

// What makes the template names the directories of all volumes, for it is registered with
// each: one that lives long on a busy machine would be refused.
func TestTemplateNamesAllVolumes(t *testing.T) {
	t.Parallel()
	need(t)
	target := onScratch(t, 2)
	started := 0
	target.OnStart = func(pid int) error {
		started++
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		for limit := time.Now().Add(10 * time.Second); len(env) == 0 && err == nil && time.Now().Before(limit); { // it is still set up
			time.Sleep(time.Millisecond)
			env, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		}
		for _, v := range target.Volumes {
			if err != nil || !bytes.Contains(env, []byte(v.Dir)) {
				t.Errorf("process %d does not name %s (%v): %q", pid, v.Dir, err, env)
			}
		}
		return nil
	}
	buildOn(t, deadline(t), open(t, deadline(t), target), partitions(2, 1<<20), inserts(t, nil))
	if started < 2 {
		t.Errorf("%d processes were registered", started)
	}
}
