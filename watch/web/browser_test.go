package web

import (
	"flag"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"filewise"
	"filewise/internal/browsertest"
	"filewise/lab/experiment"
	"filewise/results/report"
	"filewise/results/store"
)

var shots = flag.String("shots", "", "directory to write screenshots of the live page to")

// view shows the page in a window of a width and a colour scheme.
func view(t *testing.T, b *browsertest.Tab, name string, width int64, scheme string) {
	t.Helper()
	browsertest.Call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900,
		DeviceScaleFactor: 1, Mobile: width < 500})
	browsertest.Call(t, b, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if over := browsertest.Run(t, b, chromedp.Evaluate[int]("document.documentElement.scrollWidth - innerWidth")); over > 0 {
		t.Errorf("%s: the page is %d pixels wider than the window", name, over)
	}
	browsertest.Accessible(t, b)
	if *shots != "" {
		must(t, os.WriteFile(filepath.Join(*shots, name+".png"), browsertest.Run(t, b, chromedp.FullScreenshot(100)), 0o644))
	}
}

// sees waits until an expression of the page is true; while it loads, none is.
func sees(t *testing.T, b *browsertest.Tab, expression string) {
	t.Helper()
	until(t, expression+"\n"+browsertest.Run(t, b, chromedp.Evaluate[string]("document.body?.innerText ?? ''")), func() bool {
		return browsertest.Run(t, b, chromedp.Evaluate[bool]("(() => { try { return !!("+expression+") } catch { return false } })()"))
	})
}

func do(t *testing.T, b *browsertest.Tab, script string) {
	t.Helper()
	browsertest.Run(t, b, chromedp.Evaluate[bool]("(() => {"+script+"; return true})()"))
}

func has(id, text string) string { return "$('" + id + "').innerText.includes(`" + text + "`)" }

// TestColoursAreLegible by light and by dark.
func TestColoursAreLegible(t *testing.T) {
	css, err := os.ReadFile("assets/live.css")
	must(t, err)
	browsertest.Legible(t, string(css), []string{"text", "muted", "link", "good", "same", "worse", "open", "best"}, []string{"warn"},
		[]string{"bg", "panel"})
	browsertest.Legible(t, string(css), []string{"text", "muted"}, []string{"best"}, []string{"band", "warn-bg"})
}

// TestPage is a page from its first look at a run to the run's end, over a restart
// of Filewise.
func TestPage(t *testing.T) {
	d := finished(t)
	before := d
	before.RunID, before.State = 11, string(store.Done)
	var stopped atomic.Bool
	begun := first(t, d, 13)
	// the preflight's
	begun.Judgement = experiment.Judgement{Warnings: []filewise.Warning{{Code: "one-device", Message: "Both volumes are on one device.",
		Remedy: "Name another."}}}
	m := NewMonitor(begun, "/srv/filewise.db", func() { stopped.Store(true) })
	m.Notify(measuring(t, d, 13))
	s := opened(t, shelf{runs: []report.Data{before, first(t, d, 13)}}, m)
	b := browsertest.Open(t)
	browsertest.Run(t, b, chromedp.Navigate(s.URL()))
	sees(t, b, "$('line').innerText === 'Live'")
	sees(t, b, "document.querySelector('#course path.this')?.getAttribute('d').length > 60")
	for _, want := range []string{has("run", "Run 12: inserts on fake"), has("run", "18446744073709551615"),
		has("doing", d.Trials[13].Cell.Layout+": measure"), has("rate", "rows/s now"),
		has("said", "need the token"), has("warned", "Both volumes"), "document.querySelectorAll('#warned li').length === 2",
		"document.querySelectorAll('#course path.then').length >= 2", "document.querySelectorAll('#cells td.run').length === 1",
		"document.querySelectorAll('#cells td.done').length === 12", has("lines", "<img src=x onerror=pwned=1>"), "!('pwned' in window)",
		"document.querySelectorAll('#history tbody tr').length === 2", "[...document.querySelectorAll('[data-do]')].every(b => b.disabled)"} {
		sees(t, b, want)
	}
	sees(t, b, "document.querySelectorAll('#wait-events tbody tr').length === 2 && "+has("wait-classes", "log")+" && "+has("files",
		"data-0001.db"))
	sees(t, b, "$('more-counters').open = true, "+has("rest", "5 MB\tmean")+" && "+has("tables",
		"write amplification")+" && "+has("tables", "3.5"))

	// The URL that is printed has the token, which is out of sight at once.
	do(t, b, "location.hash = 'token="+strings.ReplaceAll(testToken, " ", "%20")+"'; location.reload()")
	sees(t, b, "$('login').hidden && location.hash === '' && $('line').innerText === 'Live' && "+
		"!document.querySelector('[data-do=pause]').disabled")
	sees(t, b, "document.querySelectorAll('#charts figure svg.fluid').length >= 3 && "+
		"$('charts').textContent.includes('s since the run began')")
	view(t, b, "light", 1180, "light")
	view(t, b, "dark", 1180, "dark")
	view(t, b, "narrow", 390, "light")

	do(t, b, "document.querySelector('[data-do=pause]').click()")
	sees(t, b, has("said", "Pausing after this trial"))
	m.Notify(recorded(t, d, 13))
	sees(t, b, "document.querySelectorAll('#cells td.done').length === 13 && "+has("lines", "block"))
	do(t, b, "document.querySelector('[data-do=resume]').click()")
	sees(t, b, "!document.querySelector('[data-do=pause]').disabled")
	do(t, b, "window.confirm = () => true; document.querySelector('[data-do=stop]').click()")
	sees(t, b, has("said", "Stopping"))
	if !stopped.Load() {
		t.Error("the run was not stopped")
	}

	do(t, b, "$('tick-11').click(); $('tick-12').click(); $('compare').requestSubmit()")
	sees(t, b, has("comparison", "+3.0 % (+1.0 … +5.0)")+" && "+has("comparison", "8 files is in one of the runs only"))
	b.Quiet(t, s.URL())

	// What the last picture showed is stored; a new Filewise at the address shows it.
	d.State = string(store.Interrupted)
	s.Close()
	impostor(t, b, s)
	sees(t, b, "$('line').className === 'lost' && "+has("doing", "Filewise does not answer"))
	again, err := Listen(Config{Address: strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/"), Token: testToken,
		Archive: shelf{runs: []report.Data{before, d}}, Version: "test"})
	must(t, err)
	t.Cleanup(again.Close)
	sees(t, b, "$('line').innerText === 'Live' && "+has("run", "interrupted")+" && "+has("doing",
		"Nothing is being measured")+" && !$('login').hidden && sessionStorage.length === 0")
	sees(t, b, has("headline", "Recommended: 4 files")+" && "+has("loss", "Caution: p99 of 4 files is 4 times that of 1 file"))
}

