package capture

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"filewise"
)

// stored returns in words a value of the statistics, from the bytes that the server stores ("Oracle Data Types",
// internal formats). It returns an empty text if there is no value, or its kind is not read.
func stored(kind filewise.ColumnType, digits string) string {
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) == 0 {
		return ""
	}
	switch kind {
	case filewise.TypeWhole, filewise.TypeNumber:
		return storedNumber(b)
	case filewise.TypeTime:
		if len(b) < 7 || b[0] < 101 { // before the common era
			return ""
		}
		return fmt.Sprintf("%02d%02d-%02d-%02d %02d:%02d:%02d", int(b[0])-100, int(b[1])-100, b[2], b[3], int(b[4])-1, int(b[5])-1, int(b[6])-1)
	case filewise.TypeText:
		if utf8.Valid(b) {
			return string(b)
		}
	}
	return ""
}

// storedNumber decodes a number: an exponent, then digits to the base of 100.
func storedNumber(b []byte) string {
	if len(b) == 1 && b[0] == 0x80 {
		return "0"
	}
	sign, exponent, digit := "", int(b[0])-193, func(x byte) int { return int(x) - 1 }
	rest := b[1:]
	if b[0] < 0x80 {
		sign, exponent, digit = "-", 62-int(b[0]), func(x byte) int { return 101 - int(x) }
		if n := len(rest); n > 0 && rest[n-1] == 102 { // 102 ends a negative number
			rest = rest[:n-1]
		}
	}
	var all strings.Builder
	for i := 0; i <= exponent || i < len(rest); i++ {
		if i == exponent+1 || i == 0 && exponent < 0 {
			if i == 0 {
				all.WriteString("0")
			}
			all.WriteString("." + strings.Repeat("00", max(-exponent-1, 0)))
		}
		d := 0
		if i < len(rest) {
			d = digit(rest[i])
		}
		if d < 0 || d > 99 || exponent > 20 || exponent < -20 {
			return ""
		}
		fmt.Fprintf(&all, "%02d", d)
	}
	out := all.String()
	if strings.Contains(out, ".") {
		out = strings.TrimRight(strings.TrimRight(out, "0"), ".")
	}
	if out = strings.TrimLeft(out, "0"); out == "" || out[0] == '.' {
		out = "0" + out
	}
	return sign + out
}
