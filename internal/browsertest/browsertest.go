// Package browsertest opens pages in headless Chromium for tests, and records the browser's complaints.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser returns the path of Chromium, which must exist on CI.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "chromium is not installed: apt-get install chromium"
	if os.Getenv("CI") == "true" {
		t.Fatal(missing)
	}
	t.Skip("SKIPPED: pages in a browser: " + missing)
	return ""
}

// Tab is a browser's tab, with its complaints and requests.
type Tab struct {
	context.Context
	mu       sync.Mutex
	problems []string
	requests []string
}

// Open starts a browser with one tab. It ends with the test.
func Open(t *testing.T, flags ...chromedp.ExecAllocatorOption) *Tab {
	t.Helper()
	opts := []chromedp.ExecAllocatorOption{ // so that it makes no requests by itself
		chromedp.ExecPath(browser(t)), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", true),
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(opts, flags...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &Tab{}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b.Context = ctx
	Call(t, b, log.Enable, cdp.Empty{})
	Call(t, b, network.Enable, network.EnableParams{})
	return b
}

func describe(d *runtime.ExceptionDetails) string {
	if d.Exception != nil {
		return d.Text + " " + d.Exception.Description
	}
	return d.Text
}

func (b *Tab) listen(event any) {
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

// Call runs a command of the browser's protocol. If it returns an error, the test fails.
func Call[P, R any](t *testing.T, b *Tab, c cdp.Command[P, R], p P) R {
	t.Helper()
	r, err := chromedp.Call(b, c, p)
	if err != nil {
		t.Fatalf("%s: %v", c.Method, err)
	}
	return r
}

// Run executes an action. If it returns an error, the test fails.
func Run[T any](t *testing.T, b *Tab, a chromedp.Action[T]) T {
	t.Helper()
	x, err := chromedp.Run(b, a)
	if err != nil {
		t.Fatalf("%v; the page shows: %v", err, b.problems)
	}
	return x
}

// Forget clears the complaints and requests.
func (b *Tab) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems, b.requests = nil, nil
}

// Quiet fails if the page complained, or requested anything except itself and addresses that begin with allowed.
func (b *Tab) Quiet(t *testing.T, allowed string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		t.Errorf("the page complained: %s", p)
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, allowed) && !strings.HasPrefix(r, "data:") {
			t.Errorf("the page asked for %s", r)
		}
	}
	if i := slices.IndexFunc(b.requests, func(r string) bool { return strings.HasPrefix(r, allowed) }); i < 0 {
		t.Error("no request was seen at all, so the listener does not work")
	}
}
