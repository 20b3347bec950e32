package tablecsv

import (
	"math"
	"math/rand/v2"

	"filewise/lab/verdict"
)

// Lines of one run (sysbench --report-interval, pgbench -P) are not trials. One second resembles the second before it,
// and a run as a whole may be fast or slow. This shows in the differences between layouts within blocks, which then
// resemble their neighbours. A drifting machine does not cause that, because it affects all layouts equally.

const (
	fewestBlocks  = 6    // fewest blocks in which neighbours are compared
	lags          = 3    // each lag weighs half of the one before
	shuffles      = 4999 // of the blocks, to estimate the probability by chance
	byChance      = 0.01
	shuffleSeed   = 7
	tooFewToShift = 1e-12 // sum of squares on the log scale
)

// resembles returns the correlation of neighbouring differences within blocks. Chance is the share of random orders of
// the blocks whose neighbours are at least as similar. It returns NaN and 1 if there are too few blocks.
func resembles(t verdict.Table) (correlation, chance float64) {
	rest := residuals(t)
	if len(rest) < fewestBlocks {
		return math.NaN(), 1
	}
	// products holds, for each pair of blocks, the sum of the products of residuals over layouts.
	n := len(rest)
	products := make([][]float64, n)
	square := 0.0
	for a := range rest {
		products[a] = make([]float64, n)
		for b := range rest {
			for j, x := range rest[a] {
				products[a][b] += x * rest[b][j]
			}
		}
		square += products[a][a]
	}
	if square < tooFewToShift {
		return math.NaN(), 1
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	measured := autocovariance(products, order, lags)
	random := rand.New(rand.NewPCG(shuffleSeed, uint64(n)))
	as := 1
	for range shuffles {
		random.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		if autocovariance(products, order, lags) >= measured {
			as++
		}
	}
	for i := range order {
		order[i] = i
	}
	return autocovariance(products, order, 1) / square, float64(as) / (shuffles + 1)
}

// autocovariance returns the weighted sum of the products of neighbours.
func autocovariance(products [][]float64, order []int, lags int) (sum float64) {
	weight := 1.0
	for lag := 1; lag <= lags; lag++ {
		for i := lag; i < len(order); i++ {
			sum += weight * products[order[i-lag]][order[i]]
		}
		weight /= 2
	}
	return sum
}

// residuals returns the logarithms of complete blocks, without the means of blocks and of builds of layouts.
func residuals(t verdict.Table) [][]float64 {
	type build struct {
		layout int
		build  string
	}
	var rest [][]float64
	var builds [][]build
	for _, row := range t {
		logs, of, mean := make([]float64, len(row)), make([]build, len(row)), 0.0
		complete := len(row) > 1
		for j, c := range row {
			complete = complete && c.OK
			logs[j], of[j] = math.Log(c.Throughput), build{j, c.Build}
			mean += logs[j] / float64(len(row))
		}
		if !complete {
			continue
		}
		for j := range logs {
			logs[j] -= mean
		}
		rest, builds = append(rest, logs), append(builds, of)
	}
	sum, n := map[build]float64{}, map[build]float64{}
	for b, row := range rest {
		for j, x := range row {
			sum[builds[b][j]] += x
			n[builds[b][j]]++
		}
	}
	for b, row := range rest {
		for j := range row {
			row[j] -= sum[builds[b][j]] / n[builds[b][j]]
		}
	}
	return rest
}
