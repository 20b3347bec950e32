package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filewise"
	"filewise/host/machine"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fioHere is fio; in CI it has to be there.
func fioHere(t *testing.T) {
	if _, why := Program(); why != "" {
		if os.Getenv("CI") != "" {
			t.Fatal("fio is not installed")
		}
		t.Skip(why)
	}
}

// Real fio on two volumes: one pattern each, alone and together, and nothing is left.
func TestRealFio(t *testing.T) {
	fioHere(t)
	a, b := t.TempDir(), filepath.Join(t.TempDir(), "with:colon")
	must(t, os.Mkdir(b, 0o700))
	if d, err := machine.DeviceOf(a); err != nil || d.InMemory() {
		t.Skip("the temporary directory lies in memory: direct I/O is not possible there")
	}
	for _, x := range []struct {
		dirs     []string
		p        Pattern
		files    int
		together int
	}{{[]string{b}, RandomRead, 3, 0}, {[]string{a, b}, SequentialWrite, 1, 2}} {
		err := within(x.dirs, func(dirs []string) error {
			f, tool, err := job{x.p, dirs, x.files, 4096}.run(t.Context(), "fio")
			if err == nil && (f.Bytes <= 0 || f.Requests <= 0 || f.Files != x.files || f.Together != x.together ||
				!strings.HasPrefix(tool, "fio-")) {
				t.Errorf("%+v by %q", f, tool)
			}
			return err
		})
		must(t, err)
	}
	for _, dir := range []string{a, b} {
		left, err := os.ReadDir(dir)
		must(t, err)
		if len(left) > 0 {
			t.Errorf("%s has %v left", dir, left)
		}
	}
}

// A program sees nothing of Filewise's own environment.
func TestProgramsInheritNoSecret(t *testing.T) {
	t.Setenv("FILEWISE_PASSWORD", "CANARY")
	program := filepath.Join(t.TempDir(), "says-its-environment")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\nenv | tr '\\n' ' '\n"), 0o700))
	_, _, err := job{RandomRead, []string{t.TempDir()}, 1, 4096}.run(t.Context(), program)
	if err == nil || !strings.Contains(err.Error(), "PATH=") || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("it sees %v", err)
	}
}

// A fio that fails, or is cancelled, leaves no file and reports why.
func TestFioFails(t *testing.T) {
	fioHere(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := within([]string{dir}, func(dirs []string) error {
		_, _, err := job{RandomWrite, dirs, 1, 3}.run(t.Context(), "fio") // no page has 3 bytes with direct I/O
		if err == nil || !strings.Contains(err.Error(), "fio, random write") {
			t.Errorf("a bad block size: %v", err)
		}
		_, _, err = job{RandomWrite, dirs, 1, 4096}.run(ctx, "fio")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	t.Setenv("PATH", dir)
	limits, absent, err := Measure(t.Context(), Demand{Volumes: []filewise.Volume{{Name: "a", Dir: dir}}})
	if err != nil || len(limits) > 0 || !strings.Contains(absent["a"], "fio is not installed") {
		t.Errorf("without fio: %v, %v, %v", limits, absent, err)
	}
}

func limit(t *testing.T, dir string) Limit {
	t.Helper()
	device, err := machine.DeviceOf(dir)
	must(t, err)
	l := Limit{Volume: "a", Device: "sda", Place: place(device), Page: 8192, Files: 4, Measured: time.Now(), Tool: "fio-3"}
	for i, p := range patterns {
		for _, n := range []int{1, 4} {
			l.Figures = append(l.Figures, Figure{Pattern: p, Files: n, Bytes: float64(1e6 * (i + n)), Requests: float64(100 * (i + n))})
		}
	}
	return l
}

func TestCache(t *testing.T) {
	dir := t.TempDir()
	cache := NewCache(filepath.Join(dir, "state"))
	want := Demand{Volumes: []filewise.Volume{{Name: "fast", Dir: dir}}, Page: 8192, Files: 4}
	if _, ok := cache.Find(want, time.Now()); ok {
		t.Error("found before anything was added")
	}
	must(t, cache.Add([]Limit{limit(t, dir)}))
	must(t, cache.Add([]Limit{limit(t, dir)}))
	found, ok := cache.Find(want, time.Now())
	if !ok || len(found) != 1 || found[0].Volume != "fast" {
		t.Fatalf("%v, %+v", ok, found)
	}
	c := found[0].Ceiling()
	if c.WriteBytes != 6e6 || c.ReadBytes != 7e6 || c.Writes != 600 || c.Reads != 700 || c.Volume != "fast" {
		t.Errorf("%+v", c)
	}
	fewer, more, page := want, want, want
	fewer.Files, more.Files, page.Page = 1, 8, 4096
	for name, x := range map[string]struct {
		d    Demand
		at   time.Time
		want bool
	}{"fewer files": {fewer, time.Now(), true}, "more files": {more, time.Now(), false}, "another page": {page, time.Now(), false},
		"too old": {want, time.Now().Add(fresh), false}} {
		if _, ok := cache.Find(x.d, x.at); ok != x.want {
			t.Errorf("%s: found %v", name, ok)
		}
	}
	must(t, os.WriteFile(cache.path, []byte("{ damaged"), 0o600))
	if _, ok := cache.Find(want, time.Now()); ok {
		t.Error("found in a damaged file")
	}
	must(t, cache.Add([]Limit{limit(t, dir)}))
	if _, ok := cache.Find(want, time.Now()); !ok {
		t.Error("a damaged file is not replaced")
	}
}

func TestString(t *testing.T) {
	l := limit(t, t.TempDir())
	l.Figures = append(l.Figures, Figure{Pattern: SequentialWrite, Files: 1, Together: 2, Bytes: 9e6, Requests: 9})
	s := l.String()
	for _, want := range []string{"sequential read 5.0 MB/s, write 4.0 MB/s", "random 8.0 KiB read 700, write 600 requests/s",
		"1 or 4 files, fio-3", "sequential write with all 2 volumes at once 9.0 MB/s"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q lacks %q", s, want)
		}
	}
}

// No output of fio makes the parser panic or accept nothing done as a figure.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`note: x
{"fio version":"fio-3.33","jobs":[{"error":0,"write":{"bw_bytes":5,"iops":1.5}}]}`))
	f.Add([]byte(`{"jobs":[{"error":22}]}`))
	f.Add([]byte(`no json`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if figure, _, err := parse(text, RandomWrite); err == nil && !(figure.Bytes > 0 && figure.Requests > 0) {
			t.Errorf("%+v", figure)
		}
	})
}
