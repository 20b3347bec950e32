package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filewise"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	put := func(path string, mode os.FileMode) string {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("PATH", filepath.Join(root, "path"))
	b := Binary{Names: []string{"dbd", "old-dbd"}, Places: []string{root + "/lib/*/bin"}, Package: "db-server"}
	_, err := b.Find("")
	if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(filewise.RemedyOf(err), "apt-get install db-server") {
		t.Errorf("missing: %v; %s", err, filewise.RemedyOf(err))
	}
	put("lib/14/bin/dbd", 0o755)
	newer := put("lib/15/bin/dbd", 0o755)
	if got, err := b.Find(""); err != nil || got != newer {
		t.Errorf("in places: %s, %v", got, err)
	}
	inPath := put("path/old-dbd", 0o755)
	if got, err := b.Find(""); err != nil || got != inPath {
		t.Errorf("in PATH: %s, %v", got, err)
	}
	own := put("own/sbin/dbd", 0o755)
	if got, err := b.Find(filepath.Join(root, "own")); err != nil || got != own {
		t.Errorf("in the user's directory: %s, %v", got, err)
	}
	put("bad/dbd", 0o644)
	for _, dir := range []string{"bad", "none"} {
		if _, err := b.Find(filepath.Join(root, dir)); filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(err.Error(), dir) {
			t.Errorf("in %s: %v", dir, err)
		}
	}
}
