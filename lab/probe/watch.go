package probe

import (
	"context"
	"slices"
	"sync"
	"time"

	"filewise"
)

// Pace of samples: at most 1 % of one core. If the work uses all cores, a look takes longer by the clock, mostly
// waiting for a core. So the quickest of the last looks gives its cost. Waking this process and the server, and the
// effect on their caches, costs more than the look itself: bench sampling finds three times as much, on both sides.
const (
	sampleEvery   = 100 * time.Millisecond // in long windows, which have many looks anyway
	sampleFastest = 20 * time.Millisecond
	sampleRarest  = time.Second
	sampleShare   = 100 // a look takes at most 1/sampleShare of the time, up to sampleRarest
	sampleWaking  = 4   // the cost of a look is this many times its duration
	sampleLooks   = 50  // looks needed in a window
	sampleCosts   = 8   // number of last looks, of which the quickest gives the cost
	sampleSure    = 3   // looks after which the cost is known
)

// pace determines the pause between looks.
type pace struct {
	window time.Duration // 0 means not known
	last   []time.Duration
}

// next returns the pause after a look that took that long.
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

// first returns the pause before the first look, which is also the shortest pause.
func (p *pace) first() time.Duration {
	if p.window <= 0 {
		return sampleEvery
	}
	return min(max(p.window/sampleLooks, sampleFastest), sampleEvery)
}

// Watch lets the set's samplers look repeatedly until stop is called or ctx ends. The shorter the window, the more
// often they look, within what looks may cost. A window of 0 means its length is not known. A sampler that fails stops
// looking, and its counters stay unchanged.
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

// watch lets all samplers look one after the other, because waking up costs more than looking.
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
