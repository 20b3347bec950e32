//go:build linux

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The minute of the attack: nothing fails.
func TestMinute(t *testing.T) {
	var table, progress strings.Builder
	err := run(t.Context(), []string{"-minutes", "0", "-dir", t.TempDir()}, &table, &progress)
	t.Log("\n" + table.String())
	if err != nil {
		t.Errorf("%v\n%s", err, &progress)
	}
}

// A try that fails is counted, and fails the whole.
func TestFailedIsCounted(t *testing.T) {
	var table strings.Builder
	if err := show(&table, []outcome{{row: row{name: "a"}, tried: 2}, {row: row{name: "b"}, tried: 3, failed: []string{"it"}}}); err == nil {
		t.Errorf("a failed try is no error:\n%s", &table)
	}
}

// A row of tests that are not there tries nothing.
func TestRowsNameTestsThatThereAre(t *testing.T) {
	text, err := os.ReadFile("rows.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`tests\("filewise/?([^"]*)", "\^Test\(?([\w|]+)`).FindAllStringSubmatch(string(text), -1)
	for _, of := range found {
		dir := filepath.Join("../..", of[1])
		var all strings.Builder
		files, _ := filepath.Glob(dir + "/*_test.go")
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		for name := range strings.SplitSeq(of[2], "|") {
			if !strings.Contains(all.String(), "\nfunc Test"+name+"(") {
				t.Errorf("%s has no Test%s", dir, name)
			}
		}
	}
	if want := strings.Count(string(text), "tests("); len(found) != want {
		t.Errorf("%d of %d rows of tests are understood", len(found), want)
	}
}

// The attacks that the page on safety names exist, and the tests of the page of promises.
func TestSafetyNamesWhatThereIs(t *testing.T) {
	var page []byte
	for _, name := range []string{"safety", "testing"} {
		text, err := os.ReadFile("../../docs/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		page = append(page, text...)
	}
	var all strings.Builder
	if err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(page), -1)
	for _, name := range named {
		if !strings.Contains(all.String(), "func "+name+"(") {
			t.Errorf("there is no %s", name)
		}
	}
	attacks := regexp.MustCompile("attack:\\s((?:`[a-z-]+`,?\\s?)+)").FindAllStringSubmatch(string(page), -1)
	for _, of := range attacks {
		for name := range strings.FieldsFuncSeq(of[1], func(r rune) bool { return strings.ContainsRune("`, \n", r) }) {
			if !slices.ContainsFunc(rows, func(r row) bool { return r.name == name }) {
				t.Errorf("the attack has no row %q", name)
			}
		}
	}
	if len(named) < 10 || len(attacks) < 5 {
		t.Errorf("it names %d tests and %d attacks", len(named), len(attacks))
	}
}
