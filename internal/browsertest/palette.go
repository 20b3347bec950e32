package browsertest

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// colours matches the definitions in a style sheet, such as "--text: #1c2430".
var colours = regexp.MustCompile(`--([a-z0-9-]+): #([0-9a-f]{6})`)

// Legible fails if a style sheet's colours contrast too little with one of their grounds, in the light or the dark
// theme: less than 4.5 for letters or 3 for shapes (WCAG 2.2, AA).
func Legible(t *testing.T, css string, letters, shapes, grounds []string) {
	t.Helper()
	light, dark, found := strings.Cut(css, "prefers-color-scheme: dark")
	if !found {
		t.Fatal("the style sheet has no dark colours")
	}
	for scheme, part := range map[string]string{"light": light, "dark": dark} {
		of := map[string]string{}
		for _, m := range colours.FindAllStringSubmatch(part, -1) {
			of[m[1]] = m[2]
		}
		for least, names := range map[float64][]string{4.5: letters, 3: shapes} {
			for _, name := range names {
				for _, ground := range grounds {
					if of[name] == "" || of[ground] == "" {
						t.Fatalf("%s: no colour %s or %s", scheme, name, ground)
					}
					if c := contrast(of[name], of[ground]); c < least {
						t.Errorf("%s: %s on %s has a contrast of %.2f, expected %g", scheme, name, ground, c, least)
					}
				}
			}
		}
	}
}

// contrast returns the contrast of two colours, from 1 to 21.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(hex string) float64 {
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		return math.NaN()
	}
	linear := func(c uint64) float64 {
		x := float64(c&0xff) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}
