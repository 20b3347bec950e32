package storage

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"

	"github.com/dustin/go-humanize"

	"filewise/lab/probe"
)

// Pattern is a way of accessing files.
type Pattern string

// The patterns that are measured. Sequential patterns use large requests; random patterns use the engine's page size.
const (
	SequentialRead  Pattern = "sequential read"
	SequentialWrite Pattern = "sequential write"
	RandomRead      Pattern = "random read"
	RandomWrite     Pattern = "random write"
)

var patterns = []Pattern{SequentialWrite, SequentialRead, RandomWrite, RandomRead}

// Limit is the measured limit of a volume's storage.
type Limit struct {
	Volume   string    `json:"volume"`
	Device   string    `json:"device"` // as in /proc/diskstats. Empty means it has no device of its own
	Place    string    `json:"place"`  // identifies the file system, to find the limit again
	Page     int64     `json:"page"`   // size of a random request in bytes
	Files    int       `json:"files"`  // largest number of files tried
	Measured time.Time `json:"measured"`
	Tool     string    `json:"tool"` // "fio-3.33"
	Figures  []Figure  `json:"figures"`
}

// Figure is the result of one pattern.
type Figure struct {
	Pattern Pattern `json:"pattern"`
	Files   int     `json:"files"`
	// Together is the number of volumes measured at the same time. 0 means alone.
	Together int     `json:"together,omitempty"`
	Bytes    float64 `json:"bytes_per_second"`
	Requests float64 `json:"requests_per_second"`
}

// best returns the best result of a pattern over all numbers of files, alone.
func (l Limit) best(p Pattern) Figure {
	var out Figure
	for _, f := range l.Figures {
		if f.Pattern == p && f.Together == 0 {
			out.Bytes, out.Requests = math.Max(out.Bytes, f.Bytes), math.Max(out.Requests, f.Requests)
		}
	}
	return out
}

// Ceiling returns the limit in the form that probes use: the best bytes and the best requests of the sequential and
// random patterns.
func (l Limit) Ceiling() probe.Ceiling {
	most := func(a, b Pattern) (bytes, requests float64) {
		x, y := l.best(a), l.best(b)
		return math.Max(x.Bytes, y.Bytes), math.Max(x.Requests, y.Requests)
	}
	c := probe.Ceiling{Volume: l.Volume, Device: l.Device}
	c.ReadBytes, c.Reads = most(SequentialRead, RandomRead)
	c.WriteBytes, c.Writes = most(SequentialWrite, RandomWrite)
	return c
}

// String returns the limit in one line, for reports.
func (l Limit) String() string {
	rate := func(p Pattern) string { return humanize.Bytes(uint64(l.best(p).Bytes)) + "/s" }
	requests := func(p Pattern) string { return humanize.Comma(int64(l.best(p).Requests)) }
	files := "1 file"
	if l.Files > 1 {
		files = fmt.Sprintf("1 or %d files", l.Files)
	}
	s := fmt.Sprintf("sequential read %s, write %s; random %s read %s, write %s requests/s (the better of %s, %s, %s)",
		rate(SequentialRead), rate(SequentialWrite), humanize.IBytes(uint64(l.Page)), requests(RandomRead), requests(RandomWrite),
		files, l.Tool, l.Measured.Format(time.DateOnly))
	for _, f := range l.Figures {
		if f.Together > 0 {
			s += fmt.Sprintf("; %s with all %d volumes at once %s/s", f.Pattern, f.Together, humanize.Bytes(uint64(f.Bytes)))
		}
	}
	return s
}

var throughputs = regexp.MustCompile(`^sequential read ([0-9.]+ [kMGTPE]?B)/s, write ([0-9.]+ [kMGTPE]?B)/s;`)

// Rates parses the rates of sequential access from the text of String, in bytes per second. 0 means the text has none.
func Rates(limit string) (read, written float64) {
	m := throughputs.FindStringSubmatch(limit)
	if m == nil {
		return 0, 0
	}
	r, errRead := humanize.ParseBytes(m[1])
	w, errWritten := humanize.ParseBytes(m[2])
	if errRead != nil || errWritten != nil {
		return 0, 0
	}
	return float64(r), float64(w)
}

// complete reports whether all patterns were measured.
func (l Limit) complete() bool {
	return !slices.ContainsFunc(patterns, func(p Pattern) bool { return l.best(p).Bytes <= 0 })
}
