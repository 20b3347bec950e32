//go:build linux

package managed_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"filewise"
	"filewise/lab/workload"
)

// What a run would refuse, a plan refuses.
func testPlanRefuses(t *testing.T, sub subject) {
	target := sub.onScratch(t, 1)
	w := inserts(t, func(p *workload.Params) { p.Connections = 16 })
	for _, c := range []struct{ name, value, says string }{
		{"max_connections", "20", "16 connections work"}, {"max-connections", "1", "max-connections=1"},
		{"max_statement_time", "1", "in the middle"}, {"max-statement-t", "1", "in the middle"},
	} {
		target.Settings = map[string]string{c.name: c.value}
		_, err := sub.Engine.Statements(target, systemLayout(2, 24<<20), w.Program())
		if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("--set %s=%s: %v", c.name, c.value, err)
		}
	}
	target.Settings = map[string]string{"max_connections": "26"}
	if _, err := sub.Engine.Statements(target, systemLayout(2, 24<<20), w.Program()); err != nil {
		t.Error(err)
	}
	target.Settings, target.ServerBin = nil, filepath.Join(t.TempDir(), "none")
	_, plan := sub.Engine.Statements(target, systemLayout(2, 24<<20), w.Program())
	_, run := sub.Engine.Open(t.Context(), target)
	if plan == nil || fmt.Sprint(plan) != fmt.Sprint(run) || filewise.CodeOf(plan) != filewise.CodePreflight {
		t.Errorf("plan: %v; run: %v", plan, run)
	}
}

// The files of a script are a build's files at its start, growing or not.
func testScriptFiles(t *testing.T, sub subject) {
	sub.Need(t)
	ctx := deadline(t)
	growing := func(kind filewise.Kind, files int, size int64) filewise.Layout {
		l := systemLayout(files, size)
		l.Kind, l.Data.Allocation = kind, filewise.Growing
		return l
	}
	pages := []string{"16k", "4k", "64k"}
	if sub.Slow {
		pages = pages[2:]
	}
	for _, page := range pages {
		target := sub.onScratch(t, 1)
		target.Settings = map[string]string{"innodb_page_size": page}
		s := sub.open(t, ctx, target)
		for name, l := range map[string]filewise.Layout{
			"1": growing(filewise.KindSystem, 1, 32<<20), "4": growing(filewise.KindSystem, 4, 32<<20), "small": growing(filewise.KindSystem,
				2, 12<<20),
			"tables": growing(filewise.KindPerTable, 3, 32<<20), "partitions": growing(filewise.KindPartitions, 4, 32<<20), "fixed": systemLayout(4,
				56<<20),
		} {
			if sub.Slow && (name == "small" || name == "1") {
				continue // the sibling's code
			}
			if l.Kind == filewise.KindSystem && page == "64k" {
				l.Data.Bytes *= 4
			}
			t.Run(page+" "+name, func(t *testing.T) {
				w := inserts(t, nil)
				script, err := sub.Engine.Statements(target, l, w.Program())
				if err != nil {
					t.Fatal(err)
				}
				db := build(t, ctx, s, l, w)
				files, err := db.Observe(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if err := l.Verify(script.Files, files, false); err != nil {
					t.Error(err)
				}
				byPath := map[string]filewise.File{}
				for _, f := range files {
					byPath[f.Path] = f
				}
				for _, f := range script.Files {
					if got := byPath[f.Path]; f.Role != filewise.RoleLog && got.Bytes != f.Bytes {
						t.Errorf("%s has %d bytes, the script says %d", f.Path, got.Bytes, f.Bytes)
					}
				}
				if err := db.Drop(ctx); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A volume that fills up ends the work with the reason, whichever file of the
// server meets its end first.
func testFullVolume(t *testing.T, sub subject) {
	sub.Need(t)
	if os.Getuid() != 0 {
		t.Skip("a full volume is NOT tested: mounting a small tmpfs needs root")
	}
	ctx := deadline(t)
	for _, durability := range []filewise.Durability{filewise.DurabilityFull, filewise.DurabilityNormal} {
		t.Run(string(durability), func(t *testing.T) {
			dir, err := os.MkdirTemp("", "fw")
			if err != nil {
				t.Fatal(err)
			}
			defer os.Remove(dir)
			if err := unix.Mount("filewise-test", dir, "tmpfs", 0, fmt.Sprintf("size=%d", sub.Full)); err != nil {
				t.Skipf("a full volume is NOT tested: %v", err)
			}
			defer func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }()
			target := filewise.Target{Engine: sub.Engine.Name(), Mode: filewise.Managed, Durability: durability,
				Volumes: []filewise.Volume{{Name: "v1", Dir: dir}}}
			s, err := sub.Engine.Open(ctx, target)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			w := inserts(t, func(p *workload.Params) { p.RowBytes, p.CommitEvery = 4000, 10 })
			db := build(t, ctx, s, systemLayout(2, 24<<20), w)
			var done int64
			start := time.Now()
			err = workOne(ctx, db, 0, 0, 200000, &done)
			t.Logf("%v, %d rows: %v", time.Since(start), done, err)
			if !errors.Is(err, filewise.ErrSpace) {
				t.Errorf("a full volume: %v", err)
			}
		})
	}
}
