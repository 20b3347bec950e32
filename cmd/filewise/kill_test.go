//go:build unix

package main

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filewise/store"
)

// killsWanted is how many kills there are: $FILEWISE_KILLS, else 50 in CI and 10
// elsewhere.
func killsWanted(t *testing.T) int {
	if v := os.Getenv("FILEWISE_KILLS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			t.Fatalf("FILEWISE_KILLS=%q is not a number of kills", v)
		}
		return n
	}
	if os.Getenv("CI") != "" {
		return 50
	}
	return 10
}

// SIGKILL at random moments, those of starting and storing included: nothing
// that was stored is lost, altered or measured again, and the next start of any
// kind removes the scratch directories and nothing else.
func TestKill(t *testing.T) {
	t.Parallel()
	wanted, seed := killsWanted(t), uint64(1)
	if v := os.Getenv("FILEWISE_KILL_SEED"); v != "" {
		var err error
		if seed, err = strconv.ParseUint(v, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills; FILEWISE_KILL_SEED=%d repeats the moments", wanted, seed)
	moments := rand.New(rand.NewPCG(seed, 0))
	p := newPlace(t)
	kills, runs, removed, leftRunning := 0, 0, 0, 0
	for kills < wanted {
		id, state, plan, trials := p.newest()
		args := []string{"resume"}
		if id == 0 || state == store.Done {
			args, runs = shortRun, runs+1
		}
		c := p.start("filewise", args...)
		select {
		case <-time.After(time.Duration(moments.Int64N(int64(1500 * time.Millisecond)))):
		case <-c.ended:
			if code := c.ProcessState.ExitCode(); code != 0 {
				t.Fatalf("filewise %v ended by itself with exit code %d\n%s", args, code, &c.stderr)
			}
			continue
		}
		_, _, _, before := p.newest()
		_ = c.Process.Kill() // it may just have ended
		<-c.ended
		if c.ProcessState.ExitCode() == -1 {
			kills++
		}

		v := p.run(0, "version")
		removed += strings.Count(v.stderr.String(), "removed "+p.volume)
		p.tidy()
		id2, state, plan, after := p.newest()
		if state == store.Running {
			leftRunning++
		}
		if len(after) < len(before) || cmp.Diff(before, after[:len(before)]) != "" {
			t.Fatalf("kill %d: %d trials were stored, %d are, or they differ", kills, len(before), len(after))
		}
		if id2 == id && len(after) < len(trials) {
			t.Fatalf("kill %d: trials were lost", kills)
		}
		if id2 == 0 {
			continue // killed before there was a run
		}
		if _, err := inOrder(plan, after); err != nil {
			t.Fatalf("kill %d: %v", kills, err)
		}
	}
	if leftRunning > 0 {
		t.Errorf("after %d kills a run was still said to be running", leftRunning)
	}
	if removed == 0 {
		t.Error("no kill left a scratch directory: the moments test nothing")
	}
	if id, _, _, _ := p.newest(); id == 0 {
		t.Fatal("no kill came after a run's start: the moments test nothing")
	}
	p.finish()
	_, _, _, trials := p.newest()
	t.Logf("%d runs, %d scratch directories removed; the last run has %d trials", runs, removed, len(trials))
}
