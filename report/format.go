package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"filewise/verdict"
	"filewise/verdict/stats"
)

// absent stands where nothing was measured.
const absent = "–"

// factorFrom is the effect (log scale) from which a difference reads better as
// a factor than as a percentage: twice the throughput.
const factorFrom = math.Ln2

// nan is what is not known.
var nan = math.NaN()

func known(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// minus replaces the hyphen of a formatted number by a minus sign.
func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// percent writes an effect on the log scale: "+6.1 %", "0.0 %".
func percent(effect float64) string {
	if !known(effect) {
		return absent
	}
	return signed(verdict.Percent(effect)) + " %"
}

// signed writes a number with its sign and one decimal; what rounds to zero has
// no sign.
func signed(x float64) string {
	s := strconv.FormatFloat(x, 'f', 1, 64)
	switch {
	case s == "0.0" || s == "-0.0":
		return "0.0"
	case x > 0:
		return "+" + grouped(s)
	}
	return minus("-" + grouped(s[1:]))
}

// bound writes an upper limit without a sign, rounded up so that it stays one:
// "1.6 %", "factor 2.7".
func bound(effect float64) string {
	if !known(effect) {
		return absent
	}
	if effect <= 0 {
		return "none"
	}
	if percent := math.Ceil(10*verdict.Percent(effect)-1e-9) / 10; percent < 100 {
		return strings.TrimLeft(signed(percent), "+−") + " %"
	}
	return "factor " + ratioUp(math.Exp(effect))
}

// ratioUp writes a ratio rounded up to one decimal, or to three digits.
func ratioUp(x float64) string {
	if x < 1000 {
		return strconv.FormatFloat(math.Ceil(10*x-1e-9)/10, 'f', -1, 64)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return grouped(strconv.FormatFloat(math.Ceil(x/unit-1e-9)*unit, 'f', 0, 64))
}

// factor writes an effect on the log scale as a ratio: "20.8 times".
func factor(effect float64) string { return ratio(effect) + " times" }

func ratio(effect float64) string {
	switch x := math.Exp(effect); {
	case x >= 1000:
		return sig3(x)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	default:
		return strconv.FormatFloat(x, 'g', 3, 64) // as in the sentences of the verdict
	}
}

// difference writes an effect on the log scale in its best form.
func difference(effect float64) string {
	if known(effect) && effect >= factorFrom {
		return factor(effect)
	}
	return percent(effect)
}

// interval writes an estimate with its limits, all in the form of the estimate:
// "+6.1 % (+4.9 … +7.4)", "20.8 times (18.0 … 24.1)".
func interval(effect, lo, hi float64) string {
	if !known(effect) || !known(lo) || !known(hi) {
		return difference(effect)
	}
	if unresolvable(lo, hi) {
		return notResolvable
	}
	return difference(effect) + " " + limits(effect, lo, hi)
}

// notResolvable stands for intervals from a fraction to a multiple that say
// nothing any more.
const notResolvable = "not resolvable here (factor > 100)"

// unresolvable tells whether an interval holds no difference as well as one by
// more than a factor of 100: its limits are then numbers without a meaning.
func unresolvable(lo, hi float64) bool {
	const most = 4.605170185988092 // ln 100
	return lo <= 0 && hi >= 0 && (lo < -most || hi > most)
}

// limits writes the interval alone, in the form that the estimate has.
func limits(effect, lo, hi float64) string {
	form := func(x float64) string { return signed(verdict.Percent(x)) }
	if effect >= factorFrom {
		form = ratio
	}
	return "(" + form(lo) + " … " + form(hi) + ")"
}

// sig3 writes a positive quantity with three significant digits and thousands
// separators: 20,100; 961; 2.41; 0.0123.
func sig3(x float64) string {
	if !known(x) {
		return absent
	}
	if x == 0 {
		return "0"
	}
	exp := int(math.Floor(math.Log10(math.Abs(x))))
	if scale := math.Pow(10, float64(exp-2)); math.Round(math.Abs(x)/scale) >= 1000 {
		exp++ // 999.7 rounds up to the next power
	}
	if exp >= 2 {
		scale := math.Pow(10, float64(exp-2))
		return minus(grouped(strconv.FormatFloat(math.Round(x/scale)*scale, 'f', 0, 64)))
	}
	return minus(strconv.FormatFloat(x, 'f', 2-exp, 64))
}

// grouped puts thousands separators into the digits before the point.
func grouped(s string) string {
	sign, whole, rest := "", s, ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	if i := strings.IndexByte(whole, '.'); i >= 0 {
		whole, rest = whole[:i], whole[i:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + rest
}

// size writes a number of bytes of a file or of memory, in powers of 1024.
func size(n int64) string {
	if n < 0 {
		return absent
	}
	return humanize.IBytes(uint64(n))
}

// share writes a part of a whole: "62 %".
func share(part, whole float64) string {
	if !(whole > 0) {
		return absent
	}
	x := 100 * part / whole
	if x > 0 && x < 1 {
		return "<1 %"
	}
	return strconv.FormatFloat(x, 'f', 0, 64) + " %"
}

// confidence writes 0.95 as "95 %" and 0.995 as "99.5 %".
func confidence(x float64) string {
	return strconv.FormatFloat(math.Round(1e4*x)/100, 'f', -1, 64) + " %"
}

// count writes "1 trial", "5 trials", "1,234 rows".
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(strconv.Itoa(n)) + " " + one + "s"
}

// rate is a unit for bytes per second.
type rate struct {
	Name  string
	Scale float64
}

// rateFor is the unit in which x bytes a second reads well.
func rateFor(x float64) rate {
	switch {
	case x >= 1e9:
		return rate{"GB/s", 1e9}
	case x > 0 && x < 1e5:
		return rate{"kB/s", 1e3}
	}
	return rate{"MB/s", 1e6}
}

// Of writes x bytes a second in the unit.
func (r rate) Of(x float64) string {
	if !known(x) {
		return absent
	}
	return sig3(x / r.Scale)
}

// median of the values; NaN when there is none.
func median(xs []float64) float64 { return quantile(xs, 0.5) }

// quantile interpolates linearly between the order statistics (Hyndman & Fan,
// type 7); NaN when there is no value.
func quantile(xs []float64, p float64) float64 {
	s := slices.Clone(xs)
	slices.Sort(s)
	return stats.Quantile(s, p)
}
