package chart

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"filewise/internal/browsertest"
)

// TestColoursAreSeen on white and on the dark ground of a page, and of a browser's own.
func TestColoursAreSeen(t *testing.T) {
	var all strings.Builder
	for name, colour := range colours {
		fmt.Fprintf(&all, "--%s: %s;", name, colour)
	}
	css := "--page: #ffffff;--panel: #f1f4f8;" + all.String() + "prefers-color-scheme: dark --page: #12161c;--panel: #191f27;" + all.String()
	browsertest.Legible(t, css, nil, slices.Collect(maps.Keys(colours)), []string{"page", "panel"})
}

// TestPaintNamesAnAttributeOnce: of classes that both set one, the later does.
func TestPaintNamesAnAttributeOnce(t *testing.T) {
	for _, c := range []struct{ element, classes, want string }{
		{"rect", "used over", ` fill="#c8590a"`},
		{"line", "interval hollow", ` stroke-width="7" stroke-linecap="round" stroke-opacity=".4" stroke="#1f77d4"`},
		{"circle", "estimate c-worse", ` fill="#c8590a"`},
		{"use", "l3 dot", ` fill="#8f67c2"`},
		{"line", "grid", ` stroke="currentColor" stroke-opacity=".12"`},
	} {
		if got := paint(c.element, c.classes); got != c.want {
			t.Errorf("%s of class %q is painted %s, want %s", c.element, c.classes, got, c.want)
		}
	}
}

// TestLogScalesHaveTicks: three at least, whatever they span.
func TestLogScalesHaveTicks(t *testing.T) {
	for _, span := range [][2]float64{{0.98, 1.8}, {0.9, 15}, {1e-4, 1}, {0.09, 0.4}, {1.1, 1.9}, {1e-6, 20}} {
		if got := logTicks(span[0], span[1], 5); len(got) < 3 || len(got) > 6 {
			t.Errorf("from %g to %g there are the ticks %v", span[0], span[1], got)
		}
	}
}
