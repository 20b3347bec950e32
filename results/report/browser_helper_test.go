package report_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"filewise/internal/browsertest"
	"filewise/results/report"
)

// show opens a run's report in a window of a width and a colour scheme.
func show(t *testing.T, b *browsertest.Tab, d report.Data, width int64, scheme string) {
	t.Helper()
	browsertest.Call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900,
		DeviceScaleFactor: 1, Mobile: width < 500})
	browsertest.Call(t, b, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	browsertest.Run(t, b, chromedp.Navigate(htmlFile(t, d)))
}

// unfold opens all that is folded away, as a reader does to see it all.
func unfold(t *testing.T, b *browsertest.Tab) {
	t.Helper()
	browsertest.Run(t, b, chromedp.Evaluate[bool]("document.querySelectorAll('details').forEach(d => d.open = true), true"))
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
