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
	"github.com/google/go-cmp/cmp/cmpopts"

	"filewise/results/store"
)

// killing is a series of kills of one kind of run.
type killing struct {
	run    []string
	within time.Duration // of its start, a run is killed
	kills  int           // without TEST_FILEWISE_KILLS
	stream uint64        // of the seed: every kind has its own moments
}

// wanted returns the number of kills.
func (k killing) wanted(t *testing.T) int {
	v := os.Getenv("TEST_FILEWISE_KILLS")
	if v == "" {
		return k.kills
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		t.Fatalf("TEST_FILEWISE_KILLS=%q is not a number of kills", v)
	}
	return n
}

func killSeed(t *testing.T) uint64 {
	v := os.Getenv("TEST_FILEWISE_KILL_SEED")
	if v == "" {
		return 1
	}
	seed, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// SIGKILL at random moments, including starting and storing: nothing that was stored is lost, altered or measured
// again, and the next start of any kind removes the scratch directories and nothing else. Servers end with Filewise,
// also while they are created, started, reset and stopped, and one of the user's own goes on. On SQLite proof/attack
// kills more.
func TestKillWithServers(t *testing.T) {
	t.Parallel()
	needServer(t)
	own := startOwn(t)
	for n, kind := range serverRuns {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.own = own
			killing{run: kind.args, within: kind.within, kills: 5, stream: uint64(n + 1)}.test(t, p)
		})
	}
}

func (k killing) test(t *testing.T, p *place) {
	wanted, seed := k.wanted(t), killSeed(t)
	t.Logf("%d kills; TEST_FILEWISE_KILL_SEED=%d repeats the moments", wanted, seed)
	moments := rand.New(rand.NewPCG(seed, k.stream))
	kills, runs, removed, withServers, creating := 0, 0, 0, 0, 0
	for ran := false; kills < wanted || !ran && kills < 3*wanted; {
		id, state, _, trials := p.newest()
		args := []string{"resume"}
		if id == 0 || state == store.Done {
			args, runs = k.run, runs+1
		}
		c := p.start("filewise", args...)
		select {
		case <-time.After(time.Duration(moments.Int64N(int64(k.within)))):
		case <-c.ended:
			if code := c.ProcessState.ExitCode(); code != 0 {
				t.Fatalf("filewise %v ended by itself with exit code %d\n%s", args, code, &c.stderr)
			}
			continue
		}
		last, _, _, before := p.newest()
		servers := p.servers()
		_ = c.Process.Kill() // it may just have ended
		<-c.ended
		if c.ProcessState.ExitCode() == -1 {
			kills++
		}
		if len(servers) > 0 {
			withServers++
			if servers[0].Creates {
				creating++
			}
		}
		killed := time.Now()
		if moments.IntN(2) == 0 { // else the next start meets those that are ending
			p.noServers(servers, 2*time.Second)
		}
		v := p.run(0, "engines")
		p.noServers(servers, time.Until(killed.Add(2*time.Second)))
		removed += strings.Count(v.stderr.String(), "removed "+p.volume)
		p.tidy()
		if t.Failed() {
			t.Fatalf("kill %d, servers %+v: filewise version says:\n%s", kills, servers, &v.stderr)
		}
		id2, state, plan, after := p.newest()
		if state == store.Running {
			t.Errorf("kill %d: the run is still listed as running", kills)
		}
		if id2 > last { // it began between the look and the kill
			before = after[:0]
		}
		if len(after) < len(before) || cmp.Diff(before, after[:len(before)], cmpopts.EquateEmpty()) != "" {
			t.Fatalf("kill %d: %d trials were stored, %d are, or they differ", kills, len(before), len(after))
		}
		if id2 == id && len(after) < len(trials) {
			t.Fatalf("kill %d: trials were lost", kills)
		}
		if id2 == 0 { // killed before there was a run
			if kills > wanted/2 { // on a machine so busy
				k.within *= 2
			}
			continue
		}
		ran = true
		if _, err := inOrder(plan, after); err != nil {
			t.Fatalf("kill %d: %v", kills, err)
		}
	}
	if removed == 0 {
		t.Error("no kill left a scratch directory: the moments test nothing")
	}
	if p.own != nil && withServers == 0 {
		t.Error("no kill came while a server ran: the moments test nothing")
	}
	if id, _, _, _ := p.newest(); id == 0 {
		t.Fatal("no kill came after a run's start: the moments test nothing")
	}
	p.finish()
	_, _, _, trials := p.newest()
	t.Logf("%d runs, %d scratch directories removed, %d kills with servers (%d while a server created its files); the last run has %d trials",
		runs, removed, withServers, creating, len(trials))
}
