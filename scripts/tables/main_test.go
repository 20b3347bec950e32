package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Reading the packed tables gives the driver's tables: packed again from there they are the same, byte for byte.
func TestPackedTablesAreTheDrivers(t *testing.T) {
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "github.com/sijms/go-ora/v2/converters").Output()
	if err != nil {
		t.Fatal(err)
	}
	once, again := filepath.Join(dir, "converters"), filepath.Join(dir, "again")
	for _, to := range []string{once, again} {
		if err := os.CopyFS(to, os.DirFS(strings.TrimSpace(string(out)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := pack(once); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":  "module packed\n\ngo 1.26\n",
		"main.go": strings.ReplaceAll(string(source), "github.com/sijms/go-ora/v2/converters", "packed/converters"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	repack := exec.CommandContext(t.Context(), "go", "run", ".", again)
	repack.Dir = dir
	if said, err := repack.CombinedOutput(); err != nil {
		t.Fatal(err, string(said))
	}
	tables, err := os.ReadDir(filepath.Join(once, "tables"))
	if err != nil || len(tables) < 200 {
		t.Fatal(len(tables), err)
	}
	for _, table := range tables {
		first, err := os.ReadFile(filepath.Join(once, "tables", table.Name()))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(again, "tables", table.Name()))
		if err != nil || string(second) != string(first) {
			t.Errorf("character set %s: %d bytes, %d bytes, %v", table.Name(), len(first), len(second), err)
		}
	}
}
