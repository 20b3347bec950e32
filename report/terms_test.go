package report

import "testing"

// TestTermsAreThoseOfTheDocumentation: what stands alone on a page, as heads of columns and
// marks do, is said in a tip, and all that is said stands in docs/terminology.md.
func TestTermsAreThoseOfTheDocumentation(t *testing.T) {
	known, said := map[string]bool{}, tips()
	for _, f := range terms() {
		known[f.Name] = true
	}
	for _, word := range general {
		if !known[word] {
			t.Errorf("docs/terminology.md has no %q", word)
		}
	}
	for _, word := range []string{"layout", "p99", "worst-case loss", "geometric means", "down-weighted", "slowest trial", "best", "better",
		"worse", "not the best", "undecided", "within the margin", "baseline", "no data", "family", "block", "lock", "log", "latch"} {
		if said[word] == "" {
			t.Errorf("nothing says what %q means", word)
		}
	}
}
