package report

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// spread is the typical and the largest of some durations.
type spread struct {
	Median, Max time.Duration
	Known       bool
}

func (s spread) String() string {
	if !s.Known {
		return absent
	}
	return human(s.Median) + " (" + human(s.Max) + ")"
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

// latency is of the calls of all trials of a layout.
type latency struct {
	P50, P99, Max time.Duration
	Known         bool
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

// latencyOf reads a histogram of microseconds.
func latencyOf(h *hdrhistogram.Histogram) latency {
	if h == nil || h.TotalCount() == 0 {
		return latency{}
	}
	at := func(q float64) time.Duration { return time.Duration(h.ValueAtQuantile(q)) * time.Microsecond }
	return latency{P50: at(50), P99: at(99), Max: time.Duration(h.Max()) * time.Microsecond, Known: true}
}

// String is the median, the 99th percentile and the longest.
func (l latency) String() string {
	if !l.Known {
		return absent
	}
	return human(l.P50) + ", " + human(l.P99) + ", " + human(l.Max)
}

// Median is the typical latency of a call.
func (l latency) Median() string { return human(l.P50) }

// Most is what 99 % of the calls stay within.
func (l latency) Most() string { return human(l.P99) }

// Longest is the longest call.
func (l latency) Longest() string { return human(l.Max) }
