package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// Accessible fails with everything that axe-core finds on the present page, by WCAG 2.2 and by its own rules.
func Accessible(t *testing.T, b *Tab) {
	t.Helper()
	for _, v := range violations(t, b) {
		t.Error(v)
	}
}

func violations(t *testing.T, b *Tab) []string {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	axe, err := os.ReadFile(filepath.Join(cache, "filewise", "tools", "axe-core", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("axe-core did not see the page: %v; run scripts/get-npm axe-core", err)
		}
		t.Skipf("NO AXE: %v; run scripts/get-npm axe-core", err)
	}
	Run(t, b, chromedp.Evaluate[bool](string(axe)+"\n;true"))
	return Run(t, b, chromedp.Evaluate[[]string](`axe.run(document, {resultTypes: ["violations"]}).then(r =>
		r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + v.help + ": " + n.html.slice(0, 200) + " " + n.failureSummary)))`,
		chromedp.EvalAwaitPromise))
}
