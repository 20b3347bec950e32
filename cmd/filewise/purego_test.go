//go:build !cgo

package main

import (
	"strings"
	"testing"

	"filewise/internal/sqlitedriver"
)

// A build without cgo measures, and names its SQLite in result and report.
func TestPureGo(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("FILEWISE_STORE", dir+"/store.db")
	t.Setenv("FILEWISE_STATE", dir+"/state")
	t.Setenv("FILEWISE_LOCK", "filewise-test-"+t.Name())
	t.Chdir(dir)
	of := func(args ...string) string {
		var out, errs strings.Builder
		if err := execute(t.Context(), args, strings.NewReader(""), &out, &errs); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, errs.String())
		}
		return strings.Join(strings.Fields(out.String()), " ")
	}
	for _, args := range [][]string{
		{"version"},
		append([]string{"run"}, strings.Fields(tiny)...),
		{"show"},
		{"report", "--format", "markdown", "--output", "-"},
	} {
		if out := of(args...); !strings.Contains(out, sqlitedriver.Driver()) || !strings.Contains(out, "pure Go") {
			t.Errorf("%v does not say that its SQLite is %s:\n%s", args, sqlitedriver.Driver(), out)
		}
	}
}
