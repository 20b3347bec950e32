package apply

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/engine/fake"
	"filewise/lab/experiment"
	"filewise/lab/storage"
	"filewise/lab/verdict"
	"filewise/lab/workload"
	"filewise/results/archive"
	"filewise/results/store"
	"filewise/run"
)

// No name, server or verdict ends a comment, and what is for later stays one.
func TestCommentsStayComments(t *testing.T) {
	evil := "a\nDROP TABLE x;\rDROP TABLE y;"
	steers := evil + "\x1b]0;x\x07\u009b2J\u202e"
	step := filewise.MigrationStep{Title: steers, Locks: steers, Stop: steers, SQL: []string{"SELECT 1"}}
	later := filewise.MigrationStep{Title: evil, SQL: []string{"DROP TABLE \"" + evil + "\""}, Later: true}
	s := Scripts{Verdict: steers, Layout: filewise.Layout{Name: steers}, Untested: []string{steers}, Migration: filewise.Migration{
		Database: steers, Server: steers, Tables: []string{steers}, Effects: []string{steers}, Stays: []string{steers}, Client: []string{steers},
		Opening: "SELECT 0;",
		Space:   map[string]int64{steers: 1}, Steps: []filewise.MigrationStep{step, later}, Back: []filewise.MigrationStep{step}}}
	for _, back := range []bool{false, true} {
		text := s.Text("v", back, "there\n\x1b.sql", "back\n\x1b.sql")
		if strings.ContainsAny(text, "\x1b\x07\u009b\u202e") {
			t.Errorf("it steers a terminal: %q", text)
		}
		for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if !strings.HasPrefix(line, "-- ") && line != "SELECT 0;" && line != "SELECT 1;" {
				t.Errorf("a line that is no comment: %q", line)
			}
		}
		if top := strings.Join(strings.SplitN(text, "\n", 4)[:3], "\n"); !strings.Contains(top, "DOES NOT APPLY TO THIS DATABASE") {
			t.Errorf("what was not tested is not said on top:\n%s", top)
		}
	}
}

// The storage's rates come from a stored run, of its slowest volume.
func TestTimeByStorage(t *testing.T) {
	limit := func(read, written float64) string {
		return storage.Limit{Files: 1, Page: 4096, Measured: time.Now(), Tool: "fio", Figures: []storage.Figure{
			{Pattern: storage.SequentialRead, Bytes: read}, {Pattern: storage.SequentialWrite, Bytes: written}}}.String()
	}
	var r archive.Run
	r.Plan.Target.Volumes = []filewise.Volume{{Name: "a"}, {Name: "b"}}
	r.Machine = []filewise.Fact{{Name: "storage limit of volume a", Value: limit(2e9, 100e6)},
		{Name: "storage limit of volume b", Value: limit(1e9, 500e6)}}
	s := Scripts{}
	if s.Read, s.Written = rates(r); s.Read != 1e9 || s.Written != 100e6 {
		t.Errorf("%g and %g", s.Read, s.Written)
	}
	if text := s.time(filewise.MigrationStep{Read: 10e9, Written: 20e9}); !strings.HasPrefix(text, "3m30s at least") {
		t.Error(text)
	}
	r.Machine = r.Machine[:1]
	if s.Read, s.Written = rates(r); s.Read != 0 || !strings.Contains(s.time(filewise.MigrationStep{Read: 1}), "not known") {
		t.Errorf("%g, %s", s.Read, s.time(filewise.MigrationStep{Read: 1}))
	}
}

// A run's result does not hold for another release, other storage or more data.
func TestUntested(t *testing.T) {
	at := func(host string) filewise.Target { return filewise.Target{Address: &filewise.Address{Host: host}} }
	for name, c := range map[string]struct {
		host, version string
		bytes         int64
		says          string
	}{
		"same":    {"h", "server 16", 100, ""},
		"release": {"h", "server 17", 100, "on release 16, the server is 17"},
		"storage": {"g", "server 16", 100, "on the server //h"},
		"looser":  {"h", "server 16", 150, ""},
		"size":    {"h", "server 16", 151, "its trials had 100 B, the tables have 151 B"},
	} {
		r := archive.Run{Run: store.Run{Plan: experiment.Plan{Target: at("h")}, Server: []filewise.Fact{{Name: "version", Value: "server 16"}}},
			Trials: []filewise.Trial{{Files: []filewise.File{{Role: filewise.RoleData, Bytes: 80}, {Role: filewise.RoleSystem, Bytes: 20},
				{Role: filewise.RoleLog, Bytes: 100}}}}}
		s := Scripts{target: at(c.host), Migration: filewise.Migration{Server: c.version, Bytes: c.bytes}}
		s.compare(r, products["postgres"], filewise.Inspection{Local: true})
		if got := strings.Join(s.Untested, "; "); got == "" != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
	}
}

