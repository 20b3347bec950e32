package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestViolationsAreFound on a page that has some.
func TestViolationsAreFound(t *testing.T) {
	b := Open(t)
	Run(t, b, chromedp.Navigate("data:text/html,<html lang=en><title>x</title><main><h1>x</h1><img src=x></main>"))
	if found := violations(t, b); len(found) != 1 || !strings.HasPrefix(found[0], "image-alt: ") {
		t.Errorf("axe-core found %q", found)
	}
}
