package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Another version of a library, which has what is taken out in another form, is not built as though it were out.
func TestAnotherVersionIsSaid(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lob.go")
	if err := os.WriteFile(name, []byte("package go_ora\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := oracle(filepath.Dir(name)); err == nil || !strings.Contains(err.Error(), "0 times, not 3") {
		t.Errorf("nothing was taken out, and it was said: %v", err)
	}
}

func TestNamesInTemplates(t *testing.T) {
	names, err := inTemplates("../../results/report")
	if err != nil {
		t.Fatal(err)
	}
	for _, used := range []string{"Class", "Shapes", "Sections"} {
		if !slices.Contains(names, used) {
			t.Errorf("%s is not among %q", used, names)
		}
	}
}
