// Package say writes figures for people: numbers, sizes, times, differences with their intervals,
// and lists of words. What is not known is Absent, never zero.
package say

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Absent is written if nothing was measured.
const Absent = "–"

// FactorFrom is the effect, on the log scale, from which a difference reads better as a factor than as a percentage:
// twice the throughput.
const FactorFrom = math.Ln2

func Known(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// minus replaces the hyphens in a formatted number by minus signs.
func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// asPercent returns an effect on the log scale in percent.
func asPercent(effect float64) float64 { return 100 * math.Expm1(effect) }

// Percent writes an effect on the log scale: "+6.1 %", "0.0 %".
func Percent(effect float64) string {
	if !Known(effect) {
		return Absent
	}
	return Signed(asPercent(effect)) + " %"
}

// Signed writes a number with its sign and one decimal. If it rounds to zero, it has no sign.
func Signed(x float64) string {
	if !Known(x) {
		return Absent
	}
	s := strconv.FormatFloat(x, 'f', 1, 64)
	switch {
	case s == "0.0" || s == "-0.0":
		return "0.0"
	case x > 0:
		return "+" + Grouped(s)
	}
	return minus("-" + Grouped(s[1:]))
}

// Bound writes an upper limit without a sign, rounded up so that it stays a limit: "1.6 %", "factor 2.7". A limit above
// a factor of 100 has no meaning any more.
func Bound(effect float64) string {
	if !Known(effect) {
		return Absent
	}
	if effect <= 0 {
		return "none"
	}
	if percent := math.Ceil(10*asPercent(effect)-1e-9) / 10; percent < 100 {
		return strings.TrimLeft(Signed(percent), "+−") + " %"
	}
	if Unresolvable(0, effect) {
		return NotResolvable
	}
	return "factor " + strconv.FormatFloat(math.Ceil(10*math.Exp(effect)-1e-9)/10, 'f', -1, 64)
}

// factor writes an effect on the log scale as a ratio: "20.8 times".
func factor(effect float64) string { return Ratio(effect) + " times" }

func Ratio(effect float64) string {
	if !Known(effect) {
		return Absent
	}
	switch x := math.Exp(effect); {
	case x >= 1000:
		return Sig3(x)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	default:
		return strconv.FormatFloat(x, 'g', 3, 64) // as in the sentences of the verdict
	}
}

// Difference writes an effect on the log scale in its best form.
func Difference(effect float64) string {
	if Known(effect) && effect >= FactorFrom {
		return factor(effect)
	}
	return Percent(effect)
}

// Interval writes an estimate with its limits, all in the form of the estimate:
// "+6.1 % (+4.9 … +7.4)", "20.8 times (18.0 … 24.1)".
func Interval(effect, lo, hi float64) string {
	if !Known(effect) || !Known(lo) || !Known(hi) {
		return Difference(effect)
	}
	if Unresolvable(lo, hi) {
		return NotResolvable
	}
	return Difference(effect) + " " + Limits(effect, lo, hi)
}

// NotResolvable is written for intervals that reach from a fraction to a multiple, and so have no meaning any more.
const NotResolvable = "not resolvable here (factor > 100)"

// Unresolvable reports whether an interval includes both no difference and one by more than a factor of 100. Its limits
// are then meaningless.
func Unresolvable(lo, hi float64) bool {
	const most = 4.605170185988092 // ln 100
	return lo <= 0 && hi >= 0 && (lo < -most || hi > most)
}

// Limits writes the interval alone, in the form of its estimate.
func Limits(effect, lo, hi float64) string {
	form := func(x float64) string { return Signed(asPercent(x)) }
	if effect >= FactorFrom {
		form = Ratio
	}
	return "(" + form(lo) + " … " + form(hi) + ")"
}

// Sig3 writes a positive quantity with three significant digits and thousands
// separators: 20,100; 961; 2.41; 0.0123.
func Sig3(x float64) string {
	if !Known(x) {
		return Absent
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
		return minus(Grouped(strconv.FormatFloat(math.Round(x/scale)*scale, 'f', 0, 64)))
	}
	return minus(strconv.FormatFloat(x, 'f', 2-exp, 64))
}

// Grouped puts thousands separators into the digits before the point.
func Grouped(s string) string {
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

// Size writes a number of bytes of a file or of memory, in powers of 1024.
func Size(n int64) string {
	if n < 0 {
		return Absent
	}
	return humanize.IBytes(uint64(n))
}

// Share writes a part of a whole: "62 %".
func Share(part, whole float64) string {
	if !(whole > 0) || !Known(100*part/whole) {
		return Absent
	}
	x := 100 * part / whole
	if x > 0 && x < 1 {
		return "<1 %"
	}
	return strconv.FormatFloat(x, 'f', 0, 64) + " %"
}

// Confidence writes 0.95 as "95 %" and 0.995 as "99.5 %".
func Confidence(x float64) string {
	if !Known(1e4 * x) {
		return Absent
	}
	return strconv.FormatFloat(math.Round(1e4*x)/100, 'f', -1, 64) + " %"
}

// Count writes "1 trial", "5 trials", "1,234 rows".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(strconv.Itoa(n)) + " " + one + "s"
}

// Rate is a unit for bytes per second.
type Rate struct {
	Name  string
	Scale float64
}

// RateFor returns the unit in which x bytes per second reads well.
func RateFor(x float64) Rate {
	switch {
	case x >= 1e9:
		return Rate{"GB/s", 1e9}
	case x > 0 && x < 1e5:
		return Rate{"kB/s", 1e3}
	}
	return Rate{"MB/s", 1e6}
}

// Of writes x bytes per second in the unit.
func (r Rate) Of(x float64) string {
	if !Known(x) {
		return Absent
	}
	return Sig3(x / r.Scale)
}

// Enumerate joins words: "a, b and c".
func Enumerate(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Joined joins the parts that are not empty.
func Joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// InBrackets returns " (text)", to append to something, or an empty text for an empty one.
func InBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// Bytes writes an amount of bytes.
func Bytes(x float64) string {
	if !Known(x) {
		return Absent
	}
	for _, u := range []Rate{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if x >= u.Scale {
			return Sig3(x/u.Scale) + " " + u.Name
		}
	}
	return Sig3(x) + " B"
}
