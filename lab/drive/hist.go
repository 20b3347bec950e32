package drive

import (
	"fmt"
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"filewise"
)

// The range of latencies, in µs. Tallies keep the usual range each for
// themselves; the few calls beyond it share one histogram, so that not every
// tally needs one of a week. Nothing below a week is clamped.
const (
	histDigits = 3
	histUsual  = int64(time.Second / time.Microsecond)
	histMax    = int64(7 * 24 * time.Hour / time.Microsecond)
)

// usualHists keeps the tallies' histograms, emptied, from one trial to the next: making them again is half of what a
// short run costs.
var usualHists = sync.Pool{New: func() any { return hdr.New(1, histUsual, histDigits) }}

// allHists keeps those that they are merged into.
var allHists = sync.Pool{New: func() any { return hdr.New(1, histMax, histDigits) }}

// longCalls holds the latencies of more than a second.
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

// micros is a latency in µs; a faster call counts as 1 µs.
func micros(d time.Duration) int64 { return max(int64(d/time.Microsecond), 1) }

// encodeHist merges the latencies of all tallies into one V2 compressed
// histogram; nil when no call was recorded.
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

// forget gives histograms back that have no reader.
func forget(hists []*hdr.Histogram) {
	for _, h := range hists {
		if h != nil {
			h.Reset()
			usualHists.Put(h)
		}
	}
}

// DecodeHist reads Measure.Hist: latencies of calls in µs.
func DecodeHist(b []byte) (*hdr.Histogram, error) {
	h, err := hdr.Decode(b)
	if err != nil {
		// Filewise has encoded them: the store in which they were is damaged.
		return nil, filewise.Errorf(filewise.CodeStore, "take the store from a backup", "decode the latencies: %w", err)
	}
	return h, nil
}

// MergeHists adds up histograms as in Measure.Hist; nil when all of them are.
func MergeHists(hists ...[]byte) ([]byte, error) {
	sum := hdr.New(1, histMax, histDigits)
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
	b, err := sum.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encode the latencies: %w", err)
	}
	return b, nil
}
