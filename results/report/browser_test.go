package report_test

import (
	"bytes"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"filewise/internal/browsertest"
	"filewise/results/report"
)

var shots = flag.String("shots", "", "directory to write screenshots of the HTML report to")

func keep(t *testing.T, name string, picture func() []byte) {
	t.Helper()
	if *shots == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*shots, name), picture(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// screen is a picture of the whole page, which takes a second.
func screen(t *testing.T, b *browsertest.Tab) func() []byte {
	return func() []byte { return browsertest.Run(t, b, chromedp.FullScreenshot(100)) }
}

// marks counts drawn marks, marks without width, and texts beyond the edge of their drawing or upon another text of
// it.
const marks = `(() => {
  const n = s => document.querySelectorAll(s).length;
  const shown = [...document.querySelectorAll("svg.fluid")].filter(s => s.checkVisibility());
  const beyond = [], upon = [];
  for (const svg of shown) {
    const edge = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()]);
    boxes.forEach(([text, a], i) => {
      if (a.right > edge.right + 8 || a.left < edge.left - 8) beyond.push(text);
      for (const [other, b] of boxes.slice(0, i))
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4) upon.push(text + " | " + other);
    });
  }
  return {
    flat: shown.filter(s => s.getBoundingClientRect().width < 100).length, beyond, upon,
    estimates: n("#chart-estimates circle.estimate"), intervals: n("#chart-estimates line.interval"), curve: n("#chart-curve circle"),
    dots: n("#chart-trials svg.fluid use"), lines: n("#chart-within path.strong"), analyses: n("#chart-looks circle.estimate"),
    operations: n("#chart-operations .cell"), marks: n("#chart-operations circle.estimate"),
    overflow: document.documentElement.scrollWidth - innerWidth,
  };
})()`

type drawn struct {
	Flat, Estimates, Intervals, Curve, Dots, Lines, Analyses, Operations, Marks, Overflow int
	Beyond, Upon                                                                          []string
}

// neat fails if a drawing has no space, or its texts have none.
func (got drawn) neat(t *testing.T) {
	t.Helper()
	if got.Flat > 0 || got.Overflow > 0 || len(got.Beyond)+len(got.Upon) > 0 {
		t.Errorf("%d drawings without width; the page is %d pixels too wide; texts beyond their drawing: %q, upon each other: %q", got.Flat,
			got.Overflow, got.Beyond, got.Upon)
	}
}

func TestHTMLInABrowser(t *testing.T) {
	rises, err := steep().data()
	if err != nil {
		t.Fatal(err)
	}
	b := browsertest.Open(t)
	for _, c := range []struct {
		name, scheme string
		data         report.Data
		width        int64
	}{
		{"light", "light", stored(t), 1180},
		{"dark", "dark", stored(t), 1180},
		{"narrow", "light", rich(t), 360},
		{"narrow-dark", "dark", rises, 390},
		{"steep", "light", rises, 1180},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.Forget()
			show(t, b, c.data, c.width, c.scheme)
			keep(t, c.name+"-answer.png", screen(t, b))
			unfold(t, b)
			got := browsertest.Run(t, b, chromedp.Evaluate[drawn](marks))
			keep(t, c.name+".png", screen(t, b))
			b.Quiet(t, "file://")
			checkDrawn(t, c.data, got)
			if cut := browsertest.Run(t, b, chromedp.Evaluate[[]string](cutOff)); len(cut) > 0 {
				t.Errorf("tables wider than their place: %q", cut)
			}
			browsertest.Accessible(t, b)
		})
	}
}

// cutOff lists tables that one would have to scroll sideways.
const cutOff = `[...document.querySelectorAll(".scroll")].filter(s => s.scrollWidth > s.clientWidth + 1).map(s => s.ariaLabel)`

// TestHTMLUnderJenkinsPolicy: Jenkins's headers drop the page's style, and charts stay as they were.
func TestHTMLUnderJenkinsPolicy(t *testing.T) {
	page := render(t, report.HTML, stored(t))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'; img-src 'self'; style-src 'self';")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	}))
	defer server.Close()
	b := browsertest.Open(t)
	browsertest.Call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1180, Height: 900,
		DeviceScaleFactor: 1})
	browsertest.Run(t, b, chromedp.Navigate(server.URL))
	keep(t, "jenkins.png", screen(t, b))
	style := "getComputedStyle(document.body).maxWidth + getComputedStyle(document.querySelector('.top')).display"
	if got := browsertest.Run(t, b, chromedp.Evaluate[string](style)); got != "noneblock" {
		t.Fatalf("the style sheet was not dropped: %s", got)
	}
	got := browsertest.Run(t, b, chromedp.Evaluate[[]string](`[...document.querySelectorAll("#chart-answer svg.fluid")].flatMap(s => [
		s.getBoundingClientRect().width > 500, getComputedStyle(s.querySelector("rect, use")).fill,
		getComputedStyle(s.querySelector("line")).strokeOpacity,
	].map(String))`))
	if want := []string{"true", "rgb(110, 124, 143)", "0.12", "true", "rgb(31, 119, 212)", "0.12"}; !slices.Equal(got, want) {
		t.Errorf("charts are drawn %q, want %q", got, want)
	}
	unfold(t, b)
	if over := browsertest.Run(t, b, chromedp.Evaluate[int]("document.documentElement.scrollWidth - innerWidth")); over > 0 {
		t.Errorf("the page is %d pixels too wide", over)
	}
}

