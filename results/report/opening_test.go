package report_test

import (
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"filewise/internal/browsertest"
)

var rounds = flag.Int("rounds", 1, "`times` that TestOpening opens its pages; from 15 on their median has to be within the target")

// maxOpenMillis is the most that the report of 5,000 trials may take to be opened.
const maxOpenMillis = 2000

// shown is the time from the start of a navigation until what it leads to has been
// laid out and painted, in milliseconds.
const shown = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))`

// TestOpening measures how long a browser takes to show a report of 5,000 trials, compared with an empty page; a
// first round, in which the browser itself warms up, does not count.
func TestOpening(t *testing.T) {
	d, err := bulkRun(5000)
	if err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.html")
	if err := os.WriteFile(empty, []byte("<!doctype html><meta charset=utf-8><title>empty</title><p>empty"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := browsertest.Open(t)
	for _, page := range []struct {
		name, url string
	}{{"the report", htmlFile(t, d)}, {"an empty page", (&url.URL{Scheme: "file", Path: empty}).String()}} {
		took := make([]float64, *rounds+1)
		for i := range took {
			browsertest.Run(t, b, chromedp.Navigate(page.url))
			took[i] = browsertest.Run(t, b, chromedp.Evaluate[float64](shown, chromedp.EvalAwaitPromise))
		}
		slices.Sort(took[1:])
		middle := took[1:][*rounds/2]
		t.Logf("%s is shown within %.0f ms (%.0f … %.0f)", page.name, middle, took[1], took[*rounds])
		if middle <= 0 || *rounds >= 15 && middle >= maxOpenMillis {
			t.Errorf("%s is shown after %.0f ms, want less than %d", page.name, middle, maxOpenMillis)
		}
	}
}
