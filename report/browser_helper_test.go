package report_test

import (
	"context"
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
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"filewise/report"
)

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
