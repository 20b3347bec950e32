package report

import (
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"filewise/internal/say"
)

// spread holds the typical and the largest of some durations.
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

// calls returns the histogram, in microseconds, of all calls of a layout's trials. It is decoded only on the first use,
// since few parts of a report need it. Nil means there were no calls.
type calls func() *hdrhistogram.Histogram

// callsOf merges encoded histograms. A histogram that cannot be read is left out, since the verdict does not use it.
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

// text returns the time within which this percentage of the calls end, or the sign for absent if there were no calls.
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
