package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The command measures all that its README says, on any machine; how fast that
// machine is, is no matter of a test.
func TestEverythingIsMeasured(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), []string{"-repeats", "1", "-ops", "100000", "-blocks", "3"}, &out)
	if err != nil && !strings.Contains(err.Error(), "targets are missed") {
		t.Fatal(err)
	}
	for _, what := range []string{"without the driver", "driver's loop, workers: 1 ", "driver's loop, workers: 600 ",
		"allocs/op", "a timer alone", "open loop, 16 workers", "trial, median of", "until it was on the storage", "planning, driving"} {
		if !strings.Contains(out.String(), what) {
			t.Errorf("no figure of %q in:\n%s", what, out.String())
		}
	}
	if missed := strings.Contains(out.String(), "MISSED"); missed != (err != nil) {
		t.Errorf("error %v, but the table says:\n%s", err, out.String())
	}
}

func TestBadFlags(t *testing.T) {
	for _, args := range [][]string{{"-repeats", "0"}, {"-ops", "1"}, {"-blocks", "1"}, {"-nonsense"},
		{"mariadb", "-rounds", "0"}, {"mariadb", "-size", "1"}, {"mariadb", "-dir", "/nonexistent"}, {"mariadb", "more"},
		{"connections", "-counts", "0"}, {"connections", "-counts", "2001"}, {"connections", "-engines", "none", "-dir", t.TempDir()}, {"connections", "more"}} {
		var out strings.Builder
		if err := run(t.Context(), args, &out); err == nil || out.Len() > 0 {
			t.Errorf("%v: error %v, output %q", args, err, out.String())
		}
	}
}

// What is measured of a managed server, on a real one.
func TestMariaDBIsMeasured(t *testing.T) {
	if _, err := exec.LookPath("mariadbd"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the bench of managed servers did not run: %v", err)
		}
		t.Skipf("NO MARIADB SERVER: %v", err)
	}
	dir := t.TempDir()
	var out strings.Builder
	err := run(t.Context(), []string{"mariadb", "-rounds", "1", "-size", "128", "-dir", dir}, &out)
	if err != nil && !strings.Contains(err.Error(), "targets are missed") {
		t.Fatal(err)
	}
	for _, what := range []string{"provision 1 file of 128 MiB", "provision 100 files of", "plain writes and sync", "against cp and sync", "stopping · starting"} {
		if !strings.Contains(out.String(), what) {
			t.Errorf("no figure of %q in:\n%s", what, out.String())
		}
	}
	if missed := strings.Contains(out.String(), "MISSED"); missed != (err != nil) {
		t.Errorf("error %v, but the table says:\n%s", err, out.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}
