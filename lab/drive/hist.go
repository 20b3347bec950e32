package drive

import (
	"fmt"
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
)

// Range of latencies, in µs. Each tally has a histogram of the usual range. The few longer calls share one histogram,
// so that not every tally needs one of a week. Latencies below a week are never clamped.
const (
	histDigits = 3
	histUsual  = int64(time.Second / time.Microsecond)
	histMax    = int64(7 * 24 * time.Hour / time.Microsecond)
)

// usualHists keeps the tallies' histograms, emptied, from one trial to the next. Allocating them is half the cost of a
// short run.
var usualHists = sync.Pool{New: func() any { return hdr.New(1, histUsual, histDigits) }}

// allHists keeps the histograms that the tallies' histograms are merged into.
var allHists = sync.Pool{New: func() any { return hdr.New(1, histMax, histDigits) }}

// longCalls holds the latencies longer than a second.
type longCalls struct {
	mu   sync.Mutex
	hist *hdr.Histogram
}

func (l *longCalls) record(us int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hist == nil {
		l.hist = hdr.New(1, histMax, histDigits)
	}
	_ = l.hist.RecordValue(min(us, histMax)) // within its range by construction
}

// micros returns a latency in µs. A faster call counts as 1 µs.
func micros(d time.Duration) int64 { return max(int64(d/time.Microsecond), 1) }

// encodeHist merges the latencies of all tallies into one V2 compressed histogram. It returns nil if no call was
// recorded.
func encodeHist(usual []*hdr.Histogram, long *longCalls) ([]byte, error) {
	all := allHists.Get().(*hdr.Histogram)
	defer func() {
		all.Reset()
		allHists.Put(all)
	}()
	dropped := int64(0)
	for _, h := range usual {
		if h == nil {
			continue
		}
		if h.TotalCount() > 0 {
			dropped += all.Merge(h)
			h.Reset()
		}
		usualHists.Put(h)
	}
	if long.hist != nil {
		dropped += all.Merge(long.hist)
	}
	if dropped > 0 {
		return nil, fmt.Errorf("%d latencies are lost: beyond the histogram's range of %v", dropped, histMax)
	}
	if all.TotalCount() == 0 {
		return nil, nil
	}
	b, err := all.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encode the latencies: %w", err)
	}
	return b, nil
}

// forget returns histograms that are no longer read to the pool.
func forget(hists []*hdr.Histogram) {
	for _, h := range hists {
		if h != nil {
			h.Reset()
			usualHists.Put(h)
		}
	}
}

// DecodeHist decodes Measure.Hist: latencies of calls in µs. The histogram takes memory for the latencies that it has, not
// for a week.
func DecodeHist(b []byte) (*hdr.PackedHistogram, error) {
	h, err := hdr.DecodePacked(b)
	if err != nil {
		// Filewise encoded the histogram, so the store that held it is damaged.
		return nil, filewise.Errorf(filewise.CodeStore, "take the store from a backup", "decode the latencies: %w", err)
	}
	return h, nil
}

// MergeHists adds up histograms as in Measure.Hist. It returns nil if all are nil.
func MergeHists(hists ...[]byte) ([]byte, error) {
	sum := hdr.NewPacked(1, histMax, histDigits)
	for _, b := range hists {
		if b == nil {
			continue
		}
		h, err := DecodeHist(b)
		if err != nil {
			return nil, err
		}
		if dropped := sum.Merge(h); dropped > 0 {
			return nil, fmt.Errorf("%d latencies are lost: beyond the histogram's range of %v", dropped, histMax)
		}
	}
	if sum.TotalCount() == 0 {
		return nil, nil
	}
	b, err := sum.Encode()
	if err != nil {
		return nil, fmt.Errorf("encode the latencies: %w", err)
	}
	return b, nil
}
