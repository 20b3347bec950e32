package store

import (
	"math"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		highest int64
		digits  int
		ok      bool
	}{{7 * 24 * 3600 * 1e6, 3, true}, {1000, 5, false}, {math.MaxInt64, 3, false}} {
		text, err := hdrhistogram.New(1, c.highest, c.digits).Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkHistogramSize(text); (err == nil) != c.ok {
			t.Errorf("up to %d by %d digits: %v", c.highest, c.digits, err)
		}
	}
	for _, none := range []string{"", "none", "HISTFAAA"} {
		if err := checkHistogramSize([]byte(none)); err != nil {
			t.Errorf("%q: %v", none, err)
		}
	}
}
