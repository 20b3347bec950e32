package drive

import "time"

// The time that an adapted call should take: long enough that the call itself
// costs nothing, short enough for slices, cancel and a live view.
const (
	chunkLow    = 50 * time.Millisecond
	chunkTarget = 100 * time.Millisecond
	chunkHigh   = 200 * time.Millisecond
	chunkGrowth = 4 // at most from one call to the next: the first calls are the least typical
	chunkMax    = 1 << 24
)

// nextChunk is the number of operations of the call after one of n operations
// that took so long.
func nextChunk(n int64, took time.Duration, multiple int64) int64 {
	if took >= chunkLow && took <= chunkHigh {
		return n
	}
	next := n * chunkGrowth
	if took > 0 {
		next = min(next, int64(float64(n)*float64(chunkTarget)/float64(took)))
	}
	next = min(next, max(chunkMax, multiple))
	return max(next/multiple, 1) * multiple
}
