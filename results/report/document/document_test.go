package document

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

// speed is a row of the table of the tests.
type speed struct {
	layout string
	rows   float64
	text   string
}

func speeds() Table {
	return Tabulate(Table{Caption: "Speeds"}, []speed{{"1 | file", 1200.5, "1,200"}, {"2 <files>", math.NaN(), "–"}},
		Name("layout", func(s speed) string { return s.layout }),
		Num("rows/s", func(s speed) string { return s.text }).Raw("rows/s", func(s speed) float64 { return s.rows }).Spare(1),
		Cells("mark", func(s speed) Cell {
			return Cell{Mark: "best", Class: "best", Row: true, Small: []string{"(of two)", "so far"}}
		}),
		Words("only here", func(speed) string { return "paper" }).Only(Paper))
}

func sample() Document {
	return Document{Title: "T", Sections: []Section{
		{ID: "verdict", Blocks: []Block{Everywhere(Headline("Use it. Or not."))}},
		{ID: "speeds", Name: "Speeds", Title: "How fast", Blocks: []Block{
			Everywhere(speeds()), OnPages(Text("a page")), OnTerminal(Text("a terminal")),
			Fold{Summary: "more", Blocks: []Block{Everywhere(Text("folded"))}},
			Only{In: Paper, Blocks: []Block{Everywhere(Text("on paper"))}}, Table{Caption: "of nothing"},
		}},
	}}
}

// A block stands in the formats that it is for, and in no other.
func TestEachFormatHasItsBlocks(t *testing.T) {
	var page, mark, term bytes.Buffer
	d := sample()
	for _, err := range []error{WriteHTML(&page, d), WriteMarkdown(&mark, d), WriteTerminal(&term, d, TerminalOptions{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const never = "of nothing"
	for name, c := range map[string]struct {
		text       string
		has, hasNo []string
	}{
		"HTML": {page.String(), []string{"<h1", "Use it.", "a page", "folded", "on paper", "1 | file", "2 &lt;files&gt;", `<tr class="best">`,
			"<caption>Speeds"},
			[]string{"a terminal", never}},
		"Markdown": {mark.String(), []string{"# Use it. Or not.", "## How fast", "on paper",
			`| 1 \| file | 1,200 | best (of two); so far | paper |`, "| --- | ---: |"},
			[]string{"a page", "a terminal", "folded", never}},
		"terminal": {term.String(), []string{"Use it. Or not.\n\nlayout", "1 | file    1,200  best\n", "a terminal", "folded"},
			[]string{"a page", "on paper", "only here", never}},
	} {
		for _, want := range c.has {
			if !strings.Contains(c.text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, c.text)
			}
		}
		for _, not := range c.hasNo {
			if strings.Contains(c.text, not) {
				t.Errorf("%s has %q", name, not)
			}
		}
	}
}

// A narrow terminal does without the sparest columns, then without ends of names.
func TestNarrowTerminals(t *testing.T) {
	for width, want := range map[int]string{80: "rows/s", 30: "2 <files>"} {
		out := Print(TerminalOptions{Width: width}, Everywhere(Tabulate(Table{}, []speed{{"2 <files>", 1, "a number that is long"}},
			Name("layout", func(s speed) string { return s.layout }), Num("rows/s", func(s speed) string { return s.text }).Spare(1))))
		if !strings.Contains(out, want) || width == 30 && strings.Contains(out, "rows/s") {
			t.Errorf("at %d columns:\n%s", width, out)
		}
	}
}

// If nothing may be left out or wrapped, lines still end at the terminal's edge, and lose no word but names' ends.
func TestTooNarrowTerminals(t *testing.T) {
	const says = "not resolvable here (factor > 100)"
	out := Print(TerminalOptions{Width: 50}, Everywhere(Tabulate(Table{}, []speed{{layout: "6 files"}},
		Name("layout", func(s speed) string { return s.layout }), Words("against 1 file (95 %)", func(speed) string { return says }),
		Words("mark", func(speed) string { return "undecided, so far" }))))
	for line := range strings.Lines(out) {
		if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > 50 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	words := strings.Fields(out)
	for _, word := range strings.Fields("6 files undecided, so far " + says) {
		if !slices.Contains(words, word) {
			t.Errorf("%q is lost in\n%s", word, out)
		}
	}
}

// Programs get the values behind the texts; what is no number is null.
func TestTablesAsJSON(t *testing.T) {
	text, err := json.Marshal(sample().Tables())
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"caption":"Speeds","columns":[{"name":"layout"},{"name":"rows/s","unit":"rows/s"},{"name":"mark"},{"name":"only here"}],` +
		`"rows":[["1 | file",1200.5,"best (of two); so far","paper"],["2 \u003cfiles\u003e",null,"best (of two); so far","paper"]]}]`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

// A flag stays on one line, all of it.
func TestFlagsAreNotBroken(t *testing.T) {
	const want = `give <span class="nb">--p99-limit</span> 5ms, or <span class="nb">--files</span> 1 &lt; 2`
	if got := prose("give --p99-limit 5ms, or --files 1 < 2"); string(got) != want {
		t.Errorf("%s\n want %s", got, want)
	}
}
