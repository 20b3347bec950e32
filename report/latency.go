package report

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"filewise/internal/say"
)

// spread is the typical and the largest of some durations.
type spread struct {
	Median, Max time.Duration
	Known       bool
}

func (s spread) String() string {
	if !s.Known {
		return say.Absent
	}
	return say.Human(s.Median) + " (" + say.Human(s.Max) + ")"
}

func spreadOf(ds []time.Duration) spread {
	if len(ds) == 0 {
		return spread{}
	}
	xs := make([]float64, len(ds))
	for i, d := range ds {
		xs[i] = float64(d)
	}
	return spread{Median: time.Duration(median(xs)), Max: slices.Max(ds), Known: true}
}

// merge adds an encoded histogram; one that cannot be read is left out, since
// it is no part of the verdict.
func merge(into *hdrhistogram.Histogram, encoded []byte) *hdrhistogram.Histogram {
	if len(encoded) == 0 {
		return into
	}
	h, err := hdrhistogram.Decode(encoded)
	if err != nil {
		return into
	}
	if into == nil {
		return h
	}
	into.Merge(h)
	return into
}

// calls are those of all trials of a layout.
type calls struct{ *hdrhistogram.Histogram } // of microseconds

// text is the time that so many percent of the calls stay within; absent: there were none.
func (c calls) text(percent float64) string {
	if c.Histogram == nil || c.TotalCount() == 0 {
		return say.Absent
	}
	if percent == 100 {
		return say.Human(time.Duration(c.Max()) * time.Microsecond)
	}
	return say.Human(time.Duration(c.ValueAtQuantile(percent)) * time.Microsecond)
}