func TestHTMLOfPartialRunsInABrowser(t *testing.T) {
	b := browsertest.Open(t)
	for name, d := range partial(t) {
		t.Run(name, func(t *testing.T) {
			b.Forget()
			show(t, b, d, 1180, "light")
			unfold(t, b)
			keep(t, "partial-"+name+".png", screen(t, b))
			got := browsertest.Run(t, b, chromedp.Evaluate[drawn](marks))
			b.Quiet(t, "file://")
			got.neat(t)
		})
	}
}

// TestHTMLIsHarmless shows a run whose names try to break out of every place that holds them.
func TestHTMLIsHarmless(t *testing.T) {
	b := browsertest.Open(t)
	show(t, b, hostile(t), 1180, "light")
	if browsertest.Run(t, b, chromedp.Evaluate[bool]("'pwned' in window")) {
		t.Error("a name was executed")
	}
	if n := browsertest.Run(t, b, chromedp.Evaluate[int]("document.querySelectorAll('img, iframe, object, base, "+
		"link[rel=stylesheet]').length")); n > 0 {
		t.Errorf("names made %d elements", n)
	}
	got := browsertest.Run(t, b, chromedp.Evaluate[drawn](marks))
	checkDrawn(t, hostile(t), got)
	for _, evil := range evils {
		if !strings.Contains(browsertest.Run(t, b, chromedp.Evaluate[string]("document.body.textContent")), evil) {
			t.Errorf("the name %q is not shown as it is", evil)
		}
	}
	b.Quiet(t, "file://")
}

func checkDrawn(t *testing.T, d report.Data, got drawn) {
	t.Helper()
	layouts, analyses := len(d.Plan.Layouts), len(d.Judgement.Operations[0].Result.Analyses)
	got.neat(t)
	if got.Estimates != layouts {
		t.Errorf("%d dots in the chart of estimates, want %d", got.Estimates, layouts)
	}
	if got.Intervals < layouts-1 {
		t.Errorf("%d intervals, want at least %d", got.Intervals, layouts-1)
	}
	if got.Dots != len(d.Trials) {
		t.Errorf("%d dots for %d trials", got.Dots, len(d.Trials))
	}
	if got.Curve != layouts {
		t.Errorf("%d dots on the curve of %d layouts", got.Curve, layouts)
	}
	if got.Lines != layouts {
		t.Errorf("%d lines within the trials of %d layouts", got.Lines, layouts)
	}
	if analyses > 1 && got.Analyses != analyses*(layouts-1) {
		t.Errorf("%d dots in the charts of analyses, want %d", got.Analyses, analyses*(layouts-1))
	}
}

// a4 is the width of a sheet within its margins of 15 mm, in CSS pixels.
const a4 = 680

// tooWide lists what reaches beyond the window: a browser would shrink the
// whole page to print it, or cut it off.
const tooWide = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
  .map(e => e.tagName + "." + (e.className.baseVal ?? e.className) + "#" + e.id + " " + Math.round(e.getBoundingClientRect().right))
  .slice(0, 8)`

func TestHTMLPrints(t *testing.T) {
	b := browsertest.Open(t)
	show(t, b, rich(t), 1180, "dark")
	browsertest.Call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	browsertest.Call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: a4, Height: 900,
		DeviceScaleFactor: 1})
	if wide := browsertest.Run(t, b, chromedp.Evaluate[[]string](tooWide)); len(wide) > 0 {
		t.Errorf("wider than a sheet of A4: %v", wide)
	}
	// What is folded away belongs on paper; what is only of use on a screen does not.
	folded := `[...document.querySelectorAll("details")].filter(d => !d.parentElement.closest("details:not([data-print])"))
		.map(d => [d.hasAttribute("data-print"), d.lastElementChild.checkVisibility()].join()).sort().join(" ")`
	if got := browsertest.Run(t, b, chromedp.Evaluate[string](folded)); !strings.Contains(got, "true,true") ||
		strings.Contains(got, "true,false") || strings.Contains(got, "false,true") {
		t.Errorf("folded parts that are meant for paper, and are on it: %s", got)
	}
	// The table may begin under the chart; its rows stay whole.
	breaks := `["table.main", "table.main tr", "figure"].map(s => getComputedStyle(document.querySelector(s)).breakInside).join()`
	if got := browsertest.Run(t, b, chromedp.Evaluate[string](breaks)); got != "auto,avoid,avoid" {
		t.Errorf("page breaks within the table, its rows and the chart: %s", got)
	}
	browsertest.Call(t, b, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	pdf := printed(t, b)
	keep(t, "print.pdf", func() []byte { return pdf })
	b.Quiet(t, "file://")
	if len(pdf) < 20_000 {
		t.Errorf("the PDF has only %d bytes", len(pdf))
	}
	many := operations(t)
	for name, d := range map[string]report.Data{"usual": stored(t), "dml": many["dml"], "scan": many["scan"]} {
		show(t, b, d, 1180, "light")
		sheets := printed(t, b)
		keep(t, name+".pdf", func() []byte { return sheets })
		if n := bytes.Count(sheets, []byte("/Type /Page\n")); n < 1 || n > 4 {
			t.Errorf("%s: a run takes %d sheets of paper, want 4 at most", name, n)
		}
	}
}

func printed(t *testing.T, b *browsertest.Tab) []byte {
	t.Helper()
	css := true
	return browsertest.Call(t, b, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: &css, PaperWidth: 8.27, PaperHeight: 11.69}).Data
}
