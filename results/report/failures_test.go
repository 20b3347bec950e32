package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"filewise"
)

// Failures that were tried again stand in every form of the report.
func TestFailuresAreShown(t *testing.T) {
	d := Data{}
	d.Plan.Layouts = []filewise.Layout{{Name: "1 file"}, {Name: "4 files"}}
	d.Plan.Baseline = "1 file"
	for _, n := range []int64{3, 4} {
		d.Trials = append(d.Trials, filewise.Trial{Cell: filewise.Cell{Block: 1, Layout: "4 files", Attempt: 1}, State: filewise.Done,
			Measures: []filewise.Measure{{Operation: "inserts", Unit: "rows", Work: 10, Window: [2]time.Duration{0, 1e9},
				Errors: map[filewise.Class]int64{filewise.ClassDeadlock: n, filewise.ClassSerialization: 1}}}})
	}
	for name, c := range map[string]struct {
		write func(*bytes.Buffer) error
		want  []string
	}{
		"terminal": {func(b *bytes.Buffer) error { return Terminal(b, d, TerminalOptions{}) },
			[]string{"4 files 7 × deadlock, 2 × serialization"}},
		"markdown": {func(b *bytes.Buffer) error { return Markdown(b, d) },
			[]string{"4 files 7 × deadlock, 2 × serialization", "4 × deadlock, 1 × serialization"}},
		"html": {func(b *bytes.Buffer) error { return HTML(b, d) },
			[]string{"4 files 7 × deadlock, 2 × serialization", "4 × deadlock, 1 × serialization"}},
		"json": {func(b *bytes.Buffer) error { return JSON(b, d) }, []string{`"deadlock": 4`}},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}
