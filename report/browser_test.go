package report_test

import (
	"context"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"filewise/report"
	"filewise/report/internal/sample"
)

var shots = flag.String("shots", "", "directory to write screenshots of the HTML report to")

// chromium finds the browser. On CI it has to be there.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("chromium is not installed: apt-get install chromium")
	}
	t.Skip("SKIPPED: HTML report in a browser, for chromium is not installed")
	return ""
}

// browser is one tab, and what it complained about and asked for.
type browser struct {
	context.Context
	mu       sync.Mutex
	problems []string
	requests []string
}

func open(t *testing.T, flags ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	opts := append([]chromedp.ExecAllocatorOption{
		chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", true),
	}, flags...)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b.Context = ctx
	call(t, b, log.Enable, cdp.Empty{})
	call(t, b, network.Enable, network.EnableParams{})
	return b
}

func describe(d *runtime.ExceptionDetails) string {
	if d.Exception != nil {
		return d.Text + " " + d.Exception.Description
	}
	return d.Text
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		for _, a := range e.Args {
			b.problems = append(b.problems, "console: "+string(a.Value)+a.Description)
		}
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, "exception: "+describe(e.ExceptionDetails))
	case *log.EventEntryAdded:
		b.problems = append(b.problems, "log: "+e.Entry.Text+" "+e.Entry.URL)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// call runs one command of the browser's protocol.
func call[P, R any](t *testing.T, b *browser, c cdp.Command[P, R], p P) R {
	t.Helper()
	r, err := chromedp.Call(b, c, p)
	if err != nil {
		t.Fatalf("%s: %v", c.Method, err)
	}
	return r
}

func run[T any](t *testing.T, b *browser, a chromedp.Action[T]) T {
	t.Helper()
	x, err := chromedp.Run(b, a)
	if err != nil {
		t.Fatalf("%v; the page said: %v", err, b.problems)
	}
	return x
}

// show opens a run's report in a window of a width and a colour scheme, and
// waits until its charts are drawn.
func (b *browser) show(t *testing.T, d report.Data, width int64, scheme string) {
	t.Helper()
	call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500})
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	run(t, b, chromedp.Steps(chromedp.Navigate(htmlFile(t, d)), chromedp.WaitReady(chromedp.CSS("html[data-charts]"))))
}

// forget starts anew with what was complained about and asked for.
func (b *browser) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems, b.requests = nil, nil
}

// quiet fails when the page complained or asked for anything but itself.
func (b *browser) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		t.Errorf("the page complained: %s", p)
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, "file://") && !strings.HasPrefix(r, "data:") {
			t.Errorf("the page asked for %s", r)
		}
	}
	if i := slices.IndexFunc(b.requests, func(r string) bool { return strings.HasPrefix(r, "file://") }); i < 0 {
		t.Error("no request was seen at all, so the listener does not work")
	}
}

// htmlFile renders a run into a file and returns its URL.
func htmlFile(t *testing.T, d report.Data) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.HTML(f, d); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

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
	b := open(t)
	for _, c := range []struct {
		name, scheme string
		data         report.Data
		width        int64
	}{
		{"light", "light", stored(t), 1180},
		{"dark", "dark", stored(t), 1180},
		{"narrow", "light", stored(t), 390},
		{"narrow-dark", "dark", steep, 390},
		{"steep", "light", steep, 1180},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.forget()
			b.show(t, c.data, c.width, c.scheme)
			got := run(t, b, chromedp.Evaluate[drawn](marks))
			keep(t, c.name+".png", run(t, b, chromedp.FullScreenshot(100)))
			b.quiet(t)
			checkDrawn(t, c.data, got)
		})
	}
}

func TestHTMLOfPartialRunsInABrowser(t *testing.T) {
	b := open(t)
	for name, d := range partial(t) {
		t.Run(name, func(t *testing.T) {
			b.forget()
			b.show(t, d, 1180, "light")
			keep(t, "partial-"+name+".png", run(t, b, chromedp.FullScreenshot(100)))
			got := run(t, b, chromedp.Evaluate[drawn](marks))
			b.quiet(t)
			if got.Svgs != got.Drawings || got.Overflow > 0 {
				t.Errorf("%d of %d charts are drawn; %d pixels too wide", got.Svgs, got.Drawings, got.Overflow)
			}
		})
	}
}

// TestHTMLIsHarmless shows a run whose names try to break out of every place
// where they stand.
func TestHTMLIsHarmless(t *testing.T) {
	b := open(t)
	b.show(t, hostile(t), 1180, "light")
	if run(t, b, chromedp.Evaluate[bool]("'pwned' in window")) {
		t.Error("a name was executed")
	}
	if n := run(t, b, chromedp.Evaluate[int]("document.querySelectorAll('img, iframe, object, base, link[rel=stylesheet]').length")); n > 0 {
		t.Errorf("names made %d elements", n)
	}
	got := run(t, b, chromedp.Evaluate[drawn](marks))
	checkDrawn(t, hostile(t), got)
	for _, evil := range evils {
		if !strings.Contains(run(t, b, chromedp.Evaluate[string]("document.body.textContent")), evil) {
			t.Errorf("the name %q is not shown as it is", evil)
		}
	}
	b.quiet(t)
}

// TestHTMLWithoutScripts has the main chart and all numbers.
func TestHTMLWithoutScripts(t *testing.T) {
	b := open(t)
	call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	run(t, b, chromedp.Navigate(htmlFile(t, stored(t))))
	keep(t, "no-script.png", run(t, b, chromedp.FullScreenshot(100)))
	box := run(t, b, chromedp.Dimensions(chromedp.CSS("svg.still")))
	if box == nil || box.Width < 300 || box.Height < 200 {
		t.Errorf("the static chart is %+v", box)
	}
	b.quiet(t)
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
	b := open(t)
	b.show(t, stored(t), 1180, "dark")
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: a4, Height: 900, DeviceScaleFactor: 1})
	run(t, b, chromedp.Evaluate[bool]("dispatchEvent(new Event('beforeprint'))"))
	if wide := run(t, b, chromedp.Evaluate[[]string](tooWide)); len(wide) > 0 {
		t.Errorf("wider than a sheet of A4: %v", wide)
	}
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	css := true
	pdf := call(t, b, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: &css, PaperWidth: 8.27, PaperHeight: 11.69}).Data
	keep(t, "print.pdf", pdf)
	b.quiet(t)
	if len(pdf) < 20_000 {
		t.Errorf("the PDF has only %d bytes", len(pdf))
	}
}
