package report

import (
	"math"
	"testing"
	"time"

	"filewise/inspect"
)

func TestNumbers(t *testing.T) {
	log := func(percent float64) float64 { return math.Log1p(percent / 100) }
	nan := math.NaN()
	for _, c := range []struct{ got, want string }{
		{interval(log(6.1), log(4.9), log(7.4)), "+6.1 % (+4.9 … +7.4)"},
		{interval(log(-0.4), log(-3), log(2.2)), "−0.4 % (−3.0 … +2.2)"},
		{interval(math.Log(20.8), math.Log(18), math.Log(24.1)), "20.8 times (18.0 … 24.1)"},
		{interval(math.Log(20.8), nan, nan), "20.8 times"},
		{interval(nan, nan, nan), absent},
		{interval(log(1), nan, log(2)), "+1.0 %"},
		{difference(log(99)), "+99.0 %"},
		{difference(math.Log(2)), "2 times"},
		{difference(math.Log(12345)), "12,300 times"},
		{percent(0), "0.0 %"},
		{percent(log(0.04)), "0.0 %"},
		{percent(log(-0.04)), "0.0 %"},
		{percent(log(-95)), "−95.0 %"},
		{percent(math.Inf(1)), absent},
		{bound(log(1.51)), "1.6 %"},
		{bound(0), "none"},
		{bound(math.Log(3.91)), "factor 4"},
		{bound(log(162.5)), "factor 2.7"},
		{bound(log(99.95)), "factor 2"},
		{bound(log(99.9)), "99.9 %"},
		{bound(math.Log(12345)), "factor 12,400"},
		{interval(math.Log(2.98), math.Log(1.52), math.Log(5.86)), "2.98 times (1.52 … 5.86)"},
		{bound(nan), absent},
		{sig3(20090), "20,100"},
		{sig3(1234567), "1,230,000"},
		{sig3(999.7), "1,000"},
		{sig3(961), "961"},
		{sig3(99.96), "100"},
		{sig3(2.414), "2.41"},
		{sig3(0.01234), "0.0123"},
		{sig3(0), "0"},
		{sig3(-1500), "−1,500"},
		{sig3(nan), absent},
		{human(0), "0 s"},
		{human(430 * time.Microsecond), "430 µs"},
		{human(12 * time.Millisecond), "12 ms"},
		{human(999_900 * time.Microsecond), "1 s"},
		{human(1500 * time.Millisecond), "1.5 s"},
		{human(59_960 * time.Millisecond), "1 min"},
		{human(125 * time.Second), "2 min 5 s"},
		{human(7 * time.Hour), "7 h"},
		{human(27 * time.Hour), "1 d 3 h"},
		{human(-time.Second), "−1 s"},
		{share(62, 100), "62 %"},
		{share(0.2, 100), "<1 %"},
		{share(0, 100), "0 %"},
		{share(1, 0), absent},
		{confidence(0.95), "95 %"},
		{confidence(0.995), "99.5 %"},
		{size(64 << 20), "64 MiB"},
		{size(-1), absent},
		{count(1, "trial"), "1 trial"},
		{count(1234, "trial"), "1,234 trials"},
		{inspect.Shell([]string{"filewise", "run", "--volume", "a=/my disk/it's", "", "--seed", "7"}),
			`filewise run --volume 'a=/my disk/it'\''s' '' --seed 7`},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	xs := []float64{4, 1, 3, 2}
	for p, want := range map[float64]float64{0: 1, 0.5: 2.5, 1: 4, 0.25: 1.75} {
		if got := quantile(xs, p); got != want {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
	if !math.IsNaN(quantile(nil, 0.5)) {
		t.Error("the median of nothing is not absent")
	}
}
