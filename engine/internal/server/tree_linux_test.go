package server

import (
	"path/filepath"
	"testing"
	"time"

	"filewise"
)

// What a server's processes use is counted while they live and when they have
// ended, and nothing goes backwards.
func TestTree(t *testing.T) {
	dir := t.TempDir()
	p, err := Start(Spec{Path: "/bin/sh", Dir: dir, Log: filepath.Join(dir, "log"), Args: []string{"-c",
		`while :; do sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo $i; done > out'; done`}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	probe := Tree(func() *Process { return p })
	read := func() map[string]float64 {
		t.Helper()
		counters, err := probe.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]float64{}
		for _, c := range counters {
			all[c.Name] = c.Value
		}
		return all
	}
	last := read()
	for limit := time.Now().Add(20 * time.Second); last["user"] < 0.3 || last["bytes written by calls"] < 1e6; {
		if time.Now().After(limit) {
			t.Fatalf("the children's work is not seen: %v", last)
		}
		now := read()
		for name, v := range last {
			if name == filewise.ProcessorWait { // which a process takes along when it ends
				continue
			}
			// A process that ends between the looks at it and at its parent is not seen once.
			if now[name] < v*0.5 {
				t.Errorf("%s fell from %v to %v", name, v, now[name])
			}
		}
		last = now
	}
	p.Kill()
	if _, err := Tree(func() *Process { return nil }).Read(t.Context()); err == nil || probe.Name() != filewise.ProbeServer {
		t.Error("a stopped server has counters")
	}
}
