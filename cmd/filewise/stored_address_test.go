package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filewise/lab/experiment"
	"filewise/results/store"
	"filewise/run/plan"
)

// listening counts who connects.
func listening(t *testing.T) (port int, connections *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	connections = new(atomic.Int32)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			_ = c.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, connections
}

func planOn(t *testing.T, scenario, url string) experiment.Plan {
	t.Helper()
	o := plan.New()
	o.Scenario, o.Target, o.MaxBlocks, o.Seed = scenario, plan.Of(url), plan.Of(3), plan.Of("1")
	if scenario == "dump" {
		o.Database = plan.Of("shop")
	}
	made, err := registry().Make(o)
	if err != nil {
		t.Fatal(err)
	}
	return made.Plan
}

// The address of a stored run is connected to only if this user has stored it here, or names it: no bundle and no
// store of another's is sent a password.
func TestStoredAddresses(t *testing.T) {
	t.Setenv("FILEWISE_PASSWORD", "a-secret-of-mine")
	for _, scheme := range []string{"postgres", "mariadb", "mysql", "sqlserver"} {
		t.Run(scheme, func(t *testing.T) {
			port, connections := listening(t)
			url := fmt.Sprintf("%s://u@127.0.0.1:%d", scheme, port)
			h := newHome(t)
			start := time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)
			for id, scenario := range []string{"dump", "inserts"} {
				file := filepath.Join(h.dir, scenario+".tar.gz")
				f, err := os.Create(file)
				if err != nil {
					t.Fatal(err)
				}
				run := store.Run{ID: 7, Started: start.Add(time.Duration(id)), State: store.Interrupted, Version: "v1", Plan: planOn(t, scenario, url)}
				if err := store.ExportBundle(f, run, nil, store.Manifest{Version: "v1", Exported: start, Host: "db1"}); err != nil {
					t.Fatal(err)
				}
				_ = f.Close()
				if out, text, code := h.run("import", file); code != 0 {
					t.Fatalf("%d: %s%s", code, out, text)
				}
			}
			for _, args := range [][]string{{"backup", "1"}, {"backup", "1", "--target", url}, {"resume", "1"}, {"resume", "2"},
				{"resume", "2", "--target", url}} {
				if out, text, code := h.run(args...); code != 2 || !strings.Contains(text, "imported") {
					t.Errorf("%v: %d: %s%s", args, code, out, text)
				}
			}
			for _, args := range [][]string{{"show", "2"}, {"judge", "2"}, {"report", "2", "-o", filepath.Join(h.dir, "2.html")}, {"list"},
				{"compare", "1", "2"}, {"apply", "2"}, {"export", "2", "--format", "json"}} {
				h.run(args...)
			}
			notMine := filepath.Join(h.dir, "theirs.db")
			s, err := store.Open(t.Context(), notMine)
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.CreateRun(t.Context(), store.Run{Started: start, State: store.Interrupted, Version: "v1", Plan: planOn(t, "inserts", url),
				Seal: strings.Repeat("0", 64)})
			if _ = s.Close(); err != nil {
				t.Fatal(err)
			}
			if out, text, code := h.run("resume", "--store", notMine); code != 2 || !strings.Contains(text, "--target "+scheme) {
				t.Errorf("%d: %s%s", code, out, text)
			}
			if n := connections.Load(); n > 0 {
				t.Errorf("%d connections to a stored address", n)
			}
			if _, text, code := h.run("resume", "--store", notMine, "--target", url); code == 0 || connections.Load() == 0 {
				t.Errorf("a server that is named is not connected to: %d: %s", code, text)
			}
		})
	}
}
