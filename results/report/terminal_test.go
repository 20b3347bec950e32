package report_test

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"filewise/results/report"
)

func TestTerminalFitsItsWidth(t *testing.T) {
	d := stored(t)
	renameLayout(&d, "8 files", "8 ファイル、とても長い名前のレイアウト ✨ a layout with a very long name")
	for _, width := range []int{30, 40, 60, 80, 120, 200} {
		out := string(render(t, func(w io.Writer, d report.Data) error {
			return report.Terminal(w, d, report.TerminalOptions{Width: width})
		}, d))
		for line := range strings.Lines(out) {
			if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > max(width, 48) {
				t.Errorf("width %d: a line of %d columns: %s", width, n, line)
			}
		}
	}
}

func TestTerminalAlignsWideCharacters(t *testing.T) {
	d := stored(t)
	renameLayout(&d, "8 files", "８個のファイル")
	out := string(render(t, plain, d))
	var marks []int
	for line := range strings.Lines(out) {
		for _, mark := range []string{"best", "better", "not the best", "result"} {
			if i := strings.LastIndex(line, "  "+mark+"\n"); i >= 0 {
				marks = append(marks, ansi.StringWidth(line[:i]))
			}
		}
	}
	if len(marks) < 5 {
		t.Fatalf("only %d rows found in\n%s", len(marks), out)
	}
	for _, m := range marks {
		if m != marks[0] {
			t.Fatalf("the last column starts at %v in\n%s", marks, out)
		}
	}
}

func TestTerminalColoursOnRequestOnly(t *testing.T) {
	d := hostile(t)
	d.State = "\x1b[2Jcleared\x07"
	d.Judgement.Operations[0].Sentences = []string{"a\x1b]0;title\x07b\u202Ec"}
	escape := regexp.MustCompile("[\x00-\x09\x0b-\x1f\x7f-\u009f\u202e]")
	if m := escape.FindString(string(render(t, plain, d))); m != "" {
		t.Errorf("control character %q without colour", m)
	}
	rest := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(string(render(t, coloured, d)), "")
	if m := escape.FindString(rest); m != "" {
		t.Errorf("control character %q beside the colours", m)
	}
	if rest == string(render(t, coloured, d)) {
		t.Error("no colour was used")
	}
}

// renameLayout gives a layout another name everywhere.
func renameLayout(d *report.Data, from, to string) {
	for i := range d.Plan.Layouts {
		if d.Plan.Layouts[i].Name == from {
			d.Plan.Layouts[i].Name, d.Judgement.Operations[0].Result.Arms[i].Name = to, to
		}
	}
	for i := range d.Trials {
		if d.Trials[i].Cell.Layout == from {
			d.Trials[i].Cell.Layout = to
		}
	}
}
