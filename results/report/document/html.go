package document

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

//go:embed assets
var assets embed.FS

// WriteHTML writes a document as one file that needs no network, no other file and no script. Its content security
// policy allows the embedded style by its hash, and nothing more.
func WriteHTML(w io.Writer, d Document) error {
	css, err := assets.ReadFile("assets/report.css")
	if err != nil {
		return fmt.Errorf("read the style of the report: %w", err)
	}
	t := template.New("page.html.tmpl")
	t.Funcs(template.FuncMap{
		"prose":  prose,
		"raised": func(h template.HTML) template.HTML { return template.HTML(raised.Replace(string(h))) },
		"tip":    func(word string) string { return d.Terms[word] },
		"render": func(b Block) (template.HTML, error) {
			var out strings.Builder
			err := t.ExecuteTemplate(&out, b.kind(), b)
			return template.HTML(out.String()), err
		},
	})
	if _, err := t.ParseFS(assets, "assets/*.tmpl"); err != nil {
		return fmt.Errorf("read the template of the report: %w", err)
	}
	d.Sections = slices.DeleteFunc(slices.Clone(d.Sections), func(s Section) bool { return !shown(s.Blocks) })
	csp := "default-src 'none'; style-src " + hashSource(css) + "; img-src data:; base-uri 'none'; form-action 'none'"
	var b bytes.Buffer // a failing template must not leave half a report
	err = t.Execute(&b, struct {
		Document
		CSP string
		CSS template.CSS
	}{d, csp, template.CSS(css)})
	if err != nil {
		return fmt.Errorf("render the report: %w", err)
	}
	if _, err := w.Write(bytes.Map(harmless, unparted(b.Bytes()))); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Contents returns the sections that a reader may go to. If several have the same name, it returns the first.
func (d Document) Contents() []Section {
	var out []Section
	for _, s := range d.Sections {
		if s.Name != "" && !slices.ContainsFunc(out, func(o Section) bool { return o.Name == s.Name }) {
			out = append(out, s)
		}
	}
	return out
}

// harmless replaces a character that would control a terminal, if the page is printed there, or change the direction of
// lines.
func harmless(r rune) rune {
	if r != '\n' && r != '\t' && r != '\u2028' && r != '\u2029' && Steers(r) {
		return utf8.RuneError
	}
	return r
}

// raised turns the headings below a section's into section headings. In the first section the page's heading is above
// them.
var raised = strings.NewReplacer("<h3>", "<h2>", "</h3>", "</h2>")

// hashSource returns the policy source that allows an inline style of exactly this text (CSP level 2).
func hashSource(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

var flag = regexp.MustCompile(`--[a-z][a-z0-9-]*`)

// prose escapes a text, and keeps each flag in it on one line: browsers break lines after hyphens.
func prose(s any) template.HTML {
	return template.HTML(flag.ReplaceAllString(template.HTMLEscapeString(fmt.Sprint(s)), `<span class="nb">$0</span>`))
}

// percents matches the parts of a page to leave as they are, and numbers before a percent sign.
var percents = regexp.MustCompile(`(?s)<style>.*?</style>|<(?:pre|code)\b.*?</(?:pre|code)>|<[^>]*>|[0-9] %`)

// unparted keeps a number and its percent sign on one line, wherever they are read as text.
func unparted(page []byte) []byte {
	return percents.ReplaceAllFunc(page, func(part []byte) []byte {
		if part[0] == '<' {
			return part
		}
		return append(part[:1:1], "\u00a0%"...)
	})
}

// shown reports whether a page shows any of the blocks.
func shown(blocks []Block) bool {
	return slices.ContainsFunc(blocks, func(b Block) bool {
		if o, ok := b.(Only); ok {
			return shown(o.Shown())
		}
		return true
	})
}

// Start returns the first sentence of a headline, which is shown in large letters.
func (h Headline) Start() string {
	start, _, _ := strings.Cut(string(h), ". ")
	return strings.TrimSuffix(start, ".") + "."
}

// Rest returns the text after the first sentence.
func (h Headline) Rest() string {
	_, rest, _ := strings.Cut(string(h), ". ")
	return rest
}

// Long reports whether the first sentence would fill the page in large letters.
func (h Headline) Long() bool { return utf8.RuneCountInString(h.Start()) > 42 }

// Shown returns the blocks of an Only that a page shows.
func (o Only) Shown() []Block {
	if o.In&HTML == 0 {
		return nil
	}
	return o.Blocks
}

// Page returns the table with only the columns that a page shows.
func (t Table) Page() Table { return t.within(HTML) }

// Width returns the width of a cell's bar for drawing, or nothing if the cell has no bar.
func (c Cell) Width() string {
	if c.Bar <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", c.Bar)
}
