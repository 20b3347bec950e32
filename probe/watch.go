package probe

import (
	"context"
	"slices"
	"sync"
	"time"

	"filewise"
)

// The pace of samples: at most one part in a hundred of one core. A look takes the
// server some 0.2 ms of it, which by the clock is more where the work takes all
// processors: most of that is waiting for one. So its cost is that of the quickest
// of the last looks, and it never becomes much rarer than is useful.
const (
	sampleEvery   = 100 * time.Millisecond // in long windows: their looks are many anyway
	sampleFastest = 20 * time.Millisecond
	sampleRarest  = 250 * time.Millisecond // or a tenth of a short window, but sampleEvery
	sampleShare   = 100                    // a look takes at most one part in so many of the time, up to sampleRarest
	sampleLooks   = 50                     // are wanted in a window
	sampleCosts   = 8                      // the last looks whose quickest says what one costs
)

// pace says when to look again.
type pace struct {
	window time.Duration // 0: not known
	last   []time.Duration
}

// next is the pause behind a look that took so long.
func (p *pace) next(took time.Duration) time.Duration {
	if p.last = append(p.last, took); len(p.last) > sampleCosts {
		p.last = p.last[1:]
	}
	rarest := sampleRarest
	if p.window > 0 {
		rarest = min(max(p.window/10, sampleEvery), sampleRarest)
	}
	return min(max(p.first(), sampleShare*slices.Min(p.last)), rarest)
}

// first is the pause before the first look, and the shortest between two.
func (p *pace) first() time.Duration {
	if p.window <= 0 {
		return sampleEvery
	}
	return min(max(p.window/sampleLooks, sampleFastest), sampleEvery)
}

// Watch has the set's samplers look now and then until stop is called or ctx
// ends: the oftener the shorter the window is, as far as looks may cost; 0: its
// length is not known. A sampler whose look fails stops looking; its counters stay
// as they are.
func (s *Set) Watch(ctx context.Context, window time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	for _, p := range s.probes {
		if sampler, ok := p.(filewise.Sampler); ok {
			watching.Go(func() { watch(ctx, sampler, &pace{window: window}) })
		}
	}
	return func() { cancel(); watching.Wait() }
}

func watch(ctx context.Context, s filewise.Sampler, p *pace) {
	pause, last := p.first(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		begin := time.Now()
		if s.Sample(ctx, begin.Sub(last)) != nil {
			return
		}
		last = begin
		pause = p.next(time.Since(begin))
	}
}
