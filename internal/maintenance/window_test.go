package maintenance

import (
	"strings"
	"testing"
	"time"

	"filewise"
)

func at(t *testing.T, zone, text string) time.Time {
	t.Helper()
	l, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	x, err := time.ParseInLocation("2006-01-02 15:04", text, l)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// 2026-11-21 is a Saturday; in Berlin the clock goes from 02:00 to 03:00 on
// 2026-03-29 and from 03:00 to 02:00 on 2026-10-25, both Sundays.
func TestWindows(t *testing.T) {
	for _, c := range []struct {
		windows, now string
		until, next  string // until "": closed
	}{
		{"22:00-06:00", "2026-11-21 23:00", "2026-11-22 06:00", "2026-11-22 22:00"},
		{"22:00-06:00", "2026-11-22 05:59", "2026-11-22 06:00", "2026-11-22 22:00"},
		{"22:00-06:00", "2026-11-22 06:00", "", "2026-11-22 22:00"},
		{"22:00-06:00", "2026-11-22 22:00", "2026-11-23 06:00", "2026-11-23 22:00"},
		{"9:30-17:00", "2026-11-21 12:00", "2026-11-21 17:00", "2026-11-22 09:30"},
		{"Sat 22:00-06:00", "2026-11-22 05:00", "2026-11-22 06:00", "2026-11-28 22:00"},
		{"Sat 22:00-06:00", "2026-11-22 23:00", "", "2026-11-28 22:00"},
		{"Mon-Fri 20:00-24:00", "2026-11-21 21:00", "", "2026-11-23 20:00"},
		{"Fri-Mon 20:00-24:00", "2026-11-21 21:00", "2026-11-22 00:00", "2026-11-22 20:00"},
		{"sat,sun 00:00-24:00", "2026-11-21 21:00", "2026-11-23 00:00", "2026-11-22 00:00"},
		{"Fri 20:00-24:00;Sat 00:00-04:00", "2026-11-20 21:00", "2026-11-21 04:00", "2026-11-21 00:00"},
		{"22:00-06:00;05:00-08:00", "2026-11-21 23:00", "2026-11-22 08:00", "2026-11-22 05:00"},
		// Wall clock: the night of summer time has seven hours, the night of winter time nine.
		{"22:00-06:00", "2026-03-28 23:00", "2026-03-29 06:00", "2026-03-29 22:00"},
		{"22:00-06:00", "2026-10-24 23:00", "2026-10-25 06:00", "2026-10-25 22:00"},
		{"02:10-02:50", "2026-03-28 12:00", "", "2026-03-29 03:10"},
		{"01:00-02:30", "2026-10-25 01:30", "2026-10-25 02:30", "2026-10-26 01:00"},
	} {
		ws, err := ParseAll(strings.Split(c.windows, ";"))
		if err != nil {
			t.Fatal(err)
		}
		now := at(t, "Europe/Berlin", c.now)
		until, open := ws.At(now)
		if open != (c.until != "") || open && !until.Equal(at(t, "Europe/Berlin", c.until)) {
			t.Errorf("%s at %s: open %v until %v", c.windows, c.now, open, until)
		}
		if next := ws.Next(now); !next.Equal(at(t, "Europe/Berlin", c.next)) {
			t.Errorf("%s at %s: next %v", c.windows, c.now, next)
		}
	}
}

// Every minute of a year: windows are open for their length, and Next is always the moment at which one opens.
func TestYear(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"} {
		for _, text := range []string{"22:00-06:00", "01:30-03:30", "Sun 00:00-24:00"} {
			ws, err := ParseAll([]string{text})
			if err != nil {
				t.Fatal(err)
			}
			wasOpen := false
			var promised time.Time
			for now := at(t, zone, "2026-01-01 12:00"); now.Year() == 2026; now = now.Add(10 * time.Minute) {
				until, open := ws.At(now)
				if open && !until.After(now) {
					t.Fatalf("%s %s at %v: open until %v", zone, text, now, until)
				}
				if open && !wasOpen && !promised.IsZero() && !promised.Equal(now) {
					t.Errorf("%s %s: opened at %v, promised for %v", zone, text, now, promised)
				}
				if wasOpen = open; !open {
					promised = ws.Next(now)
				}
			}
		}
	}
}

func TestLongest(t *testing.T) {
	ws, _ := ParseAll([]string{"22:00-06:00", "Sat 20:00-22:00"})
	if got := ws.Longest(at(t, "UTC", "2026-11-21 23:00")); got != 10*time.Hour {
		t.Error(got)
	}
}

func TestRefused(t *testing.T) {
	for _, text := range []string{"", "22:00", "22-06", "25:00-06:00", "22:60-06:00", "22:00-24:01", "24:00-06:00", "22:00-22:00",
		"Sut 22:00-06:00",
		"Mon-Fro 22:00-06:00", "Mon, 22:00-06:00", "22:00-06:00 Sat", "−22:00-06:00", "Mon-Tue-Wed 1:00-2:00"} {
		if _, err := Parse(text); filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Mon-Fri 22:00-06:00", int64(1795305600))
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		w, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(w.String())
		if err != nil || again != w {
			t.Fatalf("%q reads as %+v, then %+v: %v", text, w, again, err)
		}
		now := time.Unix(unix%(1<<34), 0).UTC()
		ws := Windows{w}
		next := ws.Next(now)
		if until, open := ws.At(next); !next.After(now) || !open || !until.After(next) {
			t.Fatalf("%q: the window after %v begins at %v and is open %v until %v", text, now, next, open, until)
		}
	})
}
