package report_test

import (
	"html"
	"strings"
	"testing"
)

// Every format states at its head the share of the measurement that is about files.
func TestRelevanceHeadsEveryFormat(t *testing.T) {
	d, err := richRun()
	if err != nil {
		t.Fatal(err)
	}
	if d.Judgement, err = d.Plan.Judge(d.Trials); err != nil {
		t.Fatal(err)
	}
	for name, write := range formats {
		if name == "short.txt" { // its one line of cause has more
			continue
		}
		got := html.UnescapeString(string(render(t, write, d)))
		line := strings.Index(got, "Connection time:")
		if line < 0 {
			t.Errorf("%s does not say where the connections' time went", name)
		} else if table := strings.Index(got, "5 files"); name != "json" && table >= 0 && table < line {
			t.Errorf("%s says where the connections' time went below the table", name)
		}
	}
}

// The connections' time and what was in use of each resource stand in one table, with the limit of each.
func TestOneAccountOfTheBottleneck(t *testing.T) {
	d, err := richRun()
	if err != nil {
		t.Fatal(err)
	}
	if d.Judgement, err = d.Plan.Judge(d.Trials); err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{"txt", "md", "html"} {
		out := text(t, ext, d)
		_, table, found := strings.Cut(out, "limit")
		if !found {
			t.Fatalf("%s has no such table:\n%s", ext, out)
		}
		for _, want := range []string{"data files", "80 %", "Connection time is how"} {
			if !strings.Contains(table, want) {
				t.Errorf("%s: no %q in %s", ext, want, table[:400])
			}
		}
	}
	if strings.Contains(text(t, "md", stored(t)), "limit") {
		t.Error("a table of what was not read")
	}
}
