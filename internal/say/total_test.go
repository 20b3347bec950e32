package say

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzTotal: every figure can be written, also one that was never measured.
func FuzzTotal(f *testing.F) {
	for _, n := range []int64{0, 1, -1, math.MinInt64, math.MinInt64 + 1, math.MaxInt64, 999_499, 59_949_999_999} {
		for _, x := range []float64{0, -0.5, 1e15, -1e15, 1e308, -1e308, 5e-324, math.NaN(), math.Inf(1), math.Inf(-1)} {
			f.Add(n, x, -x)
		}
	}
	f.Fuzz(func(t *testing.T, n int64, x, y float64) {
		d := time.Duration(n)
		written := []string{Human(d), Seconds(x), Size(n), Count(int(n), "row"), Percent(x), Signed(x), Bound(x), Ratio(x), Difference(x),
			Interval(x, y, -y), Limits(x, y, -y), Sig3(x), Share(x, y), Confidence(x), RateFor(x).Of(y), Bytes(x), factor(x)}
		for i, s := range written {
			if s == "" || len(s) > 1000 || !utf8.ValidString(s) || strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
				t.Errorf("%d: %q of %d, %g, %g", i, s, n, x, y)
			}
		}
		if d != 0 && d != math.MinInt64 && strings.TrimPrefix(Human(d), "−") != strings.TrimPrefix(Human(-d), "−") {
			t.Errorf("%v is written as %s, and %v as %s", d, Human(d), -d, Human(-d))
		}
	})
}
