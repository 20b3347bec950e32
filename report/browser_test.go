package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"filewise/internal/browsertest"
	"filewise/report"
	"filewise/report/internal/sample"
)

var shots = flag.String("shots", "", "directory to write screenshots of the HTML report to")

func keep(t *testing.T, name string, png []byte) {
	t.Helper()
	if *shots == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*shots, name), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// marks counts what a chart drew.
const marks = `(() => {
  const n = s => document.querySelectorAll(s).length;
  return {
    drawings: Number(document.documentElement.dataset.charts), svgs: n("svg.marks"),
    estimates: n("#chart-estimates .mark-symbol path"), intervals: n("#chart-estimates .mark-rule line"),
    dots: n("#chart-trials .mark-symbol path"), lines: n("#chart-within .mark-line path"), looks: n("#chart-looks .mark-symbol path"),
    overflow: document.documentElement.scrollWidth - innerWidth,
  };
})()`

type drawn struct{ Drawings, Svgs, Estimates, Intervals, Dots, Lines, Looks, Overflow int }

func TestHTMLInABrowser(t *testing.T) {
	steep, err := sample.Steep().Data()
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
		{"narrow-dark", "dark", steep, 390},
		{"steep", "light", steep, 1180},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.Forget()
			show(t, b, c.data, c.width, c.scheme)
			got := browsertest.Run(t, b, chromedp.Evaluate[drawn](marks))
			keep(t, c.name+".png", browsertest.Run(t, b, chromedp.FullScreenshot(100)))
			b.Quiet(t, "file://")
			checkDrawn(t, c.data, got)
		})
	}
}

func TestHTMLOfPartialRunsInABrowser(t *testing.T) {
	b := browsertest.Open(t)
	for name, d := range partial(t) {
		t.Run(name, func(t *testing.T) {
			b.Forget()
			show(t, b, d, 1180, "light")
			keep(t, "partial-"+name+".png", browsertest.Run(t, b, chromedp.FullScreenshot(100)))
			got := browsertest.Run(t, b, chromedp.Evaluate[drawn](marks))
			b.Quiet(t, "file://")
			if got.Svgs != got.Drawings || got.Overflow > 0 {
				t.Errorf("%d of %d charts are drawn; %d pixels too wide", got.Svgs, got.Drawings, got.Overflow)
			}
		})
	}
}

// TestHTMLIsHarmless shows a run whose names try to break out of every place
// where they stand.
func TestHTMLIsHarmless(t *testing.T) {
	b := browsertest.Open(t)
	show(t, b, hostile(t), 1180, "light")
	if browsertest.Run(t, b, chromedp.Evaluate[bool]("'pwned' in window")) {
		t.Error("a name was executed")
	}
	if n := browsertest.Run(t, b, chromedp.Evaluate[int]("document.querySelectorAll('img, iframe, object, base, link[rel=stylesheet]').length")); n > 0 {
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

// TestHTMLWithoutScripts has the main chart and all numbers.
func TestHTMLWithoutScripts(t *testing.T) {
	b := browsertest.Open(t)
	browsertest.Call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	browsertest.Run(t, b, chromedp.Navigate(htmlFile(t, stored(t))))
	keep(t, "no-script.png", browsertest.Run(t, b, chromedp.FullScreenshot(100)))
	box := browsertest.Run(t, b, chromedp.Dimensions(chromedp.CSS("svg.still")))
	if box == nil || box.Width < 300 || box.Height < 200 {
		t.Errorf("the static chart is %+v", box)
	}
	b.Quiet(t, "file://")
}

func checkDrawn(t *testing.T, d report.Data, got drawn) {
	t.Helper()
	layouts, looks := len(d.Plan.Layouts), len(d.Judgement.Result.Looks)
	if got.Svgs != got.Drawings || got.Drawings < 2+layouts {
		t.Errorf("%d of %d charts are drawn, want all, at least %d", got.Svgs, got.Drawings, 2+layouts)
	}
	if got.Estimates != layouts {
		t.Errorf("%d dots in the chart of estimates, want %d", got.Estimates, layouts)
	}
	if got.Intervals < layouts-1 {
		t.Errorf("%d intervals, want at least %d", got.Intervals, layouts-1)
	}
	if got.Dots != len(d.Trials) {
		t.Errorf("%d dots for %d trials", got.Dots, len(d.Trials))
	}
	if got.Lines < layouts {
		t.Errorf("%d lines within the trials of %d layouts", got.Lines, layouts)
	}
	if looks > 1 && got.Looks != looks*(layouts-1) {
		t.Errorf("%d dots in the charts of looks, want %d", got.Looks, looks*(layouts-1))
	}
	if got.Overflow > 0 {
		t.Errorf("the page is %d pixels wider than the window", got.Overflow)
	}
}

// a4 is the width of a sheet within its margins of 15 mm, in CSS pixels.
const a4 = 680

// tooWide lists what reaches beyond the window: a browser would shrink the
// whole page to print it, or cut it off.
const tooWide = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
  .map(e => e.tagName + "." + (e.className.baseVal ?? e.className) + "#" + e.id + " " + Math.round(e.getBoundingClientRect().right)).slice(0, 8)`

func TestHTMLPrints(t *testing.T) {
	b := browsertest.Open(t)
	show(t, b, rich(t), 1180, "dark")
	browsertest.Call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	browsertest.Call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: a4, Height: 900, DeviceScaleFactor: 1})
	browsertest.Run(t, b, chromedp.Evaluate[bool]("dispatchEvent(new Event('beforeprint'))"))
	if wide := browsertest.Run(t, b, chromedp.Evaluate[[]string](tooWide)); len(wide) > 0 {
		t.Errorf("wider than a sheet of A4: %v", wide)
	}
	// The table may begin under the chart; its rows stay whole.
	breaks := `["table.main", "table.main tr", "figure"].map(s => getComputedStyle(document.querySelector(s)).breakInside).join()`
	if got := browsertest.Run(t, b, chromedp.Evaluate[string](breaks)); got != "auto,avoid,avoid" {
		t.Errorf("page breaks within the table, its rows and the chart: %s", got)
	}
	browsertest.Call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	css := true
	pdf := browsertest.Call(t, b, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: &css, PaperWidth: 8.27, PaperHeight: 11.69}).Data
	keep(t, "print.pdf", pdf)
	b.Quiet(t, "file://")
	if len(pdf) < 20_000 {
		t.Errorf("the PDF has only %d bytes", len(pdf))
	}
}
