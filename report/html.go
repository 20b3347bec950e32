package report

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

type htmlPage struct {
	view
	CSP string
	CSS template.CSS
}

// HTML writes the run as one file that needs nothing else: no network, no other
// file, no script. Its content security policy allows the embedded style by its
// hash, and nothing more.
func HTML(w io.Writer, d Data) error {
	css, err := assets.ReadFile("assets/report.css")
	if err != nil {
		return fmt.Errorf("read the style of the report: %w", err)
	}
	t, err := template.New("report.html.tmpl").Funcs(template.FuncMap{"prose": prose}).ParseFS(assets, "assets/*.html.tmpl")
	if err != nil {
		return fmt.Errorf("read the template of the report: %w", err)
	}
	csp := "default-src 'none'; style-src " + hashSource(css) + "; img-src data:; base-uri 'none'; form-action 'none'"
	var b bytes.Buffer // a template that fails half-way leaves no half report
	if err := t.Execute(&b, htmlPage{newView(d), csp, template.CSS(css)}); err != nil {
		return fmt.Errorf("render the report: %w", err)
	}
	if _, err := w.Write(whole(b.Bytes())); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// hashSource allows an inline style of exactly this text (CSP level 2).
func hashSource(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

var flag = regexp.MustCompile(`--[a-z][a-z-]*`)

// prose escapes a text and keeps the flags in it on one line: browsers break
// lines after hyphens.
func prose(s string) template.HTML {
	return template.HTML(flag.ReplaceAllString(template.HTMLEscapeString(s), `<span class="nb">$0</span>`))
}

// parts of a page that stay as they are, and numbers before a percent sign.
var percents = regexp.MustCompile(`(?s)<style>.*?</style>|<(?:pre|code)\b.*?</(?:pre|code)>|<[^>]*>|[0-9] %`)

// whole keeps numbers and percent signs on one line wherever they are read.
func whole(page []byte) []byte {
	return percents.ReplaceAllFunc(page, func(part []byte) []byte {
		if part[0] == '<' {
			return part
		}
		return append(part[:1:1], "\u00a0%"...)
	})
}

// HeadlineStart is the first sentence of the headline, for large letters.
func (v view) HeadlineStart() string {
	start, _, _ := strings.Cut(v.Headline(), ". ")
	return strings.TrimSuffix(start, ".") + "."
}

// LongHeadline tells whether large letters would fill the page.
func (v view) LongHeadline() bool { return utf8.RuneCountInString(v.HeadlineStart()) > 42 }

// HeadlineRest is the headline after its first sentence.
func (v view) HeadlineRest() string {
	_, rest, _ := strings.Cut(v.Headline(), ". ")
	return rest
}

// Title of the document.
func (v view) Title() string { return fmt.Sprintf("Filewise run %d: %s", v.RunID, v.HeadlineStart()) }

// Facts in large numbers beside the verdict.
func (v view) Glance() []struct{ Name, Value string } {
	type fact = struct{ Name, Value string }
	done, blocks := 0, v.Judgement.Result.Blocks
	for _, r := range v.Rows {
		done += r.Done
	}
	out := []fact{{"trials", fmt.Sprint(done)}, {"complete blocks", fmt.Sprint(blocks)}, {"confidence", v.Confidence()}}
	if where := v.Where(); len(where) > 0 {
		out = append(out, fact{"time in trials", v.Elapsed()}, fact{"of it measuring", where[0].Share()})
	}
	if n := len(v.Judgement.Warnings); n > 0 {
		out = append(out, fact{count(n, "warning")[len(fmt.Sprint(n))+1:], fmt.Sprint(n)})
	}
	return out
}

// Measured tells whether some layout has a finished trial.
func (v view) Measured() bool {
	return slices.ContainsFunc(v.Rows, func(r row) bool { return r.Tail.Known })
}

// BlocksSoFar is the number of complete blocks, as the end of a sentence.
func (v view) BlocksSoFar() string {
	n := v.Judgement.Result.Blocks
	return count(n, "block") + " " + isAre(n)
}
