// Package maintenance computes the hours in which a run may measure.
package maintenance

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
)

// Window is a recurring part of the day, in local wall-clock time: it keeps its hours when summer time begins or ends.
type Window struct {
	from, to int     // minutes since midnight; to may be below from: it ends on the next day
	days     [7]bool // on which it begins, by time.Weekday
	text     string
}

const form = "give it as 22:00-06:00, Sat 22:00-06:00 or Mon-Fri 22:00-06:00; 00:00-24:00 is a whole day"

var (
	windowForm = regexp.MustCompile(`^(?:([A-Za-z,-]+) +)?(\d\d?):(\d\d) *- *(\d\d?):(\d\d)$`)
	dayNames   = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
)

// Parse parses a window. Errors have CodeUsage.
func Parse(text string) (Window, error) {
	wrong := func(why string) (Window, error) {
		return Window{}, filewise.Errorf(filewise.CodeUsage, form, "maintenance window %q is invalid: %s", text, why)
	}
	m := windowForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return wrong("it is not FROM-TO")
	}
	w := Window{text: strings.TrimSpace(text)}
	var ok bool
	if w.from, ok = minutes(m[2], m[3]); !ok || w.from == 24*60 {
		return wrong("its beginning is no time of day")
	}
	if w.to, ok = minutes(m[4], m[5]); !ok {
		return wrong("its end is no time of day")
	}
	if w.from == w.to {
		return wrong("it ends when it begins")
	}
	if w.days, ok = daysOf(m[1]); !ok {
		return wrong("days are Mon, Tue, Wed, Thu, Fri, Sat and Sun")
	}
	return w, nil
}

func minutes(hour, minute string) (int, bool) {
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(minute)
	return h*60 + m, m < 60 && h*60+m <= 24*60
}

// daysOf parses "Sat", "Sat,Sun" or "Mon-Fri". An empty text means every day.
func daysOf(text string) (days [7]bool, ok bool) {
	if text == "" {
		return [7]bool{true, true, true, true, true, true, true}, true
	}
	for part := range strings.SplitSeq(strings.ToLower(text), ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		a, b := slices.Index(dayNames, first), slices.Index(dayNames, last)
		if a < 0 || b < 0 {
			return days, false
		}
		for d := a; ; d = (d + 1) % 7 {
			days[d] = true
			if d == b {
				break
			}
		}
	}
	return days, true
}

// String returns the window as it was given.
func (w Window) String() string { return w.text }

// on returns the beginning and the end of the window that begins on t's day. ok is false if none begins, or the clock
// is put forward over all of it.
func (w Window) on(t time.Time) (from, to time.Time, ok bool) {
	if !w.days[t.Weekday()] {
		return from, to, false
	}
	y, m, d := t.Date()
	end := d
	if w.to <= w.from {
		end++
	}
	from = time.Date(y, m, d, 0, w.from, 0, 0, t.Location())
	to = time.Date(y, m, end, 0, w.to, 0, 0, t.Location())
	return from, to, from.Before(to)
}

// Windows holds several windows. A run may measure in any of them.
type Windows []Window

// ParseAll parses several windows.
func ParseAll(texts []string) (Windows, error) {
	var all Windows
	for _, text := range texts {
		w, err := Parse(text)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

// String lists the windows.
func (ws Windows) String() string {
	return strings.Join(filewise.Each(ws, func(w Window) string { return w.text }), ", ")
}

// At reports whether t is in a window, and until when measuring may go on without a break. It looks at most ten days
// ahead, since windows may follow each other without end.
func (ws Windows) At(t time.Time) (until time.Time, open bool) {
	for until = t; until.Before(t.AddDate(0, 0, 10)); {
		further := ws.end(until)
		if !further.After(until) {
			break
		}
		until, open = further, true
	}
	return until, open
}

// end returns the latest end of the windows that hold t, or t if none does.
func (ws Windows) end(t time.Time) time.Time {
	last := t
	for _, w := range ws {
		for _, day := range []time.Time{noon(t, -1), noon(t, 0)} {
			if from, to, ok := w.on(day); ok && !t.Before(from) && to.After(last) {
				last = to
			}
		}
	}
	return last
}

// Next returns the beginning of the first window after t, or the zero time if none begins within nine days. For windows
// from Parse, that happens only if summer time skips the window's hour.
func (ws Windows) Next(t time.Time) time.Time {
	var next time.Time
	for _, w := range ws {
		for d := range 9 {
			from, _, ok := w.on(noon(t, d))
			if ok && from.After(t) && (next.IsZero() || from.Before(next)) {
				next = from
			}
		}
	}
	return next
}

// noon returns the middle of the day that is so many days after t's. Every day has that hour.
func noon(t time.Time, days int) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d+days, 12, 0, 0, 0, t.Location())
}

// Longest returns the length of the longest time in windows without a break, from t on.
func (ws Windows) Longest(t time.Time) time.Duration {
	var longest time.Duration
	for range 7 * len(ws) {
		from := ws.Next(t)
		if from.IsZero() {
			break
		}
		until, _ := ws.At(from)
		longest = max(longest, until.Sub(from))
		t = from
	}
	return longest
}
