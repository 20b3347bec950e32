package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise/internal/help"
)

// Every command has a manual page that names its flags; a directory that cannot be
// made is refused.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	home := newHome(t)
	said, _, code := home.run("man", dir)
	if code != 0 || !strings.Contains(said, "manual pages in "+dir) {
		t.Fatalf("%q, exit %d", said, code)
	}
	for page, want := range map[string]string{"filewise.1": "filewise-run(1)", "filewise-run.1": `\fB--connections\fP`,
		"filewise-clean.1": "filewise", "filewise-plan.1": `\fB--concurrent-load\fP[=connections]`, "filewise-export.1": `(default trials)`} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if strings.Contains(string(text), help.Switch) {
			t.Errorf("%s gives a flag without a value one", page)
		}
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q (%v)", page, want, err)
		}
	}
	file := filepath.Join(dir, "filewise.1")
	if _, _, code := home.run("man", file); code != 2 {
		t.Error("a file was taken for a directory")
	}
}
