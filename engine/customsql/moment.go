package customsql

import (
	"strings"
	"time"
)

// moments lists the formats of times in logs, without names of time zones, as a log has only one.
var moments = []string{"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "060102 15:04:05", "060102  3:04:05"}

// Moment parses a time. It returns the zero time if the format is not known.
func Moment(text string) time.Time {
	const second = len("2006-01-02 15:04:05")
	if len(text) >= second && text[4] == '-' && (text[10] == ' ' || text[10] == 'T') { // no other format fits such a text
		clock, zone, _ := strings.Cut(text[11:], " ")
		if text[10] == ' ' && (zone == "" || !strings.Contains(zone, " ")) {
			clock += "Z"
		}
		if t, err := time.Parse(time.RFC3339Nano, text[:10]+"T"+clock); err == nil {
			return t
		}
	}
	if words := strings.Fields(text); len(words) == 3 && len(words[0]) == len("2006-01-02") { // followed by the name of a zone
		text = words[0] + " " + words[1]
	}
	for _, form := range moments {
		if t, err := time.Parse(form, text); err == nil {
			return t
		}
	}
	return time.Time{}
}
