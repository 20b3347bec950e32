package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A program is run once for its own account of itself, and again when its file has changed
// or when it has failed.
func TestSaidOnce(t *testing.T) {
	dir := t.TempDir()
	program, calls := filepath.Join(dir, "program"), filepath.Join(dir, "calls")
	write := func(script string, changed time.Time) {
		t.Helper()
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho >> "+calls+"\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(program, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
	says := func(want string, called int, args ...string) {
		t.Helper()
		out, err := Said(t.Context(), program, args...)
		if err != nil || out != want {
			t.Errorf("it says %q, %v; want %q", out, err, want)
		}
		if all, _ := os.ReadFile(calls); strings.Count(string(all), "\n") != called {
			t.Errorf("called %d times, want %d", strings.Count(string(all), "\n"), called)
		}
	}
	then := time.Now().Add(-time.Hour)
	write("echo $1", then)
	says("a\n", 1, "a")
	says("a\n", 1, "a")
	says("b\n", 2, "b")
	write("echo new", then.Add(time.Second))
	says("new\n", 3, "a")
	write("echo no >&2; exit 3", then.Add(2*time.Second))
	for range 2 {
		if _, err := Said(t.Context(), program, "a"); err == nil || !strings.Contains(err.Error(), "no") {
			t.Errorf("it fails with %v", err)
		}
	}
	if all, _ := os.ReadFile(calls); strings.Count(string(all), "\n") != 5 {
		t.Errorf("what failed was called %d times, want 2", strings.Count(string(all), "\n")-3)
	}
}
