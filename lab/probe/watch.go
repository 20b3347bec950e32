package probe

import (
	"context"
	"slices"
	"sync"
	"time"

	"filewise"
)

// The pace of samples: at most one part in a hundred of one core. A look takes more by the clock if the work takes
// all processors, most of that being the wait for one: so the quickest of the last looks gives its cost. Waking this
// process and the server, and what that does to their caches, takes more than the look itself: bench sampling finds
// three times, on one side and the other.
const (
	sampleEvery   = 100 * time.Millisecond // in long windows: their looks are many anyway
	sampleFastest = 20 * time.Millisecond
	sampleRarest  = time.Second
	sampleShare   = 100 // a look takes at most one part in so many of the time, up to sampleRarest
	sampleWaking  = 4   // times a look's time by the clock is its cost
	sampleLooks   = 50  // are needed in a window
	sampleCosts   = 8   // the last looks whose quickest gives the cost of one
	sampleSure    = 3   // looks after which that is known
)

// pace decides when to look again.
type pace struct {
	window time.Duration // 0 means not known
	last   []time.Duration
}

// next is the pause behind a look that took so long.
func (p *pace) next(took time.Duration) time.Duration {
	if p.last = append(p.last, took); len(p.last) > sampleCosts {
		p.last = p.last[1:]
	}
	rarest := sampleRarest
	if len(p.last) < sampleSure {
		rarest = sampleEvery
	}
	return min(max(p.first(), sampleShare*sampleWaking*slices.Min(p.last)), rarest)
}

// first is the pause before the first look, and the shortest between two.
func (p *pace) first() time.Duration {
	if p.window <= 0 {
		return sampleEvery
	}
	return min(max(p.window/sampleLooks, sampleFastest), sampleEvery)
}

// Watch has the set's samplers look now and then until stop is called or ctx ends: the oftener the shorter the window
// is, as far as looks may cost. 0 means its length is not known. A sampler whose look fails stops looking; its
// counters stay as they are.
func (s *Set) Watch(ctx context.Context, window time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var samplers []filewise.Sampler
	for _, p := range s.probes {
		if sampler, ok := p.(filewise.Sampler); ok {
			samplers = append(samplers, sampler)
		}
	}
	var watching sync.WaitGroup
	watching.Go(func() { watch(ctx, samplers, &pace{window: window}) })
	return func() { cancel(); watching.Wait() }
}

// watch has all look one after the other: waking up is dearer than looking.
func watch(ctx context.Context, samplers []filewise.Sampler, p *pace) {
	pause, last := p.first(), time.Now()
	for len(samplers) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		begin := time.Now()
		samplers = slices.DeleteFunc(samplers, func(s filewise.Sampler) bool { return s.Sample(ctx, begin.Sub(last)) != nil })
		last = begin
		pause = p.next(time.Since(begin))
	}
}
