package filewise_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// findings counts what the third reading of the adapters for SQL Server and Oracle found, by its three lists.
var findings = map[string]int{"SQL Server": 16, "fault": 6, "Oracle": 16}

// Each finding has a test that names it.
func TestFindingsAreChecked(t *testing.T) {
	label := regexp.MustCompile(`(?i)(?:first\s+contact: |Oracle \d+(?: and \d+)? of the first contact|SQL Server \d+ of the first contact)`)
	list := regexp.MustCompile(`(SQL Server|Oracle|fault) ((?:\d+(?:, | and )?)+)`)
	named := map[string]bool{}
	for _, file := range tracked(t, "*_test.go") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.ReplaceAll(string(text), "\n// ", " ")
		for line := range strings.Lines(lines) {
			at := label.FindStringIndex(line)
			if at == nil {
				continue
			}
			for _, m := range list.FindAllStringSubmatch(line[at[0]:], -1) {
				for _, n := range regexp.MustCompile(`\d+`).FindAllString(m[2], -1) {
					named[m[1]+" "+n] = true
				}
			}
		}
	}
	for kind, most := range findings {
		for n := range most {
			if finding := fmt.Sprintf("%s %d", kind, n+1); !named[finding] {
				t.Errorf("no test names %s of the first contact", finding)
			}
		}
	}
}
