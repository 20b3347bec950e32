package boundary

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
)

// chunk is the number of experiments that share one random stream. It is part of the definition of the tables: changing
// it changes their last digits.
const chunk = 2000

// world holds many null experiments that advance block by block. It keeps only running sums, so that memory does not
// grow with the number of blocks.
type world struct {
	rules Rules
	k, n  int
	seed  uint64
	state []sums
	arms  []armSums // k per experiment
	two   []float64 // max |t| against arm 0, per experiment
	one   []float64 // max t against arm 0
}

type sums struct{ square float64 } // Σ (y−block mean)² over all cells

// armSums holds sums over blocks: of y−block mean, and of d = y−y₀ and its square.
type armSums struct{ dev, diff, diffSquare float64 }

func newWorld(r Rules, k, sims int, seed uint64) *world {
	return &world{
		rules: r, k: k, seed: seed,
		state: make([]sums, sims),
		arms:  make([]armSums, k*sims),
		two:   make([]float64, sims),
		one:   make([]float64, sims),
	}
}

// nextBlock adds a block to every experiment, in parallel. Each chunk of each block has its own random stream, so the
// result does not depend on the number of cores.
func (w *world) nextBlock() {
	w.n++
	var group sync.WaitGroup
	chunks := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			y := make([]float64, w.k)
			for c := range chunks {
				w.advance(c, y)
			}
		})
	}
	for c := 0; c*chunk < len(w.state); c++ {
		chunks <- c
	}
	close(chunks)
	group.Wait()
}

func (w *world) advance(c int, y []float64) {
	random := rand.New(rand.NewPCG(w.seed, uint64(w.n)<<32|uint64(c)))
	for s := c * chunk; s < min((c+1)*chunk, len(w.state)); s++ {
		for j := range y {
			y[j] = random.NormFloat64()
		}
		w.add(s, y)
		if w.n >= FirstAnalysis {
			w.two[s], w.one[s] = w.statistics(s)
		}
	}
}

func (w *world) add(s int, y []float64) {
	var mean float64
	for _, v := range y {
		mean += v
	}
	mean /= float64(w.k)
	arms := w.arms[s*w.k : (s+1)*w.k]
	for j, v := range y {
		dev, diff := v-mean, v-y[0]
		arms[j].dev += dev
		arms[j].diff += diff
		arms[j].diffSquare += diff * diff
		w.state[s].square += dev * dev
	}
}

// statistics returns the statistics of a complete table. Least-squares estimates are differences of means. The variance
// of a contrast is the pair's own, moderated by the pooled one (step 5 of the fit, without clipping).
func (w *world) statistics(s int) (two, one float64) {
	n, k := float64(w.n), float64(w.k)
	arms := w.arms[s*w.k : (s+1)*w.k]
	sse := w.state[s].square
	for _, a := range arms {
		sse -= a.dev * a.dev / n
	}
	pooled := sse / ((n - 1) * (k - 1))
	prior := w.rules.prior(w.n, w.k)
	one = math.Inf(-1)
	for _, a := range arms[1:] {
		own := a.diffSquare - a.diff*a.diff/n
		variance := (prior*2*pooled + own) / (prior + n - 1) / n
		t := a.diff / n / math.Sqrt(variance)
		two = max(two, math.Abs(t))
		one = max(one, t)
	}
	return two, one
}