// A managed run is of this machine's storage, and of none that lies elsewhere.
func TestStorageOfManagedRun(t *testing.T) {
	var r archive.Run
	r.Plan.Target.Volumes = []filewise.Volume{{Name: "here", Dir: t.TempDir()}}
	seen := filewise.Inspection{Local: true, Places: []filewise.Place{{Path: t.TempDir()}}}
	to := filewise.Target{Address: &filewise.Address{Host: "localhost"}}
	if why := otherStorage(r, to, seen); why != "" {
		t.Error(why)
	}
	if seen.Places[0].Path = "/proc"; otherStorage(r, to, seen) == "" {
		t.Error("/proc is the storage of a volume")
	}
	if seen.Local = false; !strings.Contains(otherStorage(r, to, seen), "another machine") {
		t.Error("a server elsewhere has the storage of this machine")
	}
}

// If none is named, the run's own verdict recommends the layout.
func TestRecommended(t *testing.T) {
	home := t.TempDir()
	t.Setenv("FILEWISE_STATE", filepath.Join(home, "state"))
	t.Setenv("FILEWISE_LOCK", fmt.Sprintf("filewise-test-%d-%s", os.Getpid(), t.Name()))
	sc, err := workload.Lookup("inserts")
	if err != nil {
		t.Fatal(err)
	}
	p := experiment.Plan{Scenario: sc.Name, Params: sc.Params, Seed: 7, StorageLimit: "off",
		Target: filewise.Target{Engine: fake.Name, Mode: filewise.Embedded, Durability: filewise.DurabilityFull,
			Volumes: []filewise.Volume{{Name: "here", Dir: t.TempDir()}}},
		Window: 2 * time.Second, PilotWindow: time.Second, SliceLength: 10 * time.Millisecond,
		Margin: 2, Confidence: 0.95, Goal: verdict.GoalVerdicts, MaxBlocks: 20, Attempts: 2, Baseline: "1 file"}
	p.Params.Connections = 1
	for _, n := range []int{1, 4, 8} {
		p.Layouts = append(p.Layouts, filewise.Layout{Name: filewise.FilesName(n), Kind: filewise.KindShards, Rank: n,
			Data: filewise.Spread{Files: n, Bytes: 1 << 20, Allocation: filewise.Preallocated, Placement: filewise.PlaceOne}})
	}
	for n, truth := range map[int]map[int]float64{4: {1: 1000, 4: 2000, 8: 1000}, 1: {1: 2000, 4: 1000, 8: 1000}} {
		engine := fake.New(fake.Config{Seed: 3, Noise: 0.01, Throughput: func(l filewise.Layout) float64 { return truth[l.Data.Files] }})
		path := filepath.Join(home, fmt.Sprint(n))
		out, err := run.Run(t.Context(), p, run.Options{Engine: engine, Clock: engine.Clock(), Store: path, Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		stored, err := archive.Load(t.Context(), path, "last")
		if err != nil {
			t.Fatal(err)
		}
		var s Scripts
		if n == 1 {
			if err := s.choose(Request{Run: stored}); err == nil || !strings.Contains(err.Error(), "keeps 1 file, its baseline") {
				t.Errorf("the baseline is kept, and there is something to do: %v", err)
			}
			if err := s.choose(Request{Run: stored, Layout: "1 file"}); err != nil {
				t.Error(err)
			}
		} else if err := s.choose(Request{Run: stored}); err != nil || s.Layout.Data.Files != n || s.Verdict == "" ||
			s.Verdict != out.Run.Verdict {
			t.Errorf("%v: %s, of which the verdict says %q", err, s.Layout.Name, s.Verdict)
		}
		stored.Trials = stored.Trials[:2]
		if err := s.choose(Request{Run: stored}); err == nil || !strings.Contains(err.Error(), "recommends no layout") {
			t.Errorf("two trials recommend %s: %v", s.Layout.Name, err)
		}
	}
}

// TestRelease: releases are read from versions as facts and inspections show them.
func TestRelease(t *testing.T) {
	for text, want := range map[[2]string]string{{"sqlserver", "SQL Server 2022 (16.0.4085.2 RTM)"}: "2022",
		{"sqlserver", "SQL Server 2019 (15.0.1 RTM), Developer"}: "2019", {"sqlserver", "PostgreSQL 16"}: "",
		{"mariadb", "MariaDB 10.11.6"}: "10.11", {"postgres", "PostgreSQL 16.3 on x86_64"}: "16", {"oracle", "Oracle 19.3"}: "19"} {
		if got := products[text[0]].releaseOf(text[1]); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
