package filewise_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// permissive are words of the licences that a dependency may have: MIT, BSD, ISC and
// Apache 2.0 ask for no more than to be named.
var permissive = regexp.MustCompile(`(?i)permission is hereby granted, free of charge|redistribution and use in source and binary forms|` +
	`permission to use, copy, modify, and(/or)? distribute this software|apache license,?\s+version 2\.0`)

// weakCopyleft lists modules under the Mozilla Public License, which holds for their own files alone: they are used
// as they are.
var weakCopyleft = []string{"github.com/go-sql-driver/mysql", "github.com/hashicorp/go-uuid"}

// TestLicences: whatever is linked into a binary that is released has a licence that
// permits it, by the text that the module brings.
func TestLicences(t *testing.T) {
	checked := map[string]bool{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./cmd/filewise")
		cmd.Env = append(os.Environ(), "GOOS="+system)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
		for line := range strings.Lines(string(out)) {
			module, dir, ok := strings.Cut(strings.TrimSpace(line), "\t")
			if !ok || checked[module] {
				continue
			}
			checked[module] = true
			files, err := filepath.Glob(filepath.Join(dir, "[LlCc][IiOo][CcPp][EeYy]*"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(path string) bool { return permits(module, path) }) {
				t.Errorf("%s has no licence that is known to permit its use: %v", module, files)
			}
		}
	}
	if len(checked) < 20 {
		t.Errorf("only %d dependencies were looked at", len(checked))
	}
}

func permits(module, path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false // a directory
	}
	mozilla := regexp.MustCompile(`(?m)^\s*Mozilla Public License,? [Vv]ersion 2\.0`).Match(text)
	return permissive.Match(text) || mozilla && slices.Contains(weakCopyleft, module)
}
