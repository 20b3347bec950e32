package say

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Human writes a duration for people: "430 µs", "12 ms", "1.5 s", "2 min 5 s",
// "7 h", "1 d 3 h".
func Human(d time.Duration) string {
	if d < 0 {
		return "−" + Human(-max(d, -math.MaxInt64)) // the least integer has no opposite
	}
	switch {
	case d == 0:
		return "0 s"
	case d < time.Microsecond:
		return strconv.FormatInt(d.Nanoseconds(), 10) + " ns"
	case d < 999500*time.Nanosecond:
		return trimmed(Sig3(float64(d)/1e3)) + " µs"
	case d < 999500*time.Microsecond:
		return trimmed(Sig3(float64(d)/1e6)) + " ms"
	case d < 59950*time.Millisecond:
		return trimmed(strconv.FormatFloat(d.Seconds(), 'f', 1, 64)) + " s"
	case d < time.Hour-500*time.Millisecond:
		return pair(d.Round(time.Second), time.Minute, "min", time.Second, "s")
	case d < 24*time.Hour-30*time.Second:
		return pair(d.Round(time.Minute), time.Hour, "h", time.Minute, "min")
	}
	return pair(d.Round(time.Hour), 24*time.Hour, "d", time.Hour, "h")
}

// Seconds writes any number of seconds for people. NaN is Absent.
func Seconds(s float64) string {
	switch ns := s * float64(time.Second); {
	case math.IsNaN(s):
		return Absent
	case ns >= math.MaxInt64:
		return Human(math.MaxInt64)
	case ns <= -math.MaxInt64:
		return Human(-math.MaxInt64)
	default:
		return Human(time.Duration(ns))
	}
}

// trimmed drops zeros that end a decimal fraction.
func trimmed(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// Ended returns s with a full stop, unless s has an end mark or is empty.
func Ended(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?:") {
		return s
	}
	return s + "."
}

// Sentence returns s with a capital first letter.
func Sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

func pair(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	s := strconv.FormatInt(int64(d/big), 10) + " " + bigName
	if rest := d % big / small; rest > 0 {
		s += " " + strconv.FormatInt(int64(rest), 10) + " " + smallName
	}
	return s
}
