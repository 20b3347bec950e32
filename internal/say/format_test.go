package say

import (
	"math"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	log := func(percent float64) float64 { return math.Log1p(percent / 100) }
	nan := math.NaN()
	for _, c := range []struct{ got, want string }{
		{Interval(log(6.1), log(4.9), log(7.4)), "+6.1 % (+4.9 … +7.4)"},
		{Interval(log(-0.4), log(-3), log(2.2)), "−0.4 % (−3.0 … +2.2)"},
		{Interval(math.Log(20.8), math.Log(18), math.Log(24.1)), "20.8 times (18.0 … 24.1)"},
		{Interval(math.Log(20.8), nan, nan), "20.8 times"},
		{Interval(nan, nan, nan), Absent},
		{Interval(log(1), nan, log(2)), "+1.0 %"},
		{Difference(log(99)), "+99.0 %"},
		{Difference(math.Log(2)), "2 times"},
		{Difference(math.Log(12345)), "12,300 times"},
		{Percent(0), "0.0 %"},
		{Percent(log(0.04)), "0.0 %"},
		{Percent(log(-0.04)), "0.0 %"},
		{Percent(log(-95)), "−95.0 %"},
		{Percent(math.Inf(1)), Absent},
		{Bound(log(1.51)), "1.6 %"},
		{Bound(0), "none"},
		{Bound(math.Log(3.91)), "factor 4"},
		{Bound(log(162.5)), "factor 2.7"},
		{Bound(log(99.95)), "factor 2"},
		{Bound(log(99.9)), "99.9 %"},
		{Bound(math.Log(99.94)), "factor 100"},
		{Bound(math.Log(12345)), NotResolvable},
		{Interval(math.Log(2.98), math.Log(1.52), math.Log(5.86)), "2.98 times (1.52 … 5.86)"},
		{Bound(nan), Absent},
		{Sig3(20090), "20,100"},
		{Sig3(1234567), "1,230,000"},
		{Sig3(999.7), "1,000"},
		{Sig3(961), "961"},
		{Sig3(99.96), "100"},
		{Sig3(2.414), "2.41"},
		{Sig3(0.01234), "0.0123"},
		{Sig3(0), "0"},
		{Sig3(-1500), "−1,500"},
		{Sig3(nan), Absent},
		{Human(0), "0 s"},
		{Human(430 * time.Microsecond), "430 µs"},
		{Human(12 * time.Millisecond), "12 ms"},
		{Human(999_900 * time.Microsecond), "1 s"},
		{Human(1500 * time.Millisecond), "1.5 s"},
		{Human(59_960 * time.Millisecond), "1 min"},
		{Human(125 * time.Second), "2 min 5 s"},
		{Human(7 * time.Hour), "7 h"},
		{Human(27 * time.Hour), "1 d 3 h"},
		{Human(-time.Second), "−1 s"},
		{Share(62, 100), "62 %"},
		{Share(0.2, 100), "<1 %"},
		{Share(0, 100), "0 %"},
		{Share(1, 0), Absent},
		{Confidence(0.95), "95 %"},
		{Confidence(0.995), "99.5 %"},
		{Size(64 << 20), "64 MiB"},
		{Size(-1), Absent},
		{Count(1, "trial"), "1 trial"},
		{Count(1234, "trial"), "1,234 trials"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
