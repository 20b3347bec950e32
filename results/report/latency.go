package report

import (
	"slices"
	"sync"
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

// calls is the histogram in microseconds of all calls of a layout's trials, decoded when it is first looked at: few
// parts of a report do. Nil means there were none.
type calls func() *hdrhistogram.Histogram

// callsOf merges encoded histograms; one that cannot be read is left out, since it is no part
// of the verdict.
func callsOf(encoded [][]byte) calls {
	return sync.OnceValue(func() (all *hdrhistogram.Histogram) {
		for _, e := range encoded {
			h, err := hdrhistogram.Decode(e)
			switch {
			case len(e) == 0 || err != nil:
			case all == nil:
				all = h
			default:
				all.Merge(h)
			}
		}
		return all
	})
}

// text returns the time that so many percent of the calls stay within. Absent means there were none.
func (c calls) text(percent float64) string {
	all := c()
	if all == nil || all.TotalCount() == 0 {
		return say.Absent
	}
	if percent == 100 {
		return say.Human(time.Duration(all.Max()) * time.Microsecond)
	}
	return say.Human(time.Duration(all.ValueAtQuantile(percent)) * time.Microsecond)
}