// impostor listens where a server was: what an open page sends there opens nothing.
func impostor(t *testing.T, b *browsertest.Tab, was *Server) {
	t.Helper()
	l, err := net.Listen("tcp", was.listener.Addr().String())
	must(t, err)
	heard := make(chan http.Header, 100)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard <- r.Header
		http.Error(w, "", http.StatusServiceUnavailable)
	})}
	go func() { _ = server.Serve(l) }() // until Close
	select {
	case h := <-heard:
		given := strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
		if h.Get("Cookie") != "" || given == "" || given != was.guard.session {
			t.Errorf("the page sends %q and cookies %q", given, h.Get("Cookie"))
		}
	case <-time.After(time.Minute):
		t.Error("the page does not come back")
	}
	must(t, server.Close())
}

// At an address that others can reach, everything demands the token, and the page's links go on working with it.
func TestLinksElsewhere(t *testing.T) {
	d := finished(t)
	s, err := Listen(Config{Address: "0.0.0.0:0", Token: testToken, Archive: shelf{runs: []report.Data{first(t, d, 13)}}, Version: "test"})
	must(t, err)
	t.Cleanup(s.Close)
	b := browsertest.Open(t)
	page := strings.Replace(s.URL(), "localhost", "127.0.0.1", 1)
	browsertest.Run(t, b, chromedp.Navigate(page))
	sees(t, b, has("line", "The token is needed")+" && !$('login').hidden")
	do(t, b, "$('token').value = '"+testToken+"'; $('login').requestSubmit()")
	sees(t, b, "$('line').innerText === 'Live' && document.querySelectorAll('#history a').length === 1")
	do(t, b, "document.querySelector('#history a').click()")
	sees(t, b, "location.pathname === '/runs/12' && document.body.innerText.includes('4 files')")
	browsertest.Run(t, b, chromedp.Reload())
	sees(t, b, "document.body.innerText.includes('this needs the token')") // the ticket is spent
}

// The page lists the newest runs, and older ones on demand.
func TestOlderRuns(t *testing.T) {
	d := first(t, finished(t), 13)
	var all []report.Data
	for id := range int64(MostListed + 30) {
		d.RunID = id + 1
		all = append(all, d)
	}
	s, err := Listen(Config{Address: "127.0.0.1:0", Archive: shelf{runs: all}, Version: "test"})
	must(t, err)
	t.Cleanup(s.Close)
	b := browsertest.Open(t)
	browsertest.Run(t, b, chromedp.Navigate(s.URL()))
	const rows = "document.querySelectorAll('#history tbody tr').length"
	sees(t, b, rows+" === 100 && !$('older').hidden")
	do(t, b, "$('older').click()")
	sees(t, b, rows+" === 130 && $('older').hidden && document.querySelector('#history tbody tr:last-child a').innerText === 'Report 1'")
}
