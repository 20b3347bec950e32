package verdict

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits, in percent, beyond which an effect is phrased as a ratio. From +100 % on "20.8 times" reads better; below
// −99.9 % a percentage would round to −100.
const (
	timesAbove = 100.0
	timesBelow = -99.9
)

// change phrases an effect: "+6.1 %", "−0.04 %", "20.8 times".
func change(logEffect float64) string {
	if inTimes(logEffect) {
		return times(logEffect) + " times"
	}
	return signed(Percent(logEffect)) + " %"
}

func inTimes(logEffect float64) bool {
	p := Percent(logEffect)
	return p >= timesAbove || p < timesBelow
}

// interval phrases the limits in the same form as their estimate: "+4.9 … +7.4", "18.2 … 23.9 times".
func interval(e Estimate) string {
	if inTimes(e.Effect) {
		return times(e.Lo) + " … " + times(e.Hi) + " times"
	}
	return signed(Percent(e.Lo)) + " … " + signed(Percent(e.Hi))
}

// times returns a ratio with three significant digits, or with one decimal from 10 on.
func times(logEffect float64) string {
	ratio := math.Exp(logEffect)
	if ratio >= 10 && ratio < 1e6 {
		return strconv.FormatFloat(ratio, 'f', 1, 64)
	}
	return strconv.FormatFloat(ratio, 'g', 3, 64)
}

// signed returns a percentage with one decimal and a true minus sign. A value that would round to zero but is not zero
// keeps one digit, so that its sign can be seen.
func signed(percent float64) string {
	s := fmt.Sprintf("%+.1f", percent)
	if strings.Trim(s, "+-0.") == "" {
		switch {
		case percent == 0:
			s = "0.0"
		case math.Abs(percent) < 1e-4:
			s = fmt.Sprintf("%+.0e", percent)
		default:
			s = strconv.FormatFloat(percent, 'g', 1, 64)
			if percent > 0 {
				s = "+" + s
			}
		}
	}
	return strings.Replace(s, "-", "−", 1)
}

// bound phrases an upper limit, rounded up so that it remains a limit: "1.6 %". From a factor of 2 on it returns the
// factor, such as "2.7".
func bound(logEffect float64) (text string, isFactor bool) {
	if percent := max(0, math.Ceil(10*Percent(logEffect)-1e-9)/10); percent < timesAbove {
		return size(percent), false
	}
	ratio, unit := math.Exp(logEffect), 0.1
	if ratio >= 1000 { // three significant digits are enough
		unit = math.Pow(10, math.Floor(math.Log10(ratio))-2)
	}
	n := math.Ceil(ratio/unit - 1e-9)
	if unit < 1 {
		return strconv.FormatFloat(n/10, 'f', -1, 64), true
	}
	return strconv.FormatFloat(n*unit, 'f', -1, 64), true
}

// margin phrases a size on the log scale: "2 %", "0.5 %".
func margin(logEffect float64) string { return size(math.Round(100*Percent(logEffect)) / 100) }

// size phrases a percentage without a sign.
func size(percent float64) string {
	if percent >= 1e6 {
		return strconv.FormatFloat(percent, 'g', 3, 64) + " %"
	}
	return strconv.FormatFloat(percent, 'f', -1, 64) + " %"
}

// level phrases a confidence: "95 %", "98.33 %". A confidence near 100 % is not rounded to 100 %.
func level(confidence float64) string {
	digits := 1e2
	if confidence > 0.9999 {
		digits = 1e4
	}
	return strconv.FormatFloat(math.Round(100*confidence*digits)/digits, 'f', -1, 64) + " %"
}

// duration phrases seconds roughly: "40 s", "35 min", "7 h", "3 days".
func duration(seconds float64) string {
	switch {
	case seconds < 90:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 90*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	case seconds < 48*3600:
		return fmt.Sprintf("%.0f h", seconds/3600)
	}
	return fmt.Sprintf("%.0f days", seconds/86400)
}

// plural returns a number with its noun: "1 block", "7 blocks".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
