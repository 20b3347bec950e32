package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each message on the page of limits is one of the program's, whatever its numbers are.
func TestLimitsAreSaid(t *testing.T) {
	page, err := os.ReadFile("limits.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	err = filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	number, said := regexp.MustCompile(`\d[\dhms]*`), 0
	for _, m := range regexp.MustCompile("(?m)\\| `([^`]+)` \\|$").FindAllStringSubmatch(string(page), -1) {
		said++
		message := number.ReplaceAllString(regexp.QuoteMeta(m[1]), `(?:%[dvsq]|\d[\dhms]*)`)
		if !regexp.MustCompile(message).MatchString(source.String()) {
			t.Errorf("nothing says %q", m[1])
		}
	}
	if said < 15 {
		t.Errorf("%d messages are on the page", said)
	}
}
