package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Another version of Temporal's client, which registers a struct by other means, is not built as though it were refused.
func TestAnotherClientIsSaid(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "internal", "internal_worker.go")
	if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("package internal\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := refuseStructs(dir); err == nil {
		t.Error("nothing was refused, and nothing said")
	}
}

func TestNamesInTemplates(t *testing.T) {
	names, err := inTemplates("../../report")
	if err != nil {
		t.Fatal(err)
	}
	for _, used := range []string{"Class", "Shapes", "Sections"} {
		if !slices.Contains(names, used) {
			t.Errorf("%s is not among %q", used, names)
		}
	}
}
